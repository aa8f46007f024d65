// Which problems share a result: the bucket a call falls into, as text.
//
//   f16[4096x4096]:1+16 f16[4096x12288]:1+16 f16[4096x12288]:1+16 precision=1
//
// Of each view the dtype, the extents rounded up to a quarter of an octave, the dimension of unit stride, and +16 where all else
// are multiples of 16 bytes, so that rows can be copied in such pieces; of each number the dtype; constants that are not tuned.
#pragma once

#include "runtime/tune/Space.h"

#include <tile/Device.h>

#include <span>
#include <string>

namespace tile::tune {

/// A call of a tuned kernel; `constants` are all of the kernel's, where those that are tuned mean nothing.
struct TunedCall {
  const detail::KernelRecord &record;
  const Device &device;
  std::span<const HostArg> args;
  std::span<const int64_t> constants;

  Problem problem() const {
    return {record, args, constants, device.target(), device.multiprocessors()};
  }
};

/// The next of 0, 1, 2, ... 8, 10, 12, 14, 16, 20, 24, 28, 32, ... : at most a quarter more.
int64_t bucketOf(int64_t extent);

/// The bucket of a call.
std::string problemKey(const detail::KernelRecord &record, std::span<const HostArg> args,
                       std::span<const int64_t> constants);

/// What a kernel is known by from one process to the next: a digest of its code, as it is traced with the values that
/// its settings have otherwise. Of a kernel that cannot be traced so the digest is empty.
std::string versionOf(const detail::KernelRecord &record, std::span<const HostArg> args,
                      std::span<const int64_t> constants);

/// What a device is known by: its product, target and multiprocessors.
std::string deviceKey(const Device &device);

} // namespace tile::tune
