// A capture in progress: what a function gives to streams is written down. The driver hears of it once that is complete, so that
// compiling, loading and allocating are as allowed as ever, and nothing in the function can spoil anything.
#pragma once

#include "runtime/device/GraphWork.h"
#include "runtime/host/State.h"

#include <tile/HostArg.h>

#include <span>
#include <string>

namespace tile::detail {

class Capture {
public:
  /// Begins it. The stream must not be captured; neither must anything by this thread.
  Capture(std::shared_ptr<StreamState> stream, std::shared_ptr<GraphMemory> memory, Loc where);
  /// Streams are as they were before; memory that is still held is let go.
  ~Capture();
  Capture(const Capture &) = delete;
  Capture &operator=(const Capture &) = delete;

  /// The one in progress in this thread, or null.
  static Capture *ofThread();
  uint64_t number() const { return number_; }
  const DeviceState &device() const { return *owner_; }
  /// "captured into a graph at main.cpp:12"
  std::string describe() const;

  // Work of a stream that is captured. Memory that it refers to is held.
  void launch(const StreamState &stream, device::GraphLaunch launch, std::span<const HostArg> args);
  void upload(const StreamState &stream, device::GraphUpload copy, Loc where);
  void download(const StreamState &stream, device::GraphDownload copy, Loc where);
  void record(const StreamState &stream, const EventState &event);
  /// The stream, which is captured from here on, waits for an event of this capture, or for another captured stream.
  void wait(const std::shared_ptr<StreamState> &stream, const EventState &event);
  void wait(const std::shared_ptr<StreamState> &stream, const StreamState &before);
  /// Memory for a tensor of the stream.
  void take(const StreamState &stream, Memory &memory, size_t bytes);
  /// Counters for the launch that the stream is given next (Counters.h).
  device::DevicePtr takeCounters(const StreamState &stream, size_t bytes);

  /// The work, once all streams have been joined; else InvalidArgument.
  std::shared_ptr<const device::GraphWork> finish();
  /// What the work refers to, held; the caller lets it go.
  std::set<device::DevicePtr> takeHeld() { return std::exchange(held_, {}); }

private:
  /// A stream that is captured.
  struct Lane {
    std::shared_ptr<StreamState> stream;
    uint64_t given = 0; // pieces of work
    std::vector<uint64_t>
        knows;        // of each lane, how many pieces of work come before what it is given next
    std::string last; // piece of work, for messages
  };

  uint32_t laneOf(const StreamState &stream) const;
  uint32_t join(const std::shared_ptr<StreamState> &stream);
  uint32_t recordOn(uint32_t lane);
  void waitOn(uint32_t lane, uint32_t event);
  void give(const StreamState &stream, device::GraphStep step, const std::string &what);
  void hold(device::DevicePtr pointer);

  const uint64_t number_;
  std::shared_ptr<DeviceState> owner_;
  std::shared_ptr<GraphMemory> memory_;
  std::shared_ptr<device::GraphWork> work_;
  std::vector<Lane> lanes_;
  std::vector<std::vector<uint64_t>> events_;           // what is known at each
  std::map<const EventState *, uint32_t> eventNumbers_; // as recorded last
  std::set<device::DevicePtr> held_;
};

/// The capture that a stream's work goes to, or null. Throws NotPreparedForCapture if another thread captures it.
Capture *captureBy(Capture *capture);
inline Capture *captureOf(const StreamState &stream) {
  Capture *capture = stream.capture.load(std::memory_order_relaxed);
  return capture ? captureBy(capture) : nullptr;
}

/// Throws NotPreparedForCapture if the stream is captured, here or by others; `what` is the call that a capture cannot have.
void refuseInCapture(const StreamState &stream, const char *what, Loc where = {});
/// The same for a call that waits for all work of a device.
void refuseInCapture(const DeviceState &device, const char *what, Loc where = {});
/// Throws it if others capture the stream, whose driver refuses what is asked for; `what` begins the sentence, `remedy` ends it.
void refuseIfOthersCapture(const StreamState &stream, const std::string &what, const char *remedy,
                           Loc where = {});

} // namespace tile::detail
