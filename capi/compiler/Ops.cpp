// Ops by name.
#include "capi/Dtype.h"
#include "capi/Handles.h"
#include "capi/Sized.h"
#include "capi/compiler/OpCaller.h"

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
  uint64_t changed = 0;
  for (int input : op.changed)
    changed |= uint64_t{1} << input;
  writeSized(description, "op",
             tile_op_description{sizeof *description, op.name.c_str(), op.summary.c_str(),
                                 op.inputs, op.optionalInputs, changed});
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

std::vector<Tensor> tensorsOf(tile_tensor *const *tensors, size_t count, const std::string &name) {
  required(tensors, count, name.c_str());
  std::vector<Tensor> result;
  for (size_t i = 0; i < count; ++i)
    result.push_back(*at(tensors[i], (name + "[" + std::to_string(i) + "]").c_str()));
  return result;
}

/// An optional input that is NULL is left out, whatever follows it.
std::vector<Tensor> inputsOf(const OpEntry &op, tile_tensor *const *inputs, size_t count) {
  required(inputs, count, "inputs");
  auto fewest = static_cast<size_t>(op.inputs);
  while (count > fewest && !inputs[count - 1])
    --count;
  std::vector<Tensor> result = tensorsOf(inputs, std::min(count, fewest), "inputs");
  for (size_t i = fewest; i < count; ++i)
    result.push_back(inputs[i] ? *at(inputs[i], ("inputs[" + std::to_string(i) + "]").c_str())
                               : Tensor());
  return result;
}

/// Ops name lines of their own; what the caller did wrong is told at the caller's.
template <class Act> auto atCaller(Act act) {
  try {
    return act();
  } catch (const Error &error) {
    if (error.fault() != Fault::User)
      throw;
    throw Error(error.fault(), error.code(), error.message(), here(), error.notes());
  }
}

/// What a call asks for.
struct OpCall {
  const OpEntry &op;
  OpSettings settings;
  std::vector<Tensor> inputs;

  std::vector<TensorSpec> outputs() const {
    return atCaller([&] { return op.outputs(inputs, settings); });
  }
};

OpCall callOf(const char *name, tile_tensor *const *inputs, size_t inputCount,
              const tile_setting *settings, size_t settingCount) {
  const OpEntry &op = opNamed(name);
  return {op, settingsOf(settings, settingCount), inputsOf(op, inputs, inputCount)};
}

void launchInto(OpCall &call, tile_stream *stream, const std::vector<Tensor> &outputs) {
  auto place = at(stream, "stream");
  call.settings.setTarget(place->device().target());
  device::CallerScope scope(callerOf(call.op, place->device(), call.inputs, outputs));
  atCaller([&] { call.op.run(*place, call.inputs, outputs, call.settings); });
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

tile_status tile_op_output_count(const char *name, tile_tensor *const *inputs, size_t input_count,
                                 const tile_setting *settings, size_t setting_count,
                                 size_t *count) {
  return guarded([&] {
    OpCall call = callOf(name, inputs, input_count, settings, setting_count);
    *required(count, "count") = call.outputs().size();
  });
}

tile_status tile_op_output_at(const char *name, tile_tensor *const *inputs, size_t input_count,
                              const tile_setting *settings, size_t setting_count, size_t index,
                              tile_dtype *dtype, int32_t *rank, int64_t *shape) {
  return guarded([&] {
    OpCall call = callOf(name, inputs, input_count, settings, setting_count);
    required(dtype, "dtype");
    required(rank, "rank");
    required(shape, "shape");
    std::vector<TensorSpec> specs = call.outputs();
    if (index >= specs.size())
      refuse(ErrorCode::InvalidArgument,
             call.op.name + ": output " + std::to_string(index) + " is none of the op's " +
                 std::to_string(specs.size()) + ", which are numbered from 0");
    *dtype = numberOf(specs[index].dtype);
    *rank = static_cast<int32_t>(specs[index].extents.size());
    std::ranges::copy(specs[index].extents, shape);
  });
}

tile_status tile_op_launch(const char *name, tile_stream *stream, tile_tensor *const *inputs,
                           size_t input_count, tile_tensor *const *outputs, size_t output_count,
                           const tile_setting *settings, size_t setting_count) {
  return guarded([&] {
    OpCall call = callOf(name, inputs, input_count, settings, setting_count);
    launchInto(call, stream, tensorsOf(outputs, output_count, "outputs"));
  });
}

tile_status tile_op_output(const char *name, tile_tensor *const *inputs, size_t input_count,
                           const tile_setting *settings, size_t setting_count, tile_dtype *dtype,
                           int32_t *rank, int64_t *shape) {
  return tile_op_output_at(name, inputs, input_count, settings, setting_count, 0, dtype, rank,
                           shape);
}

tile_status tile_op_run(const char *name, tile_stream *stream, tile_tensor *const *inputs,
                        size_t input_count, tile_tensor *output, const tile_setting *settings,
                        size_t setting_count) {
  return guarded([&] {
    OpCall call = callOf(name, inputs, input_count, settings, setting_count);
    launchInto(call, stream, {*at(output, "output")});
  });
}
