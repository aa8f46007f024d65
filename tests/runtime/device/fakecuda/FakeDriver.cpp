// The driver as a whole, its devices and their contexts.
#include "tests/runtime/device/fakecuda/FakeDriver.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <unistd.h>

namespace fakecuda {
namespace {

const std::set<CUresult> kSticky = {214, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719};
constexpr int kAfterExit = 86; // exit status if the driver is called while the process goes down

void goDown() { state().isDown = true; }

// The result that a test has ordered for this call.
CUresult injected(const char *name) {
  auto found = state().faults.find(name);
  if (found == state().faults.end())
    return kSuccess;
  CUresult result = kSuccess;
  std::map<int, CUresult> later;
  for (auto [count, fault] : found->second)
    if (count == 1)
      result = fault;
    else
      later[count - 1] = fault;
  found->second = later;
  if (kSticky.count(result))
    state().lost = result;
  return result;
}

} // namespace

void dropObjects() {
  State &driver = state();
  for (CUstream stream : driver.streams)
    delete stream;
  for (CUevent event : driver.events)
    delete event;
  for (CUgraphExec exec : driver.graphExecs)
    delete exec;
  driver.streams.clear();
  driver.events.clear();
  driver.graphExecs.clear();
  driver.functions.clear();
  driver.modules.clear();
  driver.memory.clear();
  driver.usedBytes = 0;
}

State &state() {
  static State *one = new State;
  return *one;
}

constinit thread_local ContextStack contextStack = {};
std::atomic<bool> skipsLaunches = false;

Call::Call(const char *name, Needs needs, bool isRecorded) : lock_(state().mutex) {
  State &driver = state();
  if (driver.isDown) {
    std::fprintf(stderr, "fake CUDA driver: %s was called after the driver went down\n", name);
    _exit(kAfterExit);
  }
  ++driver.callCount;
  driver.call = name;
  if (isRecorded && driver.isRecording)
    driver.calls.push_back(name);
  result = injected(name);
  if (result != kSuccess || needs == Needs::Nothing)
    return;
  if (!driver.isInitialised)
    result = kNotInitialized;
  else if (needs == Needs::Context)
    result = !contextStack.depth || !contextStack.items[contextStack.depth - 1]->retained
                 ? kInvalidContext
                 : driver.lost;
}

Answer::Answer(CUresult result) : result(result) {
  State &driver = state();
  if (result != kSuccess && result != kNotReady && driver.isRecording)
    driver.failedCalls.push_back(driver.call + ": " + std::to_string(result));
}

FAKE_API cuInit(unsigned flags) {
  FAKE_ENTER("cuInit", Needs::Nothing);
  if (flags)
    return kInvalidValue;
  if (!state().isInitialised)
    std::atexit(goDown);
  state().isInitialised = true;
  return kSuccess;
}
FAKE_API cuDriverGetVersion(int *version) {
  FAKE_ENTER("cuDriverGetVersion", Needs::Nothing);
  *version = state().version;
  return kSuccess;
}
FAKE_API cuDeviceGetCount(int *count) {
  FAKE_ENTER("cuDeviceGetCount", Needs::Start);
  *count = kDeviceCount;
  return kSuccess;
}
FAKE_API cuDeviceGet(CUdevice *device, int ordinal) {
  FAKE_ENTER("cuDeviceGet", Needs::Start);
  if (ordinal < 0 || ordinal >= kDeviceCount)
    return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}
FAKE_API cuDeviceGetName(char *name, int length, CUdevice device) {
  FAKE_ENTER("cuDeviceGetName", Needs::Start);
  if (device < 0 || device >= kDeviceCount)
    return kInvalidDevice;
  std::snprintf(name, static_cast<size_t>(length), "Fake GPU %d", device);
  return kSuccess;
}
#ifndef FAKE_CUDA_OLD
FAKE_API cuDeviceGetPCIBusId(char *place, int length, CUdevice device) {
  FAKE_ENTER("cuDeviceGetPCIBusId", Needs::Start);
  if (device < 0 || device >= kDeviceCount)
    return kInvalidDevice;
  std::snprintf(place, static_cast<size_t>(length), "0000:%s:00.0", device ? "17" : "65");
  return kSuccess;
}
#endif
FAKE_API cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  FAKE_ENTER("cuDeviceGetAttribute", Needs::Start);
  auto found = state().attributes.find(attribute);
  if (device < 0 || device >= kDeviceCount)
    return kInvalidDevice;
  if (found == state().attributes.end())
    return kInvalidValue;
  *value = found->second;
  return kSuccess;
}
FAKE_API cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  FAKE_ENTER("cuDeviceTotalMem_v2", Needs::Start);
  if (device < 0 || device >= kDeviceCount)
    return kInvalidDevice;
  *bytes = kTotalMemory;
  return kSuccess;
}

FAKE_API cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  FAKE_ENTER("cuDevicePrimaryCtxRetain", Needs::Start);
  if (device < 0 || device >= kDeviceCount)
    return kInvalidDevice;
  std::atexit(goDown); // parts of a real driver start, and so end, with the first context
  *context = &state().contexts[device];
  ++(*context)->retained;
  return kSuccess;
}
FAKE_API cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  FAKE_ENTER("cuDevicePrimaryCtxRelease_v2", Needs::Start);
  if (device < 0 || device >= kDeviceCount)
    return kInvalidDevice;
  CUctx_st &context = state().contexts[device];
  if (!context.retained)
    return kInvalidContext;
  --context.retained;
  context.isReset &= context.retained > 0;
  // Memory that could not be freed in a lost context goes with it.
  if (state().lost != kSuccess && fakeCudaLive("context") == 0)
    dropObjects();
  return kSuccess;
}
FAKE_API cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *isActive) {
  FAKE_ENTER("cuDevicePrimaryCtxGetState", Needs::Start);
  if (device < 0 || device >= kDeviceCount)
    return kInvalidDevice;
  *flags = 0;
  *isActive = state().contexts[device].retained > 0;
  return kSuccess;
}
FAKE_API cuCtxGetCurrent(CUcontext *context) {
  FAKE_ENTER("cuCtxGetCurrent", Needs::Start);
  *context = contextStack.depth ? contextStack.items[contextStack.depth - 1] : nullptr;
  return kSuccess;
}
FAKE_API cuCtxGetDevice(CUdevice *device) {
  FAKE_ENTER("cuCtxGetDevice", Needs::Context);
  *device = contextStack.items[contextStack.depth - 1]->device;
  return kSuccess;
}
FAKE_API cuCtxGetId(CUcontext context, unsigned long long *identity) {
  FAKE_ENTER("cuCtxGetId", Needs::Start, false);
  *identity = context->identity;
  return kSuccess;
}
FAKE_API cuCtxPushCurrent_v2(CUcontext context) {
  if (skipsLaunches) {
    contextStack.items[contextStack.depth++] = context;
    return kSuccess;
  }
  FAKE_ENTER("cuCtxPushCurrent_v2", Needs::Start, false);
  if (!context || !context->retained)
    return kInvalidContext;
  if (context->isReset)
    return kContextDestroyed;
  if (contextStack.depth == std::size(contextStack.items))
    return kOutOfMemory;
  contextStack.items[contextStack.depth++] = context;
  return kSuccess;
}
FAKE_API cuCtxPopCurrent_v2(CUcontext *context) {
  if (skipsLaunches) {
    *context = contextStack.items[--contextStack.depth];
    return kSuccess;
  }
  FAKE_ENTER("cuCtxPopCurrent_v2", Needs::Start, false);
  if (!contextStack.depth)
    return kInvalidContext;
  *context = contextStack.items[--contextStack.depth];
  return kSuccess;
}
FAKE_API cuCtxSynchronize() {
  FAKE_ENTER("cuCtxSynchronize", Needs::Context);
  if (CUresult result = refuseAnyCapture(); result != kSuccess)
    return result;
  complete(nullptr, state().nullStream.submitted);
  for (CUstream stream : state().streams)
    complete(stream, stream->submitted);
  return kSuccess;
}

} // namespace fakecuda
