// A library that exports the functions of NVML that are used. FAKE_NVML_OLD is one of before version 535, which has the reasons
// under another name and no more than it must.
#include "tests/runtime/device/fakenvml/FakeNvml.h"

#include <deque>
#include <map>
#include <string>

#define FAKE_API extern "C" __attribute__((visibility("default")))

namespace {

enum : int {
  kSuccess = 0,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kLost = 15
};
constexpr const char *kPlaces[] = {"0000:65:00.0", "0000:17:00.0"};

struct State {
  FakeGpu gpus[2];
  std::map<std::string, int> faults;
  std::deque<FakeGpu> next;
  FakeGpu now; // as it was when a clock was read last
  int readings = 0;
};
State &state() {
  static State *one = new State;
  return *one;
}
int faultOf(const char *function) {
  auto found = state().faults.find(function);
  return found == state().faults.end() ? kSuccess : found->second;
}
/// A result, or the fault that a test has ordered.
template <class Act> int answer(const char *function, Act act) {
  int fault = faultOf(function);
  if (!fault)
    act();
  return fault;
}

} // namespace

FAKE_API void fakeNvmlReset() { state() = {}; }
FAKE_API FakeGpu *fakeNvmlGpu(int cudaDevice) { return &state().gpus[cudaDevice]; }
FAKE_API void fakeNvmlFail(const char *function, int result) { state().faults[function] = result; }
FAKE_API void fakeNvmlNext(unsigned megahertz, unsigned long long reasons, int readings) {
  FakeGpu gpu;
  gpu.megahertz = megahertz, gpu.reasons = reasons;
  state().next.insert(state().next.end(), static_cast<size_t>(readings), gpu);
}
FAKE_API int fakeNvmlReadings() { return state().readings; }

FAKE_API int nvmlInit_v2() { return faultOf("nvmlInit_v2"); }
FAKE_API const char *nvmlErrorString(int result) {
  switch (result) {
  case kNotSupported:
    return "Not Supported";
  case kNoPermission:
    return "Insufficient Permissions";
  case kNotFound:
    return "Not Found";
  case kLost:
    return "GPU is lost";
  default:
    return "Unknown Error";
  }
}
FAKE_API int nvmlDeviceGetHandleByPciBusId_v2(const char *place, FakeGpu **device) {
  if (int fault = faultOf("nvmlDeviceGetHandleByPciBusId_v2"))
    return fault;
  for (int i = 0; i < 2; ++i)
    if (std::string(place) == kPlaces[i]) {
      *device = &state().gpus[i];
      return kSuccess;
    }
  return kNotFound;
}
FAKE_API int nvmlDeviceGetClockInfo(FakeGpu *device, int kind, unsigned *megahertz) {
  constexpr int kMultiprocessors = 1;
  if (kind != kMultiprocessors)
    return kInvalidArgument;
  return answer("nvmlDeviceGetClockInfo", [&] {
    ++state().readings;
    state().now = *device;
    if (device == &state().gpus[0] && !state().next.empty())
      state().now = state().next.front(), state().next.pop_front();
    *megahertz = state().now.megahertz;
  });
}
static int reasonsOf(const char *function, unsigned long long *reasons) {
  return answer(function, [&] { *reasons = state().now.reasons; });
}
#ifdef FAKE_NVML_OLD
FAKE_API int nvmlDeviceGetCurrentClocksThrottleReasons(FakeGpu *, unsigned long long *reasons) {
  return reasonsOf("nvmlDeviceGetCurrentClocksThrottleReasons", reasons);
}
#else
FAKE_API int nvmlDeviceGetCurrentClocksEventReasons(FakeGpu *, unsigned long long *reasons) {
  return reasonsOf("nvmlDeviceGetCurrentClocksEventReasons", reasons);
}
FAKE_API int nvmlDeviceGetMigMode(FakeGpu *device, unsigned *current, unsigned *pending) {
  return answer("nvmlDeviceGetMigMode", [&] { *current = *pending = device->isDivided; });
}
FAKE_API int nvmlDeviceGetTemperature(FakeGpu *device, int, unsigned *celsius) {
  return answer("nvmlDeviceGetTemperature", [&] { *celsius = device->celsius; });
}
FAKE_API int nvmlDeviceGetPowerUsage(FakeGpu *device, unsigned *milliwatts) {
  return answer("nvmlDeviceGetPowerUsage", [&] { *milliwatts = device->milliwatts; });
}
#endif
