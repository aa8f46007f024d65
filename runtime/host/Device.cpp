// The public Device: names to devices, one device a name, handles that stay valid.
#include "base/ForkLocks.h"
#include "runtime/host/Capture.h"
#include "runtime/host/Room.h"
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

// Other threads of the parent held locks, or were in the middle of something, and are not here to end it.
static void refuseForkedAtWork() {
  if (base::wasForkedAtWork())
    throw Error(Fault::User, ErrorCode::ForkedContext,
                "this process was forked while other threads, for seconds, compiled kernels or ran "
                "them on the virtual GPU, or by the function of a kernel: fork when none does, or "
                "start the process by exec");
}

void detail::refuseOfParent(const DeviceState &device) {
  refuseForkedAtWork();
  if (device.device->isOfParent())
    throw Error(Fault::User, ErrorCode::ForkedContext,
                "device " + device.name +
                    " was opened before this process was forked, and a CUDA context does not "
                    "outlive that: fork before the first device is opened, or start the process by "
                    "exec");
}

detail::Storage::Storage(std::shared_ptr<DeviceState> device, size_t bytes) : bytes(bytes) {
  refuseOfParent(*device);
  owner = std::move(device);
  base = withRoom(*owner, [&] { return owner->device->alloc(bytes); });
}

detail::Storage::Storage(const std::shared_ptr<StreamState> &of, size_t bytes) : bytes(bytes) {
  owner = of->owner;
  if (Capture *capture = captureOf(*of)) {
    capture->take(*of, *this, bytes);
    return;
  }
  refuseIfOthersCapture(*of, "memory for a tensor would be allocated", "make it before");
  StreamMemory::Block block =
      withRoom(*owner, [&] { return of->memory.take(*owner->device, of->handle, bytes); });
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
  if (owner->device->isOfParent())
    return;
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
  base::ForkMutex mutex;
  std::map<std::string, std::shared_ptr<detail::DeviceState>, std::less<>> byName;

  static OpenDevices &get() {
    static auto *devices = new OpenDevices;
    return *devices;
  }
};

template <class Open>
std::shared_ptr<detail::DeviceState> openOnce(const std::string &name, Open open) {
  refuseForkedAtWork();
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
  static auto &mutex = *new base::ForkMutex;
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
  detail::refuseOfParent(*state_);
  detail::refuseInCapture(*state_, "Device::synchronize");
  trace::Span span("wait", "for the device");
  state_->device->synchronize();
}

Stream Device::stream(Loc where) const {
  detail::refuseOfParent(*state_);
  return Stream(std::make_shared<detail::StreamState>(state_, where));
}

Stream Device::externalStream(void *native, Loc where) const {
  detail::refuseOfParent(*state_);
  std::lock_guard lock(state_->externalMutex);
  std::weak_ptr<detail::StreamState> &known = state_->externalStreams[native];
  auto state = known.lock();
  if (!state || state->isClosed) {
    state = std::make_shared<detail::StreamState>(state_, native, where);
    known = state;
  }
  return Stream(state);
}

Event Device::event() const {
  detail::refuseOfParent(*state_);
  return Event(std::make_shared<detail::EventState>(state_));
}

} // namespace tile
