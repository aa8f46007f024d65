#include "capi/compiler/OpCaller.h"

#include "capi/Guard.h"

#include <tile/OpSignature.h>

namespace tile::capi {
namespace {

using Argument = device::Caller::Argument;

/// The name of one of a list, in which the last stands for all that follow.
std::string nameIn(const std::vector<std::string> &names, size_t index, const char *kind) {
  if (index < names.size())
    return names[index];
  return (names.empty() ? kind : names.back()) + "[" + std::to_string(index) + "]";
}

Argument argumentOf(const Tensor &tensor, std::string name, bool isInput) {
  return {std::move(name),
          isInput,
          reinterpret_cast<uint64_t>(tensor.data()),
          sizeOf(tensor.dtype()),
          {tensor.extents().begin(), tensor.extents().end()},
          {tensor.strides().begin(), tensor.strides().end()}};
}

} // namespace

std::shared_ptr<const device::Caller> callerOf(const OpEntry &op, const Device &device,
                                               std::span<const Tensor> inputs,
                                               std::span<const Tensor> outputs) {
  if (!device.isVirtual() || !here().line)
    return nullptr;
  static const OpSignature none;
  const OpSignature *known = findSignature(op.name);
  const OpSignature &names = known ? *known : none;
  auto caller = std::make_shared<device::Caller>(device::Caller{op.name, here(), {}});
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]) // else it is left out
      caller->arguments.push_back(argumentOf(inputs[i], nameIn(names.inputs, i, "inputs"), true));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i])
      caller->arguments.push_back(
          argumentOf(outputs[i], nameIn(names.outputs, i, "outputs"), false));
  return caller;
}

} // namespace tile::capi
