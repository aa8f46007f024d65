#include "runtime/device/CudaContext.h"

#include "runtime/device/Device.h"

namespace tile::device {

using namespace cuda;

CudaContext::CudaContext(int ordinal) : driver_(Driver::get()) {
  int count = 0;
  check(driver_.deviceGetCount(&count), "counting CUDA devices");
  if (ordinal < 0 || ordinal >= count)
    throw Error(Fault::User, ErrorCode::NoDevice,
                "there is no CUDA device " + std::to_string(ordinal) + ": the driver has " +
                    std::to_string(count));
  check(driver_.deviceGet(&device_, ordinal), "opening CUDA device " + std::to_string(ordinal));
  // Last: a constructor that throws has nothing to give back.
  check(driver_.primaryRetain(&context_, device_), "creating the CUDA context");
  noteIdentity();
}

CudaContext::CudaContext(CUcontext context)
    : driver_(Driver::get()), context_(context), isOwner_(false) {
  check(driver_.contextPush(context), "using the CUDA context");
  CUresult result = driver_.contextDevice(&device_);
  CUcontext popped = nullptr;
  driver_.contextPop(&popped);
  check(result, "asking for the device of the CUDA context");
  noteIdentity();
}

CudaContext::~CudaContext() {
  if (isOwner_ && !isExiting() && !isOfParent())
    driver_.primaryRelease(device_);
}

// A context that others reset may be made again at the same address, with none of our objects in it.
void CudaContext::noteIdentity() {
  if (driver_.contextIdentity && driver_.contextIdentity(context_, &identity_) != kSuccess)
    identity_ = 0;
}

bool CudaContext::isAnother() const {
  unsigned long long now = 0;
  return identity_ && driver_.contextIdentity(context_, &now) == kSuccess && now != identity_;
}

LastLaunch CudaContext::lastLaunch() const {
  std::lock_guard lock(lastLaunchMutex_);
  return lastLaunch_;
}

void CudaContext::restoreLaunch(const LastLaunch &launch) const {
  std::lock_guard lock(lastLaunchMutex_);
  lastLaunch_ = launch;
}

std::string CudaContext::lastLaunchText() const {
  std::string launch = lastLaunch().describe();
  return launch.empty() ? launch : " (last kernel launched: " + launch + ")";
}

static std::string freeMemoryText(const Driver &driver) {
  size_t free = 0, total = 0;
  if (driver.memGetInfo(&free, &total) != kSuccess)
    return {};
  return "; " + std::to_string(free) + " of " + std::to_string(total) + " bytes are free";
}

void CudaContext::check(CUresult result, const std::string &what) const {
  if (result == kSuccess)
    return;
  if (result == kInvalidHandle && isAnother())
    result = kContextDestroyed;
  if (result == kOutOfMemory)
    throw driverError(result, what, freeMemoryText(driver_));
  if (!isSticky(result))
    throw driverError(result, what);
  lost_ = result;
  throw driverError(result, what + lastLaunchText());
}

CudaContext::Current::Current(const CudaContext &context) : driver_(context.driver_) {
  if (context.isOfParent())
    throw forkedError();
  if (isExiting())
    throw Error(Fault::User, ErrorCode::DeviceLost,
                "the process is exiting: the CUDA driver is no longer called");
  if (context.isLost())
    throw Error(Fault::Device, lostCode(context.lost_),
                std::string(isOfHardware(context.lost_) ? "the GPU" : "the CUDA context") +
                    " was lost by an earlier fault" + context.lastLaunchText() +
                    ": restart the process");
  context.check(driver_.contextPush(context.context_), "using the CUDA context");
}

CudaContext::Current::~Current() {
  CUcontext popped = nullptr;
  driver_.contextPop(&popped);
}

static void require(CUresult result, const char *what) {
  if (result != kSuccess)
    throw driverError(result, what);
}

void *currentCudaContext() {
  CUcontext context = nullptr;
  require(Driver::get().contextCurrent(&context), "asking for the current CUDA context");
  return context;
}

std::optional<int> ordinalOfPrimaryContext(void *context) {
  const Driver &driver = Driver::get();
  int count = 0;
  require(driver.deviceGetCount(&count), "counting CUDA devices");
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = 0;
    CUcontext primary = nullptr;
    unsigned flags = 0;
    int isActive = 0;
    require(driver.deviceGet(&device, ordinal), "opening a CUDA device");
    require(driver.primaryState(device, &flags, &isActive), "asking for a primary context");
    if (!isActive)
      continue; // to retain it would make it
    require(driver.primaryRetain(&primary, device), "asking for a primary context");
    driver.primaryRelease(device);
    if (primary == context)
      return ordinal;
  }
  return std::nullopt;
}

} // namespace tile::device
