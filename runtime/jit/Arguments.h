// The faults of a call that only show at run time: null or foreign memory, impossible shapes,
// outputs that overlap.
#pragma once

#include <tile/Kernel.h>

#include <span>
#include <string>

namespace tile::detail {
struct DeviceState;
} // namespace tile::detail

namespace tile::jit {

/// "arg 2 'b'", or "arg 2" if the kernel does not name its parameters. Counts arguments of the call
/// from 1.
std::string argumentName(const detail::KernelRecord &record, int index);

/// Throws tile::Error at the kernel's line unless the kernel can run on these arguments:
/// WrongDevice, InvalidShape, InvalidArgument, Unsupported, Aliasing. Two tensors overlap if the
/// first element of one is an element of the other, which is cheap to see and never a false alarm.
/// One and the same view as input and output is allowed: such a call works in place, in kernels
/// whose programs read only what they write.
void validate(const detail::KernelRecord &record, const detail::DeviceState &device,
              std::span<const detail::HostArg> args);

} // namespace tile::jit
