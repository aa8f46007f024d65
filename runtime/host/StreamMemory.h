// The memory that a stream keeps for its tensors: blocks that are free again serve the next tensor of
// their size without a call of the device, since the stream's work is in order.
#pragma once

#include "base/ForkLocks.h"
#include "runtime/device/Device.h"

#include <tile/Tensor.h>

#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace tile::detail {

class StreamMemory {
public:
  struct Block {
    device::DevicePtr base = 0;
    size_t bytes = 0;
    /// Another tensor had it: what it holds is of no use, which the caller tells the device.
    bool isTakenAgain = false;
  };
  /// A block of at least `bytes`. Throws OutOfMemory after everything kept was given back in vain.
  Block take(device::Device &device, device::Stream stream, size_t bytes);
  /// Whether one is kept, so that take() allocates nothing.
  bool hasKept(const device::Device &device, size_t bytes) const;
  /// One that is kept, or nothing.
  std::optional<Block> takeKept(const device::Device &device, size_t bytes);
  /// A new one, for the stream.
  Block allocate(device::Device &device, device::Stream stream, size_t bytes);
  /// Keeps the block for the work that follows.
  void giveBack(Block block);
  /// Frees what is kept, after the stream's work.
  void trim(device::Device &device, device::Stream stream);
  /// The same, unless another thread is at work with it; false if nothing was freed.
  bool tryTrim(device::Device &device, device::Stream stream);
  /// Frees what is kept in the order of the stream, without waiting.
  void freeKept(device::Device &device, device::Stream stream);
  StreamUsage usage() const;

private:
  std::optional<Block> takeKeptBlock(size_t size);
  Block allocateBlock(device::Device &device, device::Stream stream, size_t size);
  void freeAll(device::Device &device, device::Stream stream);

  mutable base::ForkMutex mutex_;
  std::map<size_t, std::vector<device::DevicePtr>>
      kept_; // by size; emptied lists stay, so that a step in a loop
             // allocates no host memory either
  StreamUsage usage_;
};

} // namespace tile::detail
