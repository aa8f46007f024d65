// Graphs: work of a stream that is recorded once and given to the device as a whole, again and
// again. A step that launches many small kernels then costs the host one call.
//
//   Graph step = Graph::capture(stream, [&] { // nothing runs
//     ops::matmul(stream, x, w, h);
//     scale.consts(256)(stream, h, y, 0.5f);
//   });
//   for (int round = 0; round < 100; ++round)
//     step.replay(stream);
//
// What is captured is all that the function gives to the stream: launches, ops, uploadAsync and
// downloadAsync. Kernels are compiled and loaded as usual; nothing needs to run before.
// Addresses, extents, numbers and grids are those of the capture: each replay does the same work on
// the same memory, so that what changes from step to step lies in tensors that the host or other
// work writes between replays. Host memory of asynchronous copies is read or written by each
// replay, and has to live as long as the graph.
//
// Work can fork to other streams and must join again. A stream that waits for a captured one, by
// Stream::wait or by an event recorded in the capture, is captured as well from there on; at the
// end the first stream must have waited for all of their work:
//
//   Graph both = Graph::capture(stream, [&] {
//     other.wait(stream);
//     left(stream, x, a);
//     right(other, x, b);  // at the same time
//     stream.wait(other);
//     sum(stream, a, b, y);
//   });
//
// A graph keeps the tensors that its launches and copies refer to, whoever else drops them, and the
// memory of tensors made by Stream::tensor in the capture: later tensors do not get it while the
// graph lives. Within the capture it is taken again, as in a stream. Memory of others that enters
// by ref(pointer, ...) they keep.
//
// In a capture nothing runs, so nothing can be waited for: synchronize(), copies that wait, queries
// of captured events, close(), trim() and native() throw NotPreparedForCapture, and the capture
// goes on if that is caught. What is given to streams that are not captured runs at once.
//
// Threads: a capture belongs to the thread that began it; calls of others for its streams throw
// meanwhile. A graph may be replayed and updated from any thread. One replay runs at a time:
// each comes after the one before it, whatever their streams.
#pragma once

#include <tile/Device.h>
#include <tile/detail/FunctionRef.h>

namespace tile {

namespace detail {
struct GraphState;
} // namespace detail

/// Captured work, to be replayed. Copies of the handle name the same graph, which ends, after its
/// replays, with the last of them. A default constructed one may only be assigned to: all else
/// throws InvalidHandle.
class Graph {
public:
  Graph() = default;

  /// Runs `work`, whose calls for `stream` are recorded instead of executed. An error that
  /// `work` throws ends the capture, and the stream is as it was before. Errors also:
  /// InvalidArgument where other streams have not been joined, naming their last call;
  /// NotPreparedForCapture within a capture; Unsupported where the driver has no graphs.
  static Graph capture(const Stream &stream, detail::FunctionRef<void()> work,
                       Loc where = Loc::here());

  /// Submits the work to `stream`, in whose order it runs, as a whole. This call or a later one
  /// reports what goes wrong in it, at the line of the captured call. Errors: WrongDevice;
  /// NotPreparedForCapture within a capture.
  void replay(const Stream &stream, Loc where = Loc::here()) const;

  /// Captures again, and later replays do that work instead: faster than another graph if only
  /// kernels, addresses, numbers and grids differ. Earlier replays are not affected. Error:
  /// InvalidArgument, and the graph is as it was, where number, kinds, order or streams of the
  /// pieces of work differ, naming the first; capture another graph then.
  void update(const Stream &stream, detail::FunctionRef<void()> work,
              Loc where = Loc::here()) const;

  Device device() const;

private:
  explicit Graph(std::shared_ptr<detail::GraphState> state) : state_(std::move(state)) {}
  detail::GraphState &state() const;
  std::shared_ptr<detail::GraphState> state_;
};

} // namespace tile
