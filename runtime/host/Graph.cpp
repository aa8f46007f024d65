// The public Graph: a capture that is handed to the device, and what its replays keep alive.
#include <tile/Graph.h>

#include "base/ForkLocks.h"
#include "runtime/host/Capture.h"
#include "runtime/host/Room.h"
#include "runtime/trace/Span.h"

#include <algorithm>

namespace tile {

struct detail::GraphState {
  GraphState(std::shared_ptr<DeviceState> owner, std::shared_ptr<GraphMemory> memory,
             std::shared_ptr<const device::GraphWork> work)
      : owner(std::move(owner)), memory(std::move(memory)), work(std::move(work)),
        handle(
            withRoom(*this->owner, [&] { return this->owner->device->createGraph(this->work); })) {}
  ~GraphState() {
    if (owner->device->isOfParent())
      return;
    quietly([&] { owner->device->destroyGraph(handle); });
    letGo(held);
  }
  GraphState(const GraphState &) = delete;
  GraphState &operator=(const GraphState &) = delete;

  /// Gives memory back once no replay uses it: where it goes to a stream, work that comes after the last one.
  void letGo(const std::set<device::DevicePtr> &bases) const {
    std::vector<Memory> left = owner->held.release(bases);
    std::shared_ptr<StreamState> stream = lastStream.lock();
    auto isInOrder = [&](const Memory &memory) { return stream && memory.stream == stream; };
    if (isReplayed && !std::ranges::all_of(left, isInOrder))
      owner->device->drain();
    for (const Memory &memory : left)
      memory.giveBack();
  }

  std::shared_ptr<DeviceState> owner;
  std::shared_ptr<GraphMemory> memory;
  base::ForkMutex mutex; ///< guards what follows
  std::shared_ptr<const device::GraphWork> work;
  std::set<device::DevicePtr> held;
  device::Graph handle;
  bool isReplayed = false;
  std::weak_ptr<StreamState> lastStream; ///< of the last replay, which comes after all others
};

namespace {

/// Errors that have no line get the caller's.
template <class Act> void at(Loc where, Act act) {
  try {
    act();
  } catch (const Error &error) {
    if (!error.file().empty() || !where.line)
      throw;
    throw Error(error.fault(), error.code(), error.message(), where, error.notes());
  }
}

/// A stream, in no capture; nor is anything by this thread.
detail::StreamState &requireFree(const Stream &stream, const char *what, Loc where) {
  detail::StreamState &live = stream.state();
  if (detail::Capture *capture = detail::Capture::ofThread())
    throw Error(Fault::User, ErrorCode::NotPreparedForCapture,
                std::string(what) + " in a capture: a stream is " + capture->describe() +
                    "; call the function itself, whose work is then captured",
                where);
  detail::captureOf(live); // by another thread
  return live;
}

/// A stream that the graph can be replayed or captured on.
detail::StreamState &requireOf(const detail::GraphState &graph, const Stream &stream,
                               const char *what, Loc where) {
  detail::StreamState &live = requireFree(stream, what, where);
  if (live.owner != graph.owner)
    throw Error(Fault::User, ErrorCode::WrongDevice,
                "the graph is of device " + graph.owner->name + ", the stream of device " +
                    live.owner->name + ": capture it on that device");
  return live;
}

/// Captures the work, then does `with(work, capture)`.
template <class With>
void captured(const Stream &stream, const std::shared_ptr<detail::GraphMemory> &memory,
              detail::FunctionRef<void()> work, Loc where, With with) {
  detail::Capture capture(stream.shared(), memory, where);
  work();
  with(capture.finish(), capture);
}

} // namespace

detail::GraphState &Graph::state() const {
  if (!state_)
    throw Error(Fault::User, ErrorCode::InvalidHandle,
                "the graph handle is empty: it was moved from or never set; get a graph from "
                "Graph::capture()");
  detail::refuseOfParent(*state_->owner);
  return *state_;
}

Graph Graph::capture(const Stream &stream, detail::FunctionRef<void()> work, Loc where) {
  std::shared_ptr<detail::GraphState> state;
  at(where, [&] {
    std::shared_ptr<detail::DeviceState> owner = requireFree(stream, "Graph::capture", where).owner;
    auto memory = std::make_shared<detail::GraphMemory>(owner);
    captured(stream, memory, work, where, [&](auto recorded, detail::Capture &capture) {
      state = std::make_shared<detail::GraphState>(owner, memory, std::move(recorded));
      state->held = capture.takeHeld();
    });
  });
  return Graph(std::move(state));
}

void Graph::replay(const Stream &stream, Loc where) const {
  at(where, [&] {
    detail::GraphState &graph = state();
    detail::StreamState &live = requireOf(graph, stream, "replay", where);
    trace::Span span("launch", "a graph");
    std::lock_guard lock(graph.mutex);
    graph.isReplayed = true;
    graph.memory->repairCounters();
    graph.lastStream = stream.shared();
    detail::withRoom(*graph.owner, [&] { graph.owner->device->replay(graph.handle, live.handle); });
  });
}

void Graph::update(const Stream &stream, detail::FunctionRef<void()> work, Loc where) const {
  at(where, [&] {
    detail::GraphState &graph = state();
    requireOf(graph, stream, "update", where);
    const auto alive = state_; // whatever the function does with this handle
    captured(stream, graph.memory, work, where, [&](auto recorded, detail::Capture &capture) {
      std::lock_guard lock(graph.mutex);
      std::string difference = device::topologyDifference(*graph.work, *recorded);
      if (!difference.empty())
        throw Error(Fault::User, ErrorCode::InvalidArgument,
                    "update: " + difference + "; capture another graph", where);
      graph.owner->device->updateGraph(graph.handle, recorded);
      graph.work = std::move(recorded);
      graph.letGo(std::exchange(graph.held, capture.takeHeld()));
    });
  });
}

Device Graph::device() const { return Device(state().owner); }

} // namespace tile
