// Ops by name.
#include "capi/Dtype.h"
#include "capi/Handles.h"
#include "capi/Sized.h"

#include <tile/Registry.h>
#include <tile/c/Ops.h>

#include <algorithm>

using namespace tile;
using namespace tile::capi;

namespace {

const OpEntry &opNamed(const char *name) {
  if (const OpEntry *op = findOp(required(name, "name")))
    return *op;
  std::string known;
  for (const std::string &other : opNames())
    known += (known.empty() ? "" : ", ") + other;
  refuse(ErrorCode::InvalidArgument,
         std::string("there is no op '") + name + "'; there are " + known);
}

void describe(const OpEntry &op, tile_op_description *description) {
  writeSized(
      description, "op",
      tile_op_description{sizeof *description, op.name.c_str(), op.summary.c_str(), op.inputs});
}

OpSettings settingsOf(const tile_setting *settings, size_t count) {
  required(settings, count, "settings");
  std::map<std::string, std::string> values;
  for (size_t i = 0; i < count; ++i) {
    std::string name = required(settings[i].name, "settings[].name");
    if (!values.emplace(name, required(settings[i].value, "settings[].value")).second)
      refuse(ErrorCode::InvalidArgument, "setting '" + name + "' is given twice");
  }
  return OpSettings(std::move(values));
}

std::vector<Tensor> inputsOf(const OpEntry &op, tile_tensor *const *inputs, size_t count) {
  if (count != static_cast<size_t>(op.inputs))
    refuse(ErrorCode::InvalidArgument, op.name + ": the op reads " + std::to_string(op.inputs) +
                                           " tensors, got " + std::to_string(count));
  required(inputs, count, "inputs");
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < count; ++i)
    tensors.push_back(*at(inputs[i], ("inputs[" + std::to_string(i) + "]").c_str()));
  return tensors;
}

/// Ops name lines of their own; what the caller did wrong is told at the caller's.
template <class Act> auto atCaller(const OpEntry &op, Act act) {
  try {
    return act();
  } catch (const Error &error) {
    if (error.fault() != Fault::User)
      throw;
    bool isNamed = error.message().starts_with(op.name + ":");
    throw Error(error.fault(), error.code(), (isNamed ? "" : op.name + ": ") + error.message(),
                here(), error.notes());
  }
}

void refuseUnused(const OpEntry &op, const OpSettings &settings) {
  std::vector<std::string> unused = settings.unused();
  if (unused.empty())
    return;
  std::string known;
  for (auto &[name, value] : settings.used())
    known += (known.empty() ? "" : ", ") + name + "=" + value;
  refuse(ErrorCode::InvalidArgument,
         op.name + ": nothing is called '" + unused[0] + "'; " +
             (known.empty() ? "the op has no settings" : "settings are " + known));
}

} // namespace

tile_status tile_op_count(size_t *count) {
  return guarded([&] { *required(count, "count") = opNames().size(); });
}

tile_status tile_op_at(size_t index, tile_op_description *op) {
  return guarded([&] {
    std::vector<std::string> names = opNames();
    if (index >= names.size())
      refuse(ErrorCode::InvalidArgument, "index " + std::to_string(index) + ": there are " +
                                             std::to_string(names.size()) + " ops, from 0 on");
    describe(opNamed(names[index].c_str()), op);
  });
}

tile_status tile_op_find(const char *name, tile_op_description *op) {
  return guarded([&] { describe(opNamed(name), op); });
}

tile_status tile_op_output(const char *name, tile_tensor *const *inputs, size_t input_count,
                           const tile_setting *settings, size_t setting_count, tile_dtype *dtype,
                           int32_t *rank, int64_t *shape) {
  return guarded([&] {
    const OpEntry &op = opNamed(name);
    OpSettings given = settingsOf(settings, setting_count);
    std::vector<Tensor> tensors = inputsOf(op, inputs, input_count);
    required(dtype, "dtype");
    required(rank, "rank");
    required(shape, "shape");
    TensorSpec spec = atCaller(op, [&] { return op.output(tensors, given); });
    *dtype = numberOf(spec.dtype);
    *rank = static_cast<int32_t>(spec.extents.size());
    std::ranges::copy(spec.extents, shape);
  });
}

tile_status tile_op_run(const char *name, tile_stream *stream, tile_tensor *const *inputs,
                        size_t input_count, tile_tensor *output, const tile_setting *settings,
                        size_t setting_count) {
  return guarded([&] {
    const OpEntry &op = opNamed(name);
    OpSettings given = settingsOf(settings, setting_count);
    auto place = at(stream, "stream");
    given.setTarget(place->device().target());
    std::vector<Tensor> tensors = inputsOf(op, inputs, input_count);
    auto result = at(output, "output");
    atCaller(op, [&] { op.run(*place, tensors, *result, given); });
    refuseUnused(op, given);
  });
}
