// The streams and events of a virtual GPU: which work comes after which, and when each piece runs.
//
// Under the schedule `eager` work runs when it is given. Else the work of a stream lies in its
// queue until somebody waits for it: the host, or work of another stream whose turn has come; under
// `random` some of it runs whenever more is given. The default stream never lets its work lie.
#pragma once

#include "runtime/vgpu/machine/DependentLaunch.h"
#include "runtime/vgpu/machine/Schedule.h"
#include "runtime/vgpu/streams/StreamRaces.h"

#include <chrono>
#include <functional>

namespace tile::vgpu {

/// One stream.
struct StreamQueue {
  std::shared_ptr<const StreamName> name;
  uint32_t index = 0; // to clocks
  StreamClock clock;  // what its next work comes after
  uint64_t given = 0, done = 0;
  std::deque<std::function<void()>> waiting; // given and not done
  std::unique_ptr<GridsInFlight>
      inFlight; // if the last thing done was a launch that let the next one start
};

/// An event: the point of a stream at which it was recorded, and the clock there.
struct EventRecord {
  std::weak_ptr<StreamQueue> queue;
  uint64_t position = 0; // reached when so much of the queue is done
  StreamClock knows;
  std::optional<std::chrono::steady_clock::time_point> reached;
};

class Streams {
public:
  Streams();
  void setSchedule(Schedule schedule, uint64_t seed);

  std::shared_ptr<StreamQueue> make(SourceLocation made);
  /// Runs what is left. The caller holds the last pointer.
  void end(std::shared_ptr<StreamQueue> queue);
  const std::shared_ptr<StreamQueue> &defaultQueue() const { return default_; }
  /// The stream of that number, or null.
  std::shared_ptr<StreamQueue> find(uint64_t number) const;

  /// The next piece of work of a stream, which is about to be given.
  StreamWork next(StreamQueue &queue, StreamWork::Kind kind, Loc where);
  /// Runs it, now or later.
  void give(StreamQueue &queue, std::function<void()> work);
  std::shared_ptr<EventRecord> record(const std::shared_ptr<StreamQueue> &queue);
  void wait(StreamQueue &queue, std::shared_ptr<EventRecord> event);

  /// The host waits: what it gives to streams from here on comes after that.
  void finish(StreamQueue &queue);
  void finish(const EventRecord &event);
  void finish();
  /// The host asks, and has waited if the answer is yes. Of a queue that lies, one more piece of
  /// work is done.
  bool isReached(const EventRecord &event);
  /// Runs all work of a stream, or of all, without the host having waited for it.
  void run(StreamQueue &queue);
  void runAll();
  /// The clock of the host: what it has waited for.
  const StreamClock &hostKnows() const { return host_; }
  /// True if no work is waiting for its turn.
  bool areIdle() const { return waiting_ == 0; }

private:
  static constexpr size_t kMostWaiting = 256; // pieces of work in all queues

  void runOne(StreamQueue &queue);
  void runTo(StreamQueue &queue, uint64_t position);
  void runSome();

  Schedule schedule_ = Schedule::Eager;
  Choices choices_;
  StreamClock host_;
  std::vector<uint64_t> pieces_;                   // given so far, by the index of the stream
  std::vector<uint32_t> ended_;                    // indices of streams that have ended
  std::vector<std::weak_ptr<StreamQueue>> queues_; // in the order they were made
  std::shared_ptr<StreamQueue> default_;
  uint64_t made_ = 0, turns_ = 0;
  size_t waiting_ = 0;
};

} // namespace tile::vgpu
