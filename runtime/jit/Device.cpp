// The public Device and Stream: names to devices, one device a name, handles that stay valid.
#include "runtime/jit/Jit.h"
#include "runtime/jit/State.h"

#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>

namespace tile {

detail::DeviceState::DeviceState(std::shared_ptr<device::Device> device, std::string name)
    : device(std::move(device)), name(std::move(name)) {
  static std::atomic<uint64_t> lastId = 0;
  id = ++lastId;
  jit = std::make_unique<jit::Jit>(this->device);
}

detail::DeviceState::~DeviceState() = default;

detail::StreamState::~StreamState() {
  if (isClosed)
    return;
  try {
    owner->device->synchronize(handle);
  } catch (const Error &) {
  }
  try {
    memory.trim(*owner->device, handle);
  } catch (const Error &) {
  }
  try {
    owner->device->destroyStream(handle);
  } catch (const Error &) {
  }
}

detail::Storage::~Storage() {
  if (stream && !stream->isClosed) {
    stream->memory.giveBack(*owner->device, stream->handle, {base, blockBytes});
    return;
  }
  try {
    owner->device->synchronize();
  } catch (const Error &) {
  }
  try {
    owner->device->free(base);
  } catch (const Error &) {
  }
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
  if (!state)
    state = std::make_shared<detail::DeviceState>(open(), name);
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
void Device::synchronize() const { state_->device->synchronize(); }
Stream Device::stream() const { return Stream(std::make_shared<detail::StreamState>(state_)); }

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
  live.owner->device->synchronize(live.handle);
}

void Stream::close() const {
  detail::StreamState &live = state();
  live.owner->device->synchronize(live.handle);
  if (live.isClosed.exchange(true))
    return;
  live.memory.trim(*live.owner->device, live.handle);
  live.owner->device->destroyStream(live.handle);
}

Tensor Stream::tensor(DType dtype, std::span<const int64_t> shape) const {
  return Tensor(*this, dtype, shape);
}

StreamUsage Stream::usage() const { return state().memory.usage(); }

void Stream::trim() const {
  detail::StreamState &live = state();
  live.memory.trim(*live.owner->device, live.handle);
}

Device Stream::device() const { return Device(state().owner); }

} // namespace tile
