// A context of the CUDA driver. Every driver call goes through check(), which turns results into errors and remembers when the
// context is lost: from then on each call fails at once with ContextLost, or DeviceLost, naming the kernel launched last. So does
// each call in a process that was forked, with ForkedContext: there the driver must not be called at all.
#pragma once

#include "base/Fork.h"
#include "runtime/device/CudaDriver.h"
#include "runtime/device/LastLaunch.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

namespace tile::device {

/// Throws an error of whoever calls the device.
[[noreturn]] inline void refuse(ErrorCode code, const std::string &message) {
  throw Error(Fault::User, code, message);
}

class CudaContext {
public:
  /// The primary context of a device, of which it holds a reference.
  explicit CudaContext(int ordinal);
  /// A context of others, which is left alone.
  explicit CudaContext(cuda::CUcontext context);
  CudaContext(const CudaContext &) = delete;
  ~CudaContext();

  const cuda::Driver &driver() const { return driver_; }
  cuda::CUdevice device() const { return device_; }
  cuda::CUcontext handle() const { return context_; }

  /// Throws unless the call succeeded; `what` says what it was for. Of literals no string is made unless there is something
  /// to say.
  void check(cuda::CUresult result, const char *what) const {
    if (result != cuda::kSuccess)
      check(result, std::string(what));
  }
  void check(cuda::CUresult result, const std::string &what) const;
  /// Waits for all work of the context, once no graph is captured: for the driver either would be a fault of the other.
  void synchronize(const char *what) const {
    std::shared_lock lock(captureMutex_);
    check(driver_.contextSynchronize(), what);
  }
  /// Held alone by who captures.
  std::shared_mutex &captureMutex() const { return captureMutex_; }
  /// A kernel has been launched: the one that messages name if the context is lost.
  template <class... Launch> void noteLaunch(Launch &&...launch) const {
    std::lock_guard lock(lastLaunchMutex_);
    lastLaunch_.note(std::forward<Launch>(launch)...);
  }
  LastLaunch lastLaunch() const;
  void restoreLaunch(const LastLaunch &launch) const;

  /// Whether it was made before this process was forked.
  bool isOfParent() const { return process_.isOfParent(); }

  /// Calls `use()` in the context, for a destructor: not if it is lost or of another process, or the process ends, as nothing is
  /// left to be freed.
  template <class Use> void useLast(Use use) const {
    if (isOfParent() || cuda::isExiting() || isLost() ||
        driver_.contextPush(context_) != cuda::kSuccess)
      return;
    use();
    cuda::CUcontext popped = nullptr;
    driver_.contextPop(&popped);
  }

  /// Makes the context current for the calling thread while it lives.
  class Current {
  public:
    explicit Current(const CudaContext &context);
    Current(const Current &) = delete;
    ~Current();

  private:
    const cuda::Driver &driver_;
  };

private:
  bool isLost() const { return lost_ != cuda::kSuccess; }
  std::string lastLaunchText() const;
  void noteIdentity();
  bool isAnother() const;

  const cuda::Driver &driver_;
  cuda::CUdevice device_ = 0;
  cuda::CUcontext context_ = nullptr;
  bool isOwner_ = true;             // of a reference to the context
  unsigned long long identity_ = 0; // 0: the driver has none
  base::MadeInProcess process_;
  mutable std::atomic<cuda::CUresult> lost_ = cuda::kSuccess; // the result that lost it
  mutable std::shared_mutex captureMutex_;
  mutable std::mutex lastLaunchMutex_;
  mutable LastLaunch lastLaunch_;
};

} // namespace tile::device
