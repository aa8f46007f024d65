#include "runtime/host/HeldMemory.h"

#include "runtime/host/State.h"
#include "runtime/trace/Span.h"

#include <algorithm>

namespace tile::detail {

GraphMemory::~GraphMemory() {
  if (owner_->device->isOfParent())
    return;
  owner_->device->drain();
  for (Lane &lane : lanes_) {
    quietly([&] { lane.memory.freeKept(*owner_->device, {}); });
    quietly([&] { lane.counters.free(*owner_->device, {}); });
  }
}

GraphMemory::Lane &GraphMemory::laneAt(uint32_t lane) {
  std::lock_guard lock(mutex_);
  while (lanes_.size() <= lane)
    lanes_.emplace_back();
  return lanes_[lane];
}

// Memory of the device, which may be used by all streams at once: that of a stream would belong to its order.
StreamMemory::Block GraphMemory::take(uint32_t lane, size_t bytes) {
  StreamMemory &memory = laneAt(lane).memory;
  if (auto kept = memory.takeKept(*owner_->device, bytes))
    return *kept;
  StreamMemory::Block block = memory.allocate(*owner_->device, {}, bytes);
  std::lock_guard lock(mutex_);
  bases_.insert(block.base);
  return block;
}

void GraphMemory::giveBack(uint32_t lane, StreamMemory::Block block) {
  laneAt(lane).memory.giveBack(block);
}

// Replays, on any stream, come behind this.
device::DevicePtr GraphMemory::takeCounters(uint32_t lane, size_t bytes) {
  Counters &counters = laneAt(lane).counters;
  device::Device &device = *owner_->device;
  bool isCleared = !counters.hasRoomFor(bytes);
  isCleared |= counters.repair(device, {});
  device::DevicePtr base = counters.take(device, {}, bytes);
  if (isCleared)
    device.synchronize(device::Stream{});
  return base;
}

void GraphMemory::repairCounters() {
  std::lock_guard lock(mutex_);
  for (Lane &lane : lanes_)
    if (lane.counters.repair(*owner_->device, {}))
      owner_->device->synchronize(device::Stream{});
}

bool GraphMemory::owns(device::DevicePtr base) const {
  std::lock_guard lock(mutex_);
  return bases_.contains(base);
}

void Memory::giveBack() const {
  if (graph)
    return graph->giveBack(lane, {base, blockBytes});
  if (stream && !stream->isClosed)
    return stream->memory.giveBack({base, blockBytes});
  {
    trace::Span span("wait", "for the device to free memory");
    owner->device->drain();
  }
  if (!foreign)
    quietly([&] { owner->device->free(base); });
}

void HeldMemory::hold(device::DevicePtr base) {
  std::lock_guard lock(mutex_);
  ++entries_[base].holders;
  count_ = entries_.size();
}

void HeldMemory::enterForeign(device::DevicePtr base, size_t bytes) {
  std::lock_guard lock(mutex_);
  foreign_.emplace(base, bytes);
}

void HeldMemory::leaveForeign(device::DevicePtr base, size_t bytes) {
  std::lock_guard lock(mutex_);
  auto [first, last] = foreign_.equal_range(base);
  foreign_.erase(std::find(first, last, std::pair<const device::DevicePtr, size_t>(base, bytes)));
}

std::optional<device::DevicePtr> HeldMemory::foreignAt(device::DevicePtr pointer) const {
  std::lock_guard lock(mutex_);
  for (auto [base, bytes] : foreign_)
    if (pointer >= base && pointer - base < bytes)
      return base;
  return std::nullopt;
}

bool HeldMemory::keep(Memory &memory) {
  if (count_ == 0)
    return false;
  std::lock_guard lock(mutex_);
  auto found = entries_.find(memory.base);
  if (found == entries_.end())
    return false;
  found->second.kept.push_back(std::move(memory));
  return true;
}

std::vector<Memory> HeldMemory::release(const std::set<device::DevicePtr> &bases) {
  std::vector<Memory> left;
  std::lock_guard lock(mutex_);
  for (device::DevicePtr base : bases) {
    auto found = entries_.find(base);
    if (--found->second.holders > 0)
      continue;
    std::ranges::move(found->second.kept, std::back_inserter(left));
    entries_.erase(found);
  }
  count_ = entries_.size();
  return left;
}

} // namespace tile::detail
