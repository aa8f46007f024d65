#include "tests/runtime/device/faulty/FaultyDevice.h"

#include <cstdlib>
#include <thread>

namespace tile::device {

using namespace std::chrono_literals;

constexpr auto kLongestHang = 10s;
constexpr auto kDelay = 50ms;

FaultyDevice::FaultyDevice(std::shared_ptr<Device> inner, std::vector<DeviceFault> faults)
    : inner_(std::move(inner)), faults_(std::move(faults)) {}

std::shared_ptr<FaultyDevice> FaultyDevice::ofEnvironment(std::shared_ptr<Device> inner) {
  const char *text = std::getenv("TILE_FAULT");
  return std::make_shared<FaultyDevice>(std::move(inner), parseFaults(text ? text : ""));
}

// --- Faults --------------------------------------------------------------------------------------

void FaultyDevice::order(DeviceFault fault) {
  std::lock_guard lock(mutex_);
  fault.nth += calls_[static_cast<size_t>(fault.seam)];
  faults_.push_back(fault);
}

void FaultyDevice::release() {
  std::lock_guard lock(mutex_);
  isHanging_ = false;
  released_.notify_all();
}

uint64_t FaultyDevice::calls(Seam seam) const {
  std::lock_guard lock(mutex_);
  return calls_[static_cast<size_t>(seam)];
}

uint64_t FaultyDevice::passed() const {
  std::lock_guard lock(mutex_);
  return passed_;
}

std::optional<DeviceFault::Kind> FaultyDevice::faultAt(Seam seam) {
  std::lock_guard lock(mutex_);
  uint64_t now = ++calls_[static_cast<size_t>(seam)];
  for (const DeviceFault &fault : faults_)
    if (fault.seam == seam && fault.nth == now)
      return fault.kind;
  return std::nullopt;
}

void FaultyDevice::requireAlive() const {
  std::lock_guard lock(mutex_);
  if (lost_)
    throw Error(Fault::Device, *lost_,
                "the device was lost by an earlier fault (last kernel launched: " +
                    lastLaunch_.describe() + ")");
}

void FaultyDevice::lose(ErrorCode code, const std::string &what) {
  std::lock_guard lock(mutex_);
  lost_ = code;
  throw Error(Fault::Device, code,
              what + ": the device is lost, as was ordered (last kernel launched: " +
                  lastLaunch_.describe() + ")");
}

void FaultyDevice::waitForRelease() {
  std::unique_lock lock(mutex_);
  released_.wait_for(lock, kLongestHang, [&] { return !isHanging_; });
  isHanging_ = false;
}

void FaultyDevice::enter(Seam seam, const std::string &what) {
  std::optional<Kind> fault = faultAt(seam);
  requireAlive();
  if (std::lock_guard lock(mutex_); isPoisoned_)
    fault = Kind::Illegal;
  if (!fault)
    return;
  switch (*fault) {
  case Kind::OutOfMemory:
    throw Error(Fault::Device, ErrorCode::OutOfMemory,
                what + ": no memory is left, as was ordered; 0 bytes are free");
  case Kind::Refuse:
    throw Error(Fault::Device, ErrorCode::ResourceExceeded, what + ": refused, as was ordered");
  case Kind::Lost:
    lose(ErrorCode::DeviceLost, what);
  case Kind::Illegal:
    if (std::lock_guard lock(mutex_); seam == Seam::Launch && !isPoisoned_) {
      isPoisoned_ = true;
      return;
    }
    lose(ErrorCode::ContextLost, what);
  case Kind::Hang: {
    {
      std::lock_guard lock(mutex_);
      isHanging_ = true;
    }
    if (seam != Seam::Launch)
      waitForRelease();
    return;
  }
  case Kind::Delay:
    std::this_thread::sleep_for(kDelay);
  }
}

template <class Call> decltype(auto) FaultyDevice::pass(Call call) const {
  requireAlive();
  {
    std::lock_guard lock(mutex_);
    ++passed_;
  }
  return call(*inner_);
}

// --- Memory --------------------------------------------------------------------------------------

DevicePtr FaultyDevice::alloc(size_t bytes, Stream stream, Loc where) {
  enter(Seam::Alloc, std::to_string(bytes) + " bytes asked for");
  return pass([&](Device &device) { return device.alloc(bytes, stream, where); });
}
void FaultyDevice::free(DevicePtr pointer, Stream stream, Loc where) {
  pass([&](Device &device) { device.free(pointer, stream, where); });
}
std::optional<Allocation> FaultyDevice::allocationOf(DevicePtr pointer) const {
  return inner_->allocationOf(pointer);
}
void FaultyDevice::copyToDevice(DevicePtr target, const void *source, size_t bytes, Stream stream,
                                Loc where) {
  enter(Seam::Copy, "copyToDevice");
  waitForRelease();
  pass([&](Device &device) { device.copyToDevice(target, source, bytes, stream, where); });
}
void FaultyDevice::copyToHost(void *target, DevicePtr source, size_t bytes, Stream stream,
                              Loc where) {
  enter(Seam::Copy, "copyToHost");
  waitForRelease();
  pass([&](Device &device) { device.copyToHost(target, source, bytes, stream, where); });
}
void FaultyDevice::copyToDeviceAsync(DevicePtr target, const void *source, size_t bytes,
                                     Stream stream, Loc where) {
  enter(Seam::Copy, "copyToDeviceAsync");
  pass([&](Device &device) { device.copyToDeviceAsync(target, source, bytes, stream, where); });
}
void FaultyDevice::copyToHostAsync(void *target, DevicePtr source, size_t bytes, Stream stream,
                                   Loc where) {
  enter(Seam::Copy, "copyToHostAsync");
  pass([&](Device &device) { device.copyToHostAsync(target, source, bytes, stream, where); });
}
void FaultyDevice::copyOnDevice(DevicePtr target, DevicePtr source, size_t bytes, Stream stream,
                                Loc where) {
  enter(Seam::Copy, "copyOnDevice");
  pass([&](Device &device) { device.copyOnDevice(target, source, bytes, stream, where); });
}
void FaultyDevice::discard(DevicePtr pointer, size_t bytes, Stream stream) {
  pass([&](Device &device) { device.discard(pointer, bytes, stream); });
}
void FaultyDevice::noteRead(DevicePtr base, size_t elementBytes, std::span<const int64_t> extents,
                            std::span<const int64_t> strides, Loc where) {
  pass([&](Device &device) { device.noteRead(base, elementBytes, extents, strides, where); });
}
void FaultyDevice::fill(DevicePtr target, uint8_t value, size_t bytes, Stream stream, Loc where) {
  enter(Seam::Copy, "fill");
  pass([&](Device &device) { device.fill(target, value, bytes, stream, where); });
}

// --- Kernels -------------------------------------------------------------------------------------

Module FaultyDevice::loadModule(std::string_view ptx, std::span<const std::byte> cubin,
                                std::string_view name) {
  enter(Seam::Load, "loading " + std::string(name));
  return pass([&](Device &device) { return device.loadModule(ptx, cubin, name); });
}
void FaultyDevice::unloadModule(Module module) {
  pass([&](Device &device) { device.unloadModule(module); });
}
Function FaultyDevice::getFunction(Module module, std::string_view name) {
  return pass([&](Device &device) { return device.getFunction(module, name); });
}
FunctionInfo FaultyDevice::functionInfo(Function function) const {
  return pass([&](Device &device) { return device.functionInfo(function); });
}
std::optional<int64_t> FaultyDevice::clustersAtOnce(Function function,
                                                    const LaunchConfig &config) const {
  return pass([&](Device &device) { return device.clustersAtOnce(function, config); });
}
void FaultyDevice::launch(Function function, const LaunchConfig &config, std::span<const Arg> args,
                          Stream stream) {
  std::string name = functionInfo(function).name;
  enter(Seam::Launch, "launch of " + name);
  pass([&](Device &device) { device.launch(function, config, args, stream); });
  std::lock_guard lock(mutex_);
  lastLaunch_.note(std::make_shared<const std::string>(name), config, args);
}
TensorMap FaultyDevice::encodeTensorMap(const TensorMapParams &params) {
  return pass([&](Device &device) { return device.encodeTensorMap(params); });
}
std::string FaultyDevice::lastLaunch() const {
  std::lock_guard lock(mutex_);
  return lastLaunch_.describe();
}

// --- Streams and events --------------------------------------------------------------------------

Stream FaultyDevice::createStream(Loc where) {
  return pass([&](Device &device) { return device.createStream(where); });
}
Stream FaultyDevice::adoptStream(void *native, Loc where) {
  return pass([&](Device &device) { return device.adoptStream(native, where); });
}
void *FaultyDevice::nativeOf(Stream stream) const { return inner_->nativeOf(stream); }
void FaultyDevice::destroyStream(Stream stream) {
  pass([&](Device &device) { device.destroyStream(stream); });
}
void FaultyDevice::synchronize(Stream stream) {
  enter(Seam::Synchronize, "waiting for a stream");
  waitForRelease();
  pass([&](Device &device) { device.synchronize(stream); });
}
void FaultyDevice::synchronize() {
  enter(Seam::Synchronize, "waiting for the device");
  waitForRelease();
  pass([&](Device &device) { device.synchronize(); });
}
void FaultyDevice::drain(Stream stream) noexcept {
  waitForRelease();
  inner_->drain(stream);
}
void FaultyDevice::drain() noexcept {
  waitForRelease();
  inner_->drain();
}
Event FaultyDevice::createEvent() {
  enter(Seam::Event, "creating an event");
  return pass([&](Device &device) { return device.createEvent(); });
}
void FaultyDevice::destroyEvent(Event event) {
  pass([&](Device &device) { device.destroyEvent(event); });
}
void FaultyDevice::record(Event event, Stream stream) {
  enter(Seam::Event, "recording an event");
  pass([&](Device &device) { device.record(event, stream); });
}
void FaultyDevice::wait(Stream stream, Event event) {
  enter(Seam::Wait, "making a stream wait");
  pass([&](Device &device) { device.wait(stream, event); });
}
void FaultyDevice::synchronize(Event event) {
  enter(Seam::Synchronize, "waiting for an event");
  waitForRelease();
  pass([&](Device &device) { device.synchronize(event); });
}
bool FaultyDevice::isDone(Event event) {
  enter(Seam::Wait, "asking whether an event has been reached");
  if (std::lock_guard lock(mutex_); isHanging_)
    return false;
  return pass([&](Device &device) { return device.isDone(event); });
}
bool FaultyDevice::waitUntil(Event event, std::chrono::steady_clock::time_point deadline) {
  {
    std::unique_lock lock(mutex_);
    if (!released_.wait_until(lock, deadline, [&] { return !isHanging_; }))
      return false;
  }
  enter(Seam::Synchronize, "waiting for an event");
  return pass([&](Device &device) { return device.waitUntil(event, deadline); });
}
float FaultyDevice::elapsedMs(Event start, Event stop) {
  enter(Seam::Event, "timing events");
  waitForRelease();
  return pass([&](Device &device) { return device.elapsedMs(start, stop); });
}
Work FaultyDevice::countWork(const std::function<void()> &give) { return inner_->countWork(give); }

// --- Graphs --------------------------------------------------------------------------------------

Graph FaultyDevice::createGraph(std::shared_ptr<const GraphWork> work) {
  return pass([&](Device &device) { return device.createGraph(std::move(work)); });
}
void FaultyDevice::updateGraph(Graph graph, std::shared_ptr<const GraphWork> work) {
  pass([&](Device &device) { device.updateGraph(graph, std::move(work)); });
}
void FaultyDevice::replay(Graph graph, Stream stream) {
  enter(Seam::Launch, "replaying a graph");
  pass([&](Device &device) { device.replay(graph, stream); });
}
void FaultyDevice::destroyGraph(Graph graph) {
  pass([&](Device &device) { device.destroyGraph(graph); });
}
bool FaultyDevice::isCapturedByOthers(Stream stream) const {
  return inner_->isCapturedByOthers(stream);
}

} // namespace tile::device
