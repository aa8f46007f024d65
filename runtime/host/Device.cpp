// The public Device and Stream: names to devices, one device a name, handles that stay valid.
#include "runtime/host/Capture.h"
#include "runtime/trace/Span.h"

#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

namespace tile {

detail::DeviceState::DeviceState(std::shared_ptr<device::Device> device, std::string name)
    : device(std::move(device)), name(std::move(name)) {
  static std::atomic<uint64_t> lastId = 0;
  id = ++lastId;
}

detail::DeviceState::~DeviceState() {
  quietly([&] { device->free(zeros_); });
}

device::DevicePtr detail::DeviceState::zeros() {
  constexpr size_t kBytes = 16;
  std::call_once(zerosMade_, [&] {
    device::DevicePtr made = device->alloc(kBytes);
    device->fill(made, 0, kBytes);
    device->synchronize(device::Stream{});
    zeros_ = made;
  });
  return zeros_;
}

/// A wait of the host, for those who listen.
static trace::Span waitSpan(const char *whom, std::optional<device::Stream> stream = {}) {
  trace::Span span("wait", whom);
  if (span && stream)
    span.note("stream", int64_t{stream->index});
  return span;
}

detail::StreamState::~StreamState() {
  if (isClosed)
    return;
  device::Device &device = *owner->device;
  if (!isExternal) {
    trace::Span span = waitSpan("for a stream that ends", handle);
    device.drain(handle);
  }
  quietly([&] { memory.freeKept(device, handle); });
  quietly([&] { device.destroyStream(handle); });
}

detail::EventState::~EventState() {
  quietly([&] { owner->device->destroyEvent(handle); });
}

detail::Storage::Storage(const std::shared_ptr<StreamState> &of, size_t bytes) : bytes(bytes) {
  owner = of->owner;
  if (Capture *capture = captureOf(*of)) {
    capture->take(*of, *this, bytes);
    return;
  }
  refuseIfOthersCapture(*of, "memory for a tensor would be allocated", "make it before");
  StreamMemory::Block block = of->memory.take(*owner->device, of->handle, bytes);
  // It is not discarded when it is given back: another stream may use it until this one has waited for that.
  if (block.isTakenAgain)
    owner->device->discard(block.base, block.bytes, of->handle);
  stream = of, base = block.base, blockBytes = block.bytes;
}

detail::Storage::Storage(std::shared_ptr<DeviceState> device, device::DevicePtr at, size_t bytes,
                         std::shared_ptr<void> of)
    : bytes(bytes) {
  owner = std::move(device), base = at, foreign = std::move(of);
  owner->held.enterForeign(base, bytes);
}

detail::Storage::~Storage() {
  if (foreign)
    owner->held.leaveForeign(base, bytes);
  if (!owner->held.keep(*this))
    giveBack();
}

// --- Names ---------------------------------------------------------------------------------------

namespace {

/// Devices opened by name. Never destroyed: handles in static variables may outlive main, and a
/// driver must not be called while the process goes down.
struct OpenDevices {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<detail::DeviceState>, std::less<>> byName;

  static OpenDevices &get() {
    static auto *devices = new OpenDevices;
    return *devices;
  }
};

template <class Open>
std::shared_ptr<detail::DeviceState> openOnce(const std::string &name, Open open) {
  OpenDevices &devices = OpenDevices::get();
  std::lock_guard lock(devices.mutex);
  auto &state = devices.byName[name];
  if (!state) {
    trace::Span span("open", name);
    state = std::make_shared<detail::DeviceState>(open(), name);
  }
  return state;
}

std::shared_ptr<detail::DeviceState> openCuda(int ordinal) {
  return openOnce("cuda:" + std::to_string(ordinal), [&] { return device::openCuda(ordinal); });
}

std::shared_ptr<detail::DeviceState> openVirtual(std::string target) {
  return openOnce("virtual:" + target, [&] {
    device::VirtualOptions options;
    options.target = target;
    return device::openVirtual(options);
  });
}

std::shared_ptr<detail::DeviceState> openAuto() {
  try {
    return openCuda(0);
  } catch (const Error &error) {
    if (error.code() != ErrorCode::NoDevice)
      throw;
    return openVirtual("sm_80");
  }
}

[[noreturn]] void refuseName(std::string_view name, const std::string &origin) {
  throw Error(Fault::User, ErrorCode::InvalidArgument,
              origin + "'" + std::string(name) +
                  "' names no device: use cuda, cuda:N, virtual, virtual:sm_90a or auto");
}

std::shared_ptr<detail::DeviceState> openByName(std::string_view name, const std::string &origin) {
  size_t colon = name.find(':');
  std::string_view kind = name.substr(0, colon);
  bool hasRest = colon != name.npos;
  std::string_view rest = hasRest ? name.substr(colon + 1) : std::string_view();
  if (name == "auto")
    return openAuto();
  if (kind == "virtual" && (!hasRest || !rest.empty()))
    return openVirtual(hasRest ? std::string(rest) : "sm_80");
  if (kind != "cuda")
    refuseName(name, origin);
  int ordinal = 0;
  if (hasRest) {
    const char *end = rest.data() + rest.size();
    auto [stop, fault] = std::from_chars(rest.data(), end, ordinal);
    if (fault != std::errc() || stop != end || ordinal < 0)
      refuseName(name, origin);
  }
  return openCuda(ordinal);
}

} // namespace

Device Device::best() {
  const char *variable = std::getenv("TILE_DEVICE");
  bool isSet = variable && *variable;
  return Device(openByName(isSet ? variable : "auto", isSet ? "TILE_DEVICE=" : ""));
}

Device Device::open(std::string_view name) { return Device(openByName(name, "device ")); }

std::vector<Device> Device::all() {
  std::vector<Device> devices = {Device(openVirtual("sm_80"))};
  try {
    for (int ordinal = 0;; ++ordinal)
      devices.push_back(Device(openCuda(ordinal)));
  } catch (const Error &error) {
    if (error.code() != ErrorCode::NoDevice)
      throw;
  }
  return devices;
}

// One device a context, as long as somebody has a handle of it: another context may come to lie at the same address.
static std::shared_ptr<detail::DeviceState> openContext(void *context) {
  static std::mutex mutex;
  static auto *known = new std::map<void *, std::weak_ptr<detail::DeviceState>>;
  std::lock_guard lock(mutex);
  std::weak_ptr<detail::DeviceState> &state = (*known)[context];
  if (auto open = state.lock())
    return open;
  auto device = device::openCudaContext(context);
  std::string name = "cuda:" + std::to_string(device->props().ordinal);
  auto open = std::make_shared<detail::DeviceState>(std::move(device), std::move(name));
  state = open;
  return open;
}

Device Device::ofContext(void *context) {
  if (!context)
    context = device::currentCudaContext();
  if (!context)
    throw Error(Fault::User, ErrorCode::InvalidHandle,
                "no CUDA context is current to this thread: make one current, or use "
                "Device::open(\"cuda\")");
  if (std::optional<int> ordinal = device::ordinalOfPrimaryContext(context))
    return Device(openCuda(*ordinal));
  return Device(openContext(context));
}

Device Device::wrap(std::shared_ptr<device::Device> device, std::string name) {
  return Device(std::make_shared<detail::DeviceState>(std::move(device), std::move(name)));
}

// --- Device --------------------------------------------------------------------------------------

const std::string &Device::name() const { return state_->name; }
const std::string &Device::product() const { return state_->device->props().name; }
bool Device::isVirtual() const { return state_->device->props().isVirtual; }
const std::string &Device::target() const { return state_->device->props().target; }
int Device::multiprocessors() const { return state_->device->props().smCount; }
uint64_t Device::handle() const { return state_->id; }
void Device::synchronize() const {
  detail::refuseInCapture(*state_, "Device::synchronize");
  trace::Span span = waitSpan("for the device");
  state_->device->synchronize();
}

Stream Device::stream(Loc where) const {
  return Stream(std::make_shared<detail::StreamState>(state_, where));
}

Stream Device::externalStream(void *native, Loc where) const {
  std::lock_guard lock(state_->externalMutex);
  std::weak_ptr<detail::StreamState> &known = state_->externalStreams[native];
  auto state = known.lock();
  if (!state || state->isClosed) {
    state = std::make_shared<detail::StreamState>(state_, native, where);
    known = state;
  }
  return Stream(state);
}

Event Device::event() const { return Event(std::make_shared<detail::EventState>(state_)); }

// --- Stream --------------------------------------------------------------------------------------

detail::StreamState &Stream::state() const {
  if (!state_)
    throw Error(Fault::User, ErrorCode::InvalidHandle,
                "the stream handle is empty: it was moved from or never set; get a stream from "
                "Device::stream()");
  if (state_->isClosed)
    throw Error(Fault::User, ErrorCode::InvalidHandle,
                "the stream was closed; get a new one from Device::stream()");
  return *state_;
}

void Stream::synchronize() const {
  detail::StreamState &live = state();
  detail::refuseInCapture(live, "Stream::synchronize");
  trace::Span span = waitSpan("for a stream", live.handle);
  live.owner->device->synchronize(live.handle);
}

void Stream::close() const {
  detail::StreamState &live = state();
  detail::refuseInCapture(live, "Stream::close");
  synchronize();
  if (live.isClosed.exchange(true))
    return;
  live.memory.trim(*live.owner->device, live.handle);
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
