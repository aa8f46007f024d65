#include "tools/tilec/run/RunOp.h"

#include "tools/tilec/input/Refuse.h"
#include "tools/tilec/run/RunArguments.h"

#include <algorithm>

namespace tile::tilec {
namespace {

/// What the op says; it has no line, as nobody wrote the call.
template <class Act> auto withoutLine(Act act) {
  try {
    return act();
  } catch (const Error &error) {
    if (error.fault() != Fault::User)
      throw;
    throw Error(error.fault(), error.code(), error.message());
  }
}

std::string countText(size_t fewest, size_t most, const char *what) {
  return std::to_string(fewest) + (most > fewest ? " to " + std::to_string(most) : "") + " " +
         what + (most == 1 ? " file" : " files");
}

/// The tensors of a call: `saved` are those whose files are written.
struct OpTensors {
  std::vector<Tensor> inputs, outputs, saved;
};

std::vector<Tensor> changedOf(const OpEntry &op, const std::vector<Tensor> &inputs) {
  std::vector<Tensor> changed;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (std::ranges::count(op.changed, static_cast<int>(i)))
      changed.push_back(inputs[i]);
  return changed;
}

/// How many files are inputs follows from how many outputs that many inputs have; each input more has none or one.
OpTensors tensorsOf(const Device &device, const OpEntry &op, const std::vector<std::string> &files,
                    const OpSettings &settings) {
  auto fewest = static_cast<size_t>(op.inputs),
       most = fewest + static_cast<size_t>(op.optionalInputs);
  OpTensors tensors;
  size_t outputs = 0;
  for (size_t count = 0; count <= std::min(most, files.size()); ++count) {
    if (count > 0)
      tensors.inputs.push_back(loadTensor(device, files[count - 1]));
    if (count < fewest)
      continue;
    std::vector<TensorSpec> specs =
        withoutLine([&] { return op.outputs(tensors.inputs, settings); });
    tensors.saved = changedOf(op, tensors.inputs);
    outputs = specs.size() + tensors.saved.size();
    if (count + outputs > files.size())
      break;
    if (count + outputs < files.size())
      continue;
    for (const TensorSpec &spec : specs)
      tensors.outputs.emplace_back(device, spec.dtype, spec.extents);
    tensors.saved.insert(tensors.saved.begin(), tensors.outputs.begin(), tensors.outputs.end());
    return tensors;
  }
  refuse("op:" + op.name + " takes " + countText(fewest, most, "input") + " and " +
         (outputs ? countText(outputs, outputs, "output") : "one for each output") + ", got " +
         std::to_string(files.size()) + (files.size() == 1 ? " file" : " files"));
}

} // namespace

int runOp(const SessionOptions &options, const OpEntry &op, const std::vector<std::string> &files,
          const OpSettings &settings) {
  Session session(options);
  OpTensors tensors = tensorsOf(session.device(), op, files, settings);
  std::vector<std::string> written(files.end() - static_cast<std::ptrdiff_t>(tensors.saved.size()),
                                   files.end());
  for (const std::string &file : written)
    session.claimFile(file);
  Stream stream = session.device().stream();
  withoutLine([&] { op.run(stream, tensors.inputs, tensors.outputs, settings); });
  stream.synchronize();
  int code = session.finish({"op:" + op.name, "op:" + op.name});
  for (size_t i = 0; i < written.size(); ++i)
    saveTensor(tensors.saved[i], written[i]);
  return code;
}

} // namespace tile::tilec
