// The public Stream and Event: their states, what waits for what, and for how long the host does.
#include "runtime/host/Capture.h"
#include "runtime/trace/Span.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace tile {

/// A wait of the host, for those who listen.
static trace::Span waitSpan(const char *whom, std::optional<device::Stream> stream = {}) {
  trace::Span span("wait", whom);
  if (span && stream)
    span.note("stream", int64_t{stream->index});
  return span;
}

detail::StreamState::StreamState(std::shared_ptr<DeviceState> device, Loc where)
    : owner(std::move(device)), handle(owner->device->createStream(where)) {
  std::lock_guard lock(owner->streamsMutex);
  owner->streams.insert(this);
}

detail::StreamState::StreamState(std::shared_ptr<DeviceState> device, void *native, Loc where)
    : owner(std::move(device)), handle(owner->device->adoptStream(native, where)),
      isExternal(true) {
  std::lock_guard lock(owner->streamsMutex);
  owner->streams.insert(this);
}

detail::StreamState::~StreamState() {
  if (owner->device->isOfParent())
    return;
  {
    std::lock_guard lock(owner->streamsMutex);
    owner->streams.erase(this);
  }
  if (isClosed)
    return;
  device::Device &device = *owner->device;
  if (!isExternal) {
    trace::Span span = waitSpan("for a stream that ends", handle);
    device.drain(handle);
  }
  quietly([&] { memory.freeKept(device, handle); });
  quietly([&] { counters.free(device, handle); });
  quietly([&] { device.destroyStream(handle); });
}

detail::EventState::~EventState() {
  if (!owner->device->isOfParent())
    quietly([&] { owner->device->destroyEvent(handle); });
}

// --- Stream --------------------------------------------------------------------------------------

detail::StreamState &Stream::state() const {
  if (!state_)
    throw Error(Fault::User, ErrorCode::InvalidHandle,
                "the stream handle is empty: it was moved from or never set; get a stream from "
                "Device::stream()");
  if (state_->isClosed)
    throw Error(Fault::User, ErrorCode::InvalidHandle,
                "the stream was closed; get a new one from Device::stream()");
  detail::refuseOfParent(*state_->owner);
  return *state_;
}

void Stream::synchronize() const {
  detail::StreamState &live = state();
  detail::refuseInCapture(live, "Stream::synchronize");
  trace::Span span = waitSpan("for a stream", live.handle);
  live.owner->device->synchronize(live.handle);
}

/// Waits for an event, and throws Timeout where it is not reached in time.
static void waitAtMost(const detail::EventState &event, double mostSeconds, const char *whose) {
  using namespace std::chrono;
  constexpr double kForEver = 3600.0 * 24 * 365; // beyond, the end of clocks is near
  double bounded = mostSeconds > 0 ? std::min(mostSeconds, kForEver) : 0; // NaN is none
  auto most = duration_cast<steady_clock::duration>(duration<double>(bounded));
  device::Device &device = *event.owner->device;
  if (device.waitUntil(event.handle, steady_clock::now() + most))
    return;
  std::string launch = device.lastLaunch();
  throw Error(Fault::Device, ErrorCode::Timeout,
              std::string(whose) + " did not end within " +
                  std::to_string(duration_cast<milliseconds>(most).count()) + " ms" +
                  (launch.empty() ? "" : " (last kernel launched: " + launch + ")") +
                  ": it goes on; wait again, or end the process if it never ends");
}

void Stream::synchronize(double mostSeconds) const {
  detail::StreamState &live = state();
  detail::refuseInCapture(live, "Stream::synchronize");
  trace::Span span = waitSpan("for a stream", live.handle);
  detail::EventState here(live.owner);
  live.owner->device->record(here.handle, live.handle);
  waitAtMost(here, mostSeconds, "the work of the stream");
}

void Stream::close() const {
  detail::StreamState &live = state();
  detail::refuseInCapture(live, "Stream::close");
  synchronize();
  if (live.isClosed.exchange(true))
    return;
  live.memory.trim(*live.owner->device, live.handle);
  live.counters.free(*live.owner->device, live.handle);
  live.owner->device->destroyStream(live.handle);
}

/// Work of two streams can be ordered if they are of one device.
static void requireSame(const detail::DeviceState &device, const detail::DeviceState &other,
                        const char *noun) {
  if (&device != &other)
    throw Error(Fault::User, ErrorCode::WrongDevice,
                std::string("the ") + noun + " is of device " + other.name +
                    ", the stream of device " + device.name + ": only the host can wait for both");
}

/// A captured stream waits for nothing from outside of the capture, whose replays would not come after that.
[[noreturn]] static void refuseOutside(const detail::Capture &capture, const char *what) {
  throw Error(Fault::User, ErrorCode::NotPreparedForCapture,
              std::string(what) + " is not part of the capture, and this stream is " +
                  capture.describe() + ": let it wait before the capture, or before each replay");
}

/// The capture in which an event was recorded. No other reaches it.
static detail::Capture &captureWith(const detail::EventState &event) {
  detail::Capture *capture = detail::Capture::ofThread();
  if (!capture || capture->number() != event.capture)
    throw Error(Fault::User, ErrorCode::NotPreparedForCapture,
                "Stream::wait: the event was recorded in another capture, which it does not "
                "leave: record it in this stream's work");
  return *capture;
}

void Stream::wait(const Stream &other) const {
  detail::StreamState &live = state(), &before = other.state();
  requireSame(*live.owner, *before.owner, "other stream");
  if (&live == &before)
    return;
  detail::Capture *own = detail::captureOf(live); // or another thread's, which throws
  if (detail::Capture *capture = detail::captureOf(before))
    return capture->wait(state_, before);
  if (own)
    refuseOutside(*own, "Stream::wait: the other stream");
  detail::EventState here(live.owner);
  live.owner->device->record(here.handle, before.handle);
  live.owner->device->wait(live.handle, here.handle);
}

void Stream::wait(const Event &event) const {
  detail::StreamState &live = state();
  const detail::EventState &before = event.state();
  requireSame(*live.owner, *before.owner, "event");
  detail::Capture *own = detail::captureOf(live);
  if (before.capture)
    return captureWith(before).wait(state_, before);
  if (own)
    refuseOutside(*own, "Stream::wait: the event");
  live.owner->device->wait(live.handle, before.handle);
}

void *Stream::native() const {
  detail::StreamState &live = state();
  if (detail::captureOf(live))
    detail::refuseInCapture(live, "Stream::native");
  return live.owner->device->nativeOf(live.handle);
}

Tensor Stream::tensor(DType dtype, std::span<const int64_t> shape, Loc where) const {
  return Tensor(*this, dtype, shape, where);
}

StreamUsage Stream::usage() const { return state().memory.usage(); }

void Stream::overlapLaunches(bool overlap) const { state().overlapsLaunches = overlap; }

CallPlace::CallPlace(const Stream &stream)
    : device(stream.device()), overlapsLaunches(stream.state().overlapsLaunches) {}

void Stream::trim() const {
  detail::StreamState &live = state();
  detail::refuseInCapture(live, "Stream::trim");
  live.memory.trim(*live.owner->device, live.handle);
}

Device Stream::device() const { return Device(state().owner); }

// --- Event ---------------------------------------------------------------------------------------

const detail::EventState &Event::state() const {
  if (!state_)
    throw Error(Fault::User, ErrorCode::InvalidHandle,
                "the event handle is empty: it was moved from or never set; get an event from "
                "Device::event()");
  detail::refuseOfParent(*state_->owner);
  return *state_;
}

void Event::record(const Stream &stream) const {
  detail::StreamState &live = stream.state();
  requireSame(*live.owner, *state().owner, "event");
  if (detail::Capture *capture = detail::captureOf(live))
    return capture->record(live, state());
  live.owner->device->record(state().handle, live.handle);
  state().capture = 0;
}

/// The host waits for no event of a capture, in which nothing runs.
static const detail::EventState &requireReal(const detail::EventState &event, const char *what) {
  if (event.capture)
    throw Error(Fault::User, ErrorCode::NotPreparedForCapture,
                std::string(what) + ": the event was recorded in a capture, in which nothing runs: "
                                    "record it in a stream after the replay");
  return event;
}

void Event::synchronize() const {
  const detail::EventState &live = requireReal(state(), "Event::synchronize");
  trace::Span span = waitSpan("for an event");
  live.owner->device->synchronize(live.handle);
}

void Event::synchronize(double mostSeconds) const {
  const detail::EventState &live = requireReal(state(), "Event::synchronize");
  trace::Span span = waitSpan("for an event");
  waitAtMost(live, mostSeconds, "the work before the event");
}

bool Event::query() const {
  const detail::EventState &live = requireReal(state(), "Event::query");
  return live.owner->device->isDone(live.handle);
}

float Event::elapsedMs(const Event &end) const {
  const detail::EventState &from = requireReal(state(), "Event::elapsedMs"),
                           &to = requireReal(end.state(), "Event::elapsedMs");
  requireSame(*from.owner, *to.owner, "other event");
  trace::Span span = waitSpan("for two events");
  return from.owner->device->elapsedMs(from.handle, to.handle);
}

Device Event::device() const { return Device(state().owner); }

} // namespace tile
