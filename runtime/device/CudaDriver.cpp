// Loading libcuda, and the meaning of its result codes.
#include "runtime/device/CudaDriver.h"

#include "base/Fork.h"

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>

namespace tile::device::cuda {
namespace {

[[noreturn]] void noDevice(const std::string &why) {
  throw Error(Fault::Device, ErrorCode::NoDevice, why);
}

class Loader {
public:
  Loader() {
    const char *named = std::getenv("TILE_LIBCUDA");
    bool isNamed = named && *named;
    std::vector<const char *> names = {"libcuda.so.1", "libcuda.so"};
    if (isNamed)
      names = {named};
    for (const char *name : names) {
      library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library_)
        return;
      const char *reason = dlerror();
      why_ += (why_.empty() ? "" : "; ") + std::string(reason ? reason : name);
    }
    noDevice((isNamed ? "no CUDA driver in TILE_LIBCUDA: " : "no CUDA driver: ") + why_);
  }

  template <class F> void need(F &function, const char *symbol) {
    want(function, symbol);
    if (!function)
      noDevice(std::string("the CUDA driver has no ") + symbol +
               ": version 12.0 or newer is needed");
  }
  template <class F> void want(F &function, const char *symbol) {
    function = reinterpret_cast<F>(dlsym(library_, symbol));
  }

private:
  void *library_ = nullptr;
  std::string why_;
};

Driver load() {
  Loader loader;
  Driver driver{};
  loader.need(driver.init, "cuInit");
  loader.need(driver.driverGetVersion, "cuDriverGetVersion");
  loader.need(driver.getErrorName, "cuGetErrorName");
  loader.need(driver.getErrorString, "cuGetErrorString");
  loader.need(driver.deviceGetCount, "cuDeviceGetCount");
  loader.need(driver.deviceGet, "cuDeviceGet");
  loader.need(driver.deviceGetName, "cuDeviceGetName");
  loader.need(driver.deviceGetAttribute, "cuDeviceGetAttribute");
  loader.want(driver.deviceGetPciBusId, "cuDeviceGetPCIBusId");
  loader.need(driver.deviceTotalMem, "cuDeviceTotalMem_v2");
  loader.need(driver.primaryRetain, "cuDevicePrimaryCtxRetain");
  loader.need(driver.primaryRelease, "cuDevicePrimaryCtxRelease_v2");
  loader.need(driver.primaryState, "cuDevicePrimaryCtxGetState");
  loader.need(driver.contextPush, "cuCtxPushCurrent_v2");
  loader.need(driver.contextPop, "cuCtxPopCurrent_v2");
  loader.need(driver.contextCurrent, "cuCtxGetCurrent");
  loader.need(driver.contextDevice, "cuCtxGetDevice");
  loader.need(driver.contextSynchronize, "cuCtxSynchronize");
  loader.want(driver.contextIdentity, "cuCtxGetId");
  loader.need(driver.memAlloc, "cuMemAlloc_v2");
  loader.need(driver.memFree, "cuMemFree_v2");
  loader.want(driver.memAllocAsync, "cuMemAllocAsync");
  loader.want(driver.memFreeAsync, "cuMemFreeAsync");
  loader.need(driver.memGetInfo, "cuMemGetInfo_v2");
  loader.need(driver.copyToDevice, "cuMemcpyHtoDAsync_v2");
  loader.need(driver.copyToHost, "cuMemcpyDtoHAsync_v2");
  loader.need(driver.copyOnDevice, "cuMemcpyDtoDAsync_v2");
  loader.need(driver.memset8, "cuMemsetD8Async");
  loader.need(driver.moduleLoadDataEx, "cuModuleLoadDataEx");
  loader.need(driver.moduleUnload, "cuModuleUnload");
  loader.need(driver.moduleGetFunction, "cuModuleGetFunction");
  loader.need(driver.functionGetAttribute, "cuFuncGetAttribute");
  loader.need(driver.functionSetAttribute, "cuFuncSetAttribute");
  loader.want(driver.functionGetParamInfo, "cuFuncGetParamInfo");
  loader.need(driver.launchKernelEx, "cuLaunchKernelEx");
  loader.want(driver.occupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters");
  loader.need(driver.tensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  loader.need(driver.streamCreate, "cuStreamCreate");
  loader.need(driver.streamDestroy, "cuStreamDestroy_v2");
  loader.need(driver.streamContext, "cuStreamGetCtx");
  loader.need(driver.streamSynchronize, "cuStreamSynchronize");
  loader.need(driver.streamWaitEvent, "cuStreamWaitEvent");
  loader.need(driver.eventCreate, "cuEventCreate");
  loader.need(driver.eventDestroy, "cuEventDestroy_v2");
  loader.need(driver.eventRecord, "cuEventRecord");
  loader.need(driver.eventSynchronize, "cuEventSynchronize");
  loader.need(driver.eventQuery, "cuEventQuery");
  loader.need(driver.eventElapsed, "cuEventElapsedTime");
  loader.want(driver.streamBeginCapture, "cuStreamBeginCapture_v2");
  loader.want(driver.streamEndCapture, "cuStreamEndCapture");
  loader.want(driver.streamIsCapturing, "cuStreamIsCapturing");
  loader.want(driver.graphInstantiate, "cuGraphInstantiateWithFlags");
  loader.want(driver.graphExecUpdate, "cuGraphExecUpdate_v2");
  loader.want(driver.graphLaunch, "cuGraphLaunch");
  loader.want(driver.graphExecDestroy, "cuGraphExecDestroy");
  loader.want(driver.graphDestroy, "cuGraphDestroy");
  CUresult result = driver.init(0);
  if (result != kSuccess)
    noDevice("the CUDA driver does not start: " + driver.describe(result));
  return driver;
}

} // namespace

const Driver &Driver::get() {
  struct Loaded {
    Driver driver = load();
    base::MadeInProcess process;
  };
  // A static's initialiser that throws runs again on the next call.
  static const Loaded loaded;
  if (loaded.process.isOfParent())
    throw forkedError();
  return loaded.driver;
}

// Without a destructor, so that it can be read to the very end.
static std::atomic<bool> exiting = false;

void watchExit() {
  // Handlers run last in, first out: this one before the driver's own, which it set up to get this far.
  [[maybe_unused]] static const int registered = std::atexit([] { exiting = true; });
}

bool isExiting() { return exiting; }

std::string Driver::describe(CUresult result) const {
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  return std::string(name ? name : "unknown result") + " (" + std::to_string(result) + ")" +
         (text ? ": " + std::string(text) : std::string());
}

// Others have taken the context from us, as by cuDevicePrimaryCtxReset or cudaDeviceReset.
static bool isTaken(CUresult result) {
  return result == kContextDestroyed || result == kInvalidContext;
}

bool isOfHardware(CUresult result) {
  return result == kEccUncorrectable || result == kNvlinkUncorrectable;
}

bool isSticky(CUresult result) {
  switch (result) {
  case kIllegalAddress:
  case kLaunchTimeout:
  case kAssert:
  case kHardwareStackError:
  case kIllegalInstruction:
  case kMisalignedAddress:
  case kInvalidAddressSpace:
  case kInvalidPc:
  case kLaunchFailed:
    return true;
  default:
    return isTaken(result) || isOfHardware(result);
  }
}

ErrorCode lostCode(CUresult result) {
  return isOfHardware(result) ? ErrorCode::DeviceLost : ErrorCode::ContextLost;
}

static ErrorCode codeOf(CUresult result) {
  if (isSticky(result))
    return result == kAssert ? ErrorCode::DeviceAssert : lostCode(result);
  switch (result) {
  case kOutOfMemory:
    return ErrorCode::OutOfMemory;
  case kNoDevice:
  case kInvalidDevice:
  case kDeviceUnavailable:
    return ErrorCode::NoDevice;
  case kInvalidPtx:
  case kInvalidImage:
    return ErrorCode::Parse;
  case kNoBinaryForGpu:
  case kUnsupportedPtxVersion:
  case kNotSupported:
    return ErrorCode::Unsupported;
  case kJitCompilerNotFound:
    return ErrorCode::ToolMissing;
  case kInvalidHandle:
    return ErrorCode::InvalidHandle;
  case kLaunchOutOfResources:
    return ErrorCode::ResourceExceeded;
  case kNotInitialized:
  case kDeinitialized:
  case kUnknown:
    return ErrorCode::DeviceLost;
  default:
    return ErrorCode::InvalidArgument;
  }
}

static std::string remedyOf(CUresult result) {
  if (isTaken(result))
    return "; the CUDA context was destroyed or reset by others, with all that was in it: open "
           "devices "
           "after that, in a process where nobody resets them";
  if (isOfHardware(result))
    return "; the GPU is at fault: restart the process on another one, and look for Xid messages "
           "in "
           "the kernel's log";
  if (result == kAssert)
    return "; the driver has printed the kernel's assertion; the process's CUDA context is lost: "
           "restart the process";
  if (isSticky(result))
    return "; the process's CUDA context is lost: restart the process, and run the kernel on the "
           "virtual GPU (TILE_DEVICE=virtual) to find the fault";
  return {};
}

Error driverError(CUresult result, const std::string &what, const std::string &facts) {
  return Error(Fault::Device, codeOf(result),
               what + ": " + Driver::get().describe(result) + facts + remedyOf(result));
}

Error forkedError() {
  return Error(
      Fault::User, ErrorCode::ForkedContext,
      "this process was forked after a CUDA device was opened, which does not outlive that: "
      "fork before the first device is opened, or start the process by exec");
}

} // namespace tile::device::cuda
