// The memory that a stream keeps for its tensors: blocks that are free again serve the next tensor of
// their size without a call of the device, since the stream's work is in order.
#pragma once

#include "runtime/device/Device.h"

#include <tile/Tensor.h>

#include <map>
#include <mutex>
#include <vector>

namespace tile::detail {

class StreamMemory {
public:
  /// A block of at least `bytes`, and its size. Throws OutOfMemory after everything kept was given back in vain.
  struct Block {
    device::DevicePtr base = 0;
    size_t bytes = 0;
  };
  Block take(device::Device &device, device::Stream stream, size_t bytes);
  /// Keeps the block for the work that follows.
  void giveBack(Block block);
  /// Frees what is kept, after the stream's work.
  void trim(device::Device &device, device::Stream stream);
  /// Frees what is kept in the order of the stream, without waiting.
  void freeKept(device::Device &device, device::Stream stream);
  StreamUsage usage() const;

private:
  void freeAll(device::Device &device, device::Stream stream);

  mutable std::mutex mutex_;
  std::map<size_t, std::vector<device::DevicePtr>>
      kept_; // by size; emptied lists stay, so that a step in a loop
             // allocates no host memory either
  StreamUsage usage_;
};

} // namespace tile::detail
