// The tests' side of the fake driver.
#include "tests/runtime/device/fakecuda/FakeDriver.h"

#include <utility>

using namespace fakecuda;

#define FAKE_CONTROL __attribute__((visibility("default")))

FAKE_CONTROL void fakeCudaReset() {
  State &driver = state();
  std::lock_guard lock(driver.mutex);
  driver.calls.clear();
  driver.failedCalls.clear();
  driver.images.clear();
  driver.hazards.clear();
  driver.launches.clear();
  driver.tensorMaps.clear();
  driver.faults.clear();
  driver.lost = kSuccess;
  driver.registers = 40, driver.version = 12080;
  driver.eventMilliseconds = 0.5, driver.launchMilliseconds = 0;
  driver.isSlowHost = false;
  driver.unsteadyShare = 0, driver.timedLaunches = 0;
}
FAKE_CONTROL void fakeCudaSetVersion(int version) {
  std::lock_guard lock(state().mutex);
  state().version = version;
}
FAKE_CONTROL void fakeCudaSetClock(double eventMilliseconds, double launchMilliseconds,
                                   bool isSlowHost) {
  std::lock_guard lock(state().mutex);
  state().eventMilliseconds = eventMilliseconds, state().launchMilliseconds = launchMilliseconds;
  state().isSlowHost = isSlowHost;
}
FAKE_CONTROL void fakeCudaSetUnsteady(double share) {
  std::lock_guard lock(state().mutex);
  state().unsteadyShare = share;
}
FAKE_CONTROL void fakeCudaSetRegisters(int count) {
  std::lock_guard lock(state().mutex);
  state().registers = count;
}
FAKE_CONTROL void fakeCudaRecord(bool isOn) {
  std::lock_guard lock(state().mutex);
  state().isRecording = isOn;
}
FAKE_CONTROL void fakeCudaSkipLaunches(bool isOn) { skipsLaunches = isOn; }
FAKE_CONTROL void fakeCudaFail(const char *function, int nth, int result) {
  std::lock_guard lock(state().mutex);
  state().faults[function][nth] = result;
}
FAKE_CONTROL void fakeCudaSetAttribute(int attribute, int value) {
  std::lock_guard lock(state().mutex);
  state().attributes[attribute] = value;
}
FAKE_CONTROL const std::vector<std::string> &fakeCudaCalls() { return state().calls; }
FAKE_CONTROL const std::vector<std::string> &fakeCudaFailedCalls() { return state().failedCalls; }
FAKE_CONTROL uint64_t fakeCudaCallCount() { return state().callCount; }
FAKE_CONTROL const std::vector<FakeLaunch> &fakeCudaLaunches() { return state().launches; }
FAKE_CONTROL const std::vector<FakeTensorMap> &fakeCudaTensorMaps() { return state().tensorMaps; }
FAKE_CONTROL const std::vector<std::string> &fakeCudaHazards() { return state().hazards; }
FAKE_CONTROL const std::vector<std::string> &fakeCudaImages() { return state().images; }
FAKE_CONTROL size_t fakeCudaContextDepth() { return contextStack.depth; }
static void *push(CUcontext context) {
  ++context->retained;
  contextStack.items[contextStack.depth++] = context;
  return context;
}
FAKE_CONTROL void *fakeCudaPushForeignContext(int device) {
  std::lock_guard lock(state().mutex);
  state().foreign.push_back(std::make_unique<CUctx_st>(CUctx_st{device}));
  return push(state().foreign.back().get());
}
FAKE_CONTROL void *fakeCudaPushPrimaryContext(int device) {
  std::lock_guard lock(state().mutex);
  return push(&state().contexts[device]);
}
FAKE_CONTROL void fakeCudaResetPrimary(int device, bool isMadeAgain) {
  std::lock_guard lock(state().mutex);
  dropObjects();
  state().contexts[device].isReset = !isMadeAgain;
  ++state().contexts[device].identity;
}
FAKE_CONTROL void fakeCudaPopContext() {
  std::lock_guard lock(state().mutex);
  --contextStack.items[--contextStack.depth]->retained;
}
FAKE_CONTROL void *fakeCudaMakeStream() {
  std::lock_guard lock(state().mutex);
  auto *stream = new CUstream_st{contextStack.items[contextStack.depth - 1]};
  state().streams.insert(stream);
  return stream;
}
FAKE_CONTROL void fakeCudaEndStream(void *handle) {
  std::lock_guard lock(state().mutex);
  auto *stream = static_cast<CUstream>(handle);
  state().streams.erase(stream);
  delete stream;
}
FAKE_CONTROL void fakeCudaBeginCapture(void *handle) {
  std::lock_guard lock(state().mutex);
  auto *stream = static_cast<CUstream>(handle);
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream;
  stream->capture->thread = std::this_thread::get_id();
}
FAKE_CONTROL size_t fakeCudaEndCapture(void *handle) {
  std::lock_guard lock(state().mutex);
  auto *stream = static_cast<CUstream>(handle);
  std::shared_ptr<Capture> capture = std::exchange(stream->capture, nullptr);
  stream->frontier.clear();
  return capture->isValid ? capture->nodes.size() : 0;
}
FAKE_CONTROL size_t fakeCudaLive(const char *kind) {
  const State &driver = state();
  std::string which(kind);
  if (which == "stream")
    return driver.streams.size();
  if (which == "event")
    return driver.events.size();
  if (which == "module")
    return driver.modules.size();
  if (which == "memory")
    return driver.memory.size();
  if (which == "graph")
    return driver.graphs.size() + driver.graphExecs.size();
  return static_cast<size_t>(driver.contexts[0].retained + driver.contexts[1].retained);
}
