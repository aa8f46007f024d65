// Counters on the device that each launch of a stream finds 0 and leaves so: nobody clears them in between, which would take
// longer than what they count.
#pragma once

#include "base/ForkLocks.h"
#include "runtime/device/Device.h"

#include <vector>

namespace tile::detail {

class Counters {
public:
  /// Where so many bytes are 0 when the launch begins that is given to the stream next. What was given before stays where it is.
  /// Throws OutOfMemory.
  device::DevicePtr take(device::Device &device, device::Stream stream, size_t bytes);
  /// Whether that takes no allocation.
  bool hasRoomFor(size_t bytes) const;
  /// Makes them 0 again if a launch has failed since, which may have left them anyhow; false if none has.
  bool repair(device::Device &device, device::Stream stream);
  /// Ends them, in the order of the stream.
  void free(device::Device &device, device::Stream stream);

private:
  struct Block {
    device::DevicePtr base;
    size_t bytes;
  };
  bool repairBlocks(device::Device &device, device::Stream stream);

  mutable base::ForkMutex mutex_;
  std::vector<Block> blocks_; // each twice as large as the one before; the last is the one in use
  uint64_t faults_ = 0;       // of the device, when they were known to be 0
};

} // namespace tile::detail
