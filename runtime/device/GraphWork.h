// Work that a device is given as a whole, again and again: pieces of work in the order in which they were captured, some of them on
// streams beside the first. Recorded by the runtime, so that nothing of a capture ever meets a driver that could refuse it.
#pragma once

#include "runtime/device/Device.h"

#include <variant>

namespace tile::device {

/// Copies of a launch's arguments, each aligned for a tensor map.
class GraphArguments {
public:
  explicit GraphArguments(std::span<const Arg> args);
  /// Where they lie; valid as long as this lives where it is.
  std::vector<Arg> list() const;

private:
  struct alignas(TensorMap) Chunk {
    std::byte bytes[alignof(TensorMap)];
  };
  static size_t chunksOf(size_t bytes) { return (bytes + sizeof(Chunk) - 1) / sizeof(Chunk); }
  std::vector<size_t> sizes_;
  std::vector<Chunk> chunks_; // of one after the other
};

struct GraphLaunch {
  Function function;
  std::string kernel; // its name, for messages
  LaunchConfig config;
  GraphArguments arguments;
};
/// Copies by the host's memory as it is in each replay.
struct GraphUpload {
  DevicePtr target = 0;
  const void *source = nullptr;
  size_t bytes = 0;
};
struct GraphDownload {
  void *target = nullptr;
  DevicePtr source = 0;
  size_t bytes = 0;
};
/// Device::discard: no work, and none that counts when graphs are compared.
struct GraphDiscard {
  DevicePtr pointer = 0;
  size_t bytes = 0;
};
/// An event of the graph, by number, is what the lane has been given so far.
struct GraphRecord {
  uint32_t event = 0;
};
struct GraphWait {
  uint32_t event = 0;
};

struct GraphStep {
  uint32_t lane = 0; // the stream: 0 is the one that is captured, and replayed on
  Loc where;         // the captured call
  std::variant<GraphLaunch, GraphUpload, GraphDownload, GraphDiscard, GraphRecord, GraphWait> what;
};

struct GraphWork {
  Loc where; // the capture
  uint32_t lanes = 1, events = 0;
  std::vector<GraphStep> steps;

  /// "the graph of 3 kernels captured at main.cpp:12"
  std::string describe() const;
};

/// May a launch of this work start before the one ahead of it has ended?
bool hasEarlyLaunches(const GraphWork &work);
/// The same work, each launch of which waits until the one before has ended.
GraphWork withPlainLaunches(GraphWork work);

/// What keeps the work of one graph from being exchanged for the other in place: the first piece of work that is of another kind or
/// on another stream, or that is missing. Empty if nothing does.
std::string topologyDifference(const GraphWork &now, const GraphWork &other);

/// The streams and events of a device that a graph's work runs with.
class GraphLanes {
public:
  GraphLanes(Device &device, const GraphWork &work);
  ~GraphLanes();
  GraphLanes(const GraphLanes &) = delete;
  GraphLanes &operator=(const GraphLanes &) = delete;

  /// Gives all pieces of work to their streams, lane 0 being `first`, which waits for the others in the end; also if one of them
  /// throws, which ends it.
  void give(const GraphWork &work, Stream first) const;

private:
  void giveStep(const GraphStep &step, Stream stream) const;
  void join(Stream first) const;

  Device &device_;
  std::vector<Stream> others_; // lanes from 1 on
  std::vector<Event> events_;
  std::vector<Event> ends_; // of the other lanes
};

} // namespace tile::device
