// The memory of tensors, where it goes back to, and how graphs keep it when its tensors are gone.
#pragma once

#include "base/ForkLocks.h"
#include "runtime/host/Counters.h"
#include "runtime/host/StreamMemory.h"

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace tile::detail {

struct DeviceState;

/// The memory that a graph has for tensors made in its capture, apart from that of streams: nobody else may write it between
/// replays. Each stream of the capture takes again what its own tensors left.
class GraphMemory {
public:
  explicit GraphMemory(std::shared_ptr<DeviceState> owner) : owner_(std::move(owner)) {}
  /// Everything has been given back.
  ~GraphMemory();
  GraphMemory(const GraphMemory &) = delete;
  GraphMemory &operator=(const GraphMemory &) = delete;

  StreamMemory::Block take(uint32_t lane, size_t bytes);
  void giveBack(uint32_t lane, StreamMemory::Block block);
  /// Counters of the lane's launches, 0 before each replay.
  device::DevicePtr takeCounters(uint32_t lane, size_t bytes);
  /// Before a replay: 0 again, if a launch has failed since.
  void repairCounters();
  /// Whether an allocation of the device is part of it.
  bool owns(device::DevicePtr base) const;

private:
  struct Lane {
    StreamMemory memory;
    Counters counters;
  };
  Lane &laneAt(uint32_t lane);

  std::shared_ptr<DeviceState> owner_;
  mutable base::ForkMutex mutex_;
  std::deque<Lane> lanes_;
  std::set<device::DevicePtr> bases_;
};

/// Memory of one tensor.
struct Memory {
  /// To the graph, stream or device that it is of, or, when this ends, to others. Memory of the device is freed after all its work: any stream may still use it.
  void giveBack() const;

  std::shared_ptr<DeviceState> owner;
  std::shared_ptr<StreamState> stream; ///< null for memory of the device itself
  std::shared_ptr<GraphMemory> graph;  ///< of a tensor made in a capture
  std::shared_ptr<void> foreign;       ///< of memory of others, who get it back by its end
  uint32_t lane = 0;                   ///< of the graph
  device::DevicePtr base = 0;
  size_t blockBytes = 0; ///< of memory of a stream or a graph
};

/// The memory that graphs of a device refer to, by its first address.
class HeldMemory {
public:
  void hold(device::DevicePtr base);
  /// Memory of others that tensors refer to: the device does not know of it.
  void enterForeign(device::DevicePtr base, size_t bytes);
  void leaveForeign(device::DevicePtr base, size_t bytes);
  /// Where the memory of others begins that holds `pointer`, or nothing.
  std::optional<device::DevicePtr> foreignAt(device::DevicePtr pointer) const;
  /// Takes over the memory of a tensor that is gone if a graph holds it.
  bool keep(Memory &memory);
  /// What no other graph holds and whose tensors are gone, for the caller to give back.
  std::vector<Memory> release(const std::set<device::DevicePtr> &bases);

private:
  struct Entry {
    size_t holders = 0;
    std::vector<Memory> kept; // several, if others gave the same memory several times
  };
  std::atomic<size_t> count_ =
      0; // of entries: nearly always 0, and then there is nothing to look up
  mutable base::ForkMutex mutex_;
  std::map<device::DevicePtr, Entry> entries_;
  std::multimap<device::DevicePtr, size_t> foreign_; // bytes by first address
};

} // namespace tile::detail
