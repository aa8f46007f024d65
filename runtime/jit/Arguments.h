// The faults of one argument of a call that only show at run time: null or foreign memory,
// impossible shapes, outputs that overlap themselves.
#pragma once

#include "runtime/jit/Footprints.h"

#include <tile/Kernel.h>

#include <cstdint>
#include <span>
#include <string>

namespace tile::jit {

/// The device of the stream that a call is given to.
struct CallDevice {
  uint64_t id;
  const std::string &name;
};

/// Throws tile::Error unless the kernel can run on each of these arguments:
/// WrongDevice, InvalidShape, InvalidArgument, Unsupported, Aliasing (of an output with itself).
void validate(const detail::KernelRecord &record, const CallDevice &device,
              std::span<const detail::HostArg> args);
/// The same of arguments of which all but the addresses has been validated.
void validateAddresses(const detail::KernelRecord &record, const CallDevice &device,
                       std::span<const detail::HostArg> args,
                       std::span<const Footprint> footprints);

} // namespace tile::jit
