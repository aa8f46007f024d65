// The arguments of a call against what the kernel declares and what a device can run on. The faults that the types of a
// program do not show are found here, and messages name the argument by its number and parameter.
#pragma once

#include <tile/Kernel.h>

#include <cstdint>
#include <span>
#include <string>

namespace tile::frontend {

/// "file:line", or "an unknown line".
std::string text(Loc loc);
/// "arg 2 'b'", or "arg 2" if the kernel does not name its parameters. Counts arguments of the call
/// from 1.
std::string argumentName(const detail::KernelRecord &record, int index);
/// Throws what is wrong with an argument of a call, at the line of the call if that is known.
[[noreturn]] void refuseArgument(const detail::KernelRecord &record, const std::string &what,
                                 ErrorCode code = ErrorCode::InvalidArgument, Loc call = {});

/// Whether the kernel writes the tensors of a parameter.
inline bool isWritten(const detail::ParamSpec &spec) {
  return spec.kind == detail::ParamSpec::Out || spec.kind == detail::ParamSpec::InOut;
}
/// Whether a tensor has no elements.
bool isEmpty(const detail::HostArg &tensor);

/// Calls `visit(spec, index)` for each parameter that takes an argument, which is all but Const.
template <class Visit> void forEachArgument(const detail::KernelRecord &record, Visit visit) {
  int index = 0;
  for (const detail::ParamSpec &spec : record.params)
    if (spec.kind != detail::ParamSpec::Const)
      visit(spec, index++);
}

/// "expected ptr<f16>, got ptr<f32>": why an argument of this kind does not fit the parameter; empty if it does.
std::string mismatchOf(const detail::ParamSpec &spec, bool isTensor, DType dtype, int rank);

/// The device of the stream that a call is given to.
struct CallDevice {
  uint64_t id;
  const std::string &name;
};

/// Throws tile::Error unless the kernel can run on each of these tensors, whose number, kinds, dtypes and ranks
/// `detail::checkArguments` has seen: WrongDevice, InvalidShape, InvalidArgument, Unsupported, Aliasing (of an output
/// with itself).
void checkTensors(const detail::KernelRecord &record, std::span<const detail::HostArg> args,
                  const CallDevice &device);
/// The part of `checkTensors` that depends on the address of a tensor with elements of so many bytes: whether it can be that of one
/// on the device. Every launch asks, so that it stands here.
inline bool isAddress(const detail::HostArg &arg, size_t elementBytes, uint64_t device) {
  auto address = reinterpret_cast<uintptr_t>(arg.pointer);
  bool isForeign = arg.device && arg.device != device;
  uintptr_t rest = address & (elementBytes - 1); // sizes are powers of two
  return address && !rest && !isForeign;
}

} // namespace tile::frontend
