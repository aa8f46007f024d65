#include "runtime/jit/CheckedCall.h"

#include "runtime/jit/OpMessage.h"

#include <algorithm>

namespace tile::jit {
namespace {

using Tensors = std::span<const Tensor>;
using Specs = std::vector<TensorSpec>;

[[noreturn]] void refuse(ErrorCode code, const std::string &message) {
  throw Error(Fault::User, code, message);
}

std::string shapeText(const std::vector<int64_t> &extents) {
  std::string text;
  for (int64_t extent : extents)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

void checkInputs(const OpEntry &op, Tensors inputs) {
  auto fewest = static_cast<size_t>(op.inputs);
  size_t most = fewest + static_cast<size_t>(op.optionalInputs);
  if (inputs.size() < fewest || inputs.size() > most)
    refuse(ErrorCode::InvalidArgument, "the op reads " + std::to_string(fewest) +
                                           (most > fewest ? " to " + std::to_string(most) : "") +
                                           " tensors, got " + std::to_string(inputs.size()));
  for (size_t i = 0; i < fewest; ++i)
    if (!inputs[i])
      refuse(ErrorCode::InvalidHandle,
             "inputs[" + std::to_string(i) + "] is no tensor; only optional ones may be left out");
}

/// What the op says of its outputs, which are tensors that can be.
Specs outputsOf(const OpEntry &op, Tensors inputs, const OpSettings &settings) {
  Specs specs = op.outputs(inputs, settings);
  for (size_t i = 0; i < specs.size(); ++i) {
    const std::vector<int64_t> &extents = specs[i].extents;
    std::string name = specs.size() > 1 ? "output " + std::to_string(i) : "the output";
    if (extents.size() > kMaxRank)
      refuse(ErrorCode::InvalidShape, name + " has " + std::to_string(extents.size()) +
                                          " extents; a tensor has 0 to " +
                                          std::to_string(kMaxRank));
    if (std::ranges::any_of(extents, [](int64_t extent) { return extent < 0; }))
      refuse(ErrorCode::InvalidShape,
             name + " would be " + shapeText(extents) + "; extents are 0 or more");
  }
  return specs;
}

/// What `act` refuses, under the op's name.
template <class Act> auto named(const OpEntry &op, Act act) {
  try {
    return act();
  } catch (const Error &error) {
    if (error.fault() != Fault::User)
      throw;
    throw Error(error.fault(), error.code(),
                opMessage(op.name, inSettings(error.message(), op.settings)),
                Loc{error.file().c_str(), error.line()}, error.notes());
  }
}

/// The settings of a call, all of them, and what its outputs must be.
struct Checked {
  OpSettings settings;
  Specs outputs;
};
Checked check(const OpEntry &op, Tensors inputs, const OpSettings &given) {
  return named(op, [&] {
    checkInputs(op, inputs);
    Checked call = {given.forCall(op.settings), {}};
    call.outputs = outputsOf(op, inputs, call.settings);
    return call;
  });
}

void checkOutputs(const OpEntry &op, Tensors outputs, size_t expected) {
  named(op, [&] {
    if (outputs.size() != expected)
      refuse(ErrorCode::InvalidArgument, "the op has " + std::to_string(expected) +
                                             (expected == 1 ? " output" : " outputs") + ", got " +
                                             std::to_string(outputs.size()));
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!outputs[i])
        refuse(ErrorCode::InvalidHandle, "outputs[" + std::to_string(i) + "] is no tensor");
  });
}

} // namespace

OpEntry checked(OpEntry op) {
  OpEntry result = op;
  if (!op.outputs)
    return result;
  result.outputs = [op](Tensors inputs, const OpSettings &settings) {
    return check(op, inputs, settings).outputs;
  };
  if (op.run)
    result.run = [op](const Stream &stream, Tensors inputs, Tensors outputs,
                      const OpSettings &settings) {
      Checked call = check(op, inputs, settings);
      checkOutputs(op, outputs, call.outputs.size());
      named(op, [&] { op.run(stream, inputs, outputs, call.settings); });
    };
  return result;
}

} // namespace tile::jit
