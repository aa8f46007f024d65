#include "runtime/host/StreamMemory.h"

#include <bit>

namespace tile::detail {
namespace {

/// Sizes come in eight steps a power of two, so that tensors of nearly one size share blocks. A device that checks
/// bounds gets what was asked for, or an access one byte beyond would go unseen.
size_t blockSize(const device::Device &device, size_t bytes) {
  constexpr size_t kSmallest = 512;
  if (device.props().checksBounds)
    return bytes;
  if (bytes <= kSmallest)
    return kSmallest;
  size_t step = std::max(kSmallest, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

} // namespace

std::optional<StreamMemory::Block> StreamMemory::takeKeptBlock(size_t size) {
  auto kept = kept_.find(size);
  if (kept == kept_.end() || kept->second.empty())
    return std::nullopt;
  device::DevicePtr base = kept->second.back();
  kept->second.pop_back();
  usage_.keptBytes -= size, usage_.usedBytes += size;
  return Block{base, size, true};
}

StreamMemory::Block StreamMemory::allocateBlock(device::Device &device, device::Stream stream,
                                                size_t size) {
  Block block{device.alloc(size, stream), size};
  ++usage_.allocations, usage_.usedBytes += size;
  return block;
}

bool StreamMemory::hasKept(const device::Device &device, size_t bytes) const {
  std::lock_guard lock(mutex_);
  auto kept = kept_.find(blockSize(device, bytes));
  return kept != kept_.end() && !kept->second.empty();
}

std::optional<StreamMemory::Block> StreamMemory::takeKept(const device::Device &device,
                                                          size_t bytes) {
  std::lock_guard lock(mutex_);
  return takeKeptBlock(blockSize(device, bytes));
}

StreamMemory::Block StreamMemory::allocate(device::Device &device, device::Stream stream,
                                           size_t bytes) {
  std::lock_guard lock(mutex_);
  return allocateBlock(device, stream, blockSize(device, bytes));
}

StreamMemory::Block StreamMemory::take(device::Device &device, device::Stream stream,
                                       size_t bytes) {
  std::lock_guard lock(mutex_);
  size_t size = blockSize(device, bytes);
  if (auto kept = takeKeptBlock(size))
    return *kept;
  try {
    return allocateBlock(device, stream, size);
  } catch (const Error &error) {
    if (error.code() != ErrorCode::OutOfMemory || usage_.keptBytes == 0)
      throw;
  }
  device.synchronize(stream);
  freeAll(device, stream);
  return allocateBlock(device, stream, size);
}

void StreamMemory::giveBack(Block block) {
  std::lock_guard lock(mutex_);
  usage_.usedBytes -= block.bytes, usage_.keptBytes += block.bytes;
  kept_[block.bytes].push_back(block.base);
}

void StreamMemory::trim(device::Device &device, device::Stream stream) {
  std::lock_guard lock(mutex_);
  device.synchronize(stream);
  freeAll(device, stream);
}

bool StreamMemory::tryTrim(device::Device &device, device::Stream stream) {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || usage_.keptBytes == 0)
    return false;
  device.synchronize(stream);
  freeAll(device, stream);
  return true;
}

void StreamMemory::freeKept(device::Device &device, device::Stream stream) {
  std::lock_guard lock(mutex_);
  freeAll(device, stream);
}

void StreamMemory::freeAll(device::Device &device, device::Stream stream) {
  for (auto &[size, blocks] : kept_)
    for (device::DevicePtr base : blocks)
      device.free(base, stream);
  kept_.clear();
  usage_.keptBytes = 0;
}

StreamUsage StreamMemory::usage() const {
  std::lock_guard lock(mutex_);
  return usage_;
}

} // namespace tile::detail
