#include "runtime/host/Counters.h"

#include <algorithm>

namespace tile::detail {

device::DevicePtr Counters::take(device::Device &device, device::Stream stream, size_t bytes) {
  constexpr size_t kFewest = 4096;
  std::lock_guard lock(mutex_);
  repairBlocks(device, stream);
  if (!blocks_.empty() && blocks_.back().bytes >= bytes)
    return blocks_.back().base;
  size_t size = std::max({bytes, kFewest, blocks_.empty() ? 0 : 2 * blocks_.back().bytes});
  blocks_.push_back({device.alloc(size, stream), size});
  device.fill(blocks_.back().base, 0, size, stream);
  return blocks_.back().base;
}

bool Counters::hasRoomFor(size_t bytes) const {
  std::lock_guard lock(mutex_);
  return !blocks_.empty() && blocks_.back().bytes >= bytes;
}

bool Counters::repair(device::Device &device, device::Stream stream) {
  std::lock_guard lock(mutex_);
  return repairBlocks(device, stream);
}

bool Counters::repairBlocks(device::Device &device, device::Stream stream) {
  uint64_t faults = device.faults();
  if (faults == faults_)
    return false;
  for (const Block &block : blocks_)
    device.fill(block.base, 0, block.bytes, stream);
  faults_ = faults;
  return !blocks_.empty();
}

void Counters::free(device::Device &device, device::Stream stream) {
  std::lock_guard lock(mutex_);
  for (const Block &block : blocks_)
    device.free(block.base, stream);
  blocks_.clear();
}

} // namespace tile::detail
