#include "base/ForkLocks.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <new>
#include <thread>

#include <pthread.h>

namespace tile::base {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kMostToWait = std::chrono::seconds(2);
constexpr auto kPause = std::chrono::microseconds(100);

thread_local int workOfThread = 0, locksOfThread = 0;
std::atomic<bool> isUnsafe = false;

} // namespace

/// What fork() waits for and takes.
class ForkLocks {
public:
  /// Never destroyed: threads work, and static variables go, to the very end of the process.
  static ForkLocks &get() {
    static auto *locks = new ForkLocks;
    return *locks;
  }

  void enter() {
    std::unique_lock lock(mutex_);
    // Who holds a lock must be let through, as fork() waits for that lock.
    if (locksOfThread == 0)
      mayBegin_.wait(lock, [&] { return !isForking_; });
    ++working_;
  }
  void leave() {
    std::lock_guard lock(mutex_);
    if (--working_ == 0 && isForking_)
      hasEnded_.notify_all();
  }

  void add(ForkMutex &mutex) {
    std::lock_guard lock(mutex_);
    mutex.next_ = first_;
    if (first_)
      first_->before_ = &mutex;
    first_ = &mutex;
  }
  void remove(ForkMutex &mutex) {
    std::lock_guard lock(mutex_);
    (mutex.before_ ? mutex.before_->next_ : first_) = mutex.next_;
    if (mutex.next_)
      mutex.next_->before_ = mutex.before_;
  }

  void beforeFork() {
    bool isTaken = workOfThread == 0 && locksOfThread == 0 && takeAll();
    if (!isTaken)
      mutex_.lock(); // nobody holds it for long
    isTaken_ = isTaken;
  }
  void inParent() {
    if (isTaken_)
      giveBack(nullptr);
    isForking_ = false;
    mutex_.unlock();
    mayBegin_.notify_all();
  }
  /// Other threads are gone, and with them who waited.
  void inChild() {
    for (ForkMutex *mutex = first_; mutex && isTaken_; mutex = mutex->next_)
      new (&mutex->mutex_) std::mutex;
    new (&mutex_) std::mutex;
    new (&mayBegin_) std::condition_variable;
    new (&hasEnded_) std::condition_variable;
    isForking_ = false;
    working_ = workOfThread > 0;
    if (!isTaken_)
      isUnsafe = true;
  }

private:
  bool takeAll() {
    Clock::time_point deadline = Clock::now() + kMostToWait;
    for (; Clock::now() < deadline; std::this_thread::sleep_for(kPause)) {
      std::unique_lock lock(mutex_);
      isForking_ = true;
      if (!hasEnded_.wait_until(lock, deadline, [&] { return working_ == 0; }))
        return false;
      if (takeLocks()) {
        lock.release(); // until fork() is over
        return true;
      }
    }
    return false;
  }
  bool takeLocks() {
    for (ForkMutex *mutex = first_; mutex; mutex = mutex->next_)
      if (!mutex->mutex_.try_lock()) {
        giveBack(mutex);
        return false;
      }
    return true;
  }
  void giveBack(const ForkMutex *end) {
    for (ForkMutex *mutex = first_; mutex != end; mutex = mutex->next_)
      mutex->mutex_.unlock();
  }

  std::mutex mutex_; ///< guards what follows
  std::condition_variable mayBegin_, hasEnded_;
  ForkMutex *first_ = nullptr;
  int working_ = 0; ///< threads
  bool isForking_ = false, isTaken_ = false;
};

[[maybe_unused]] static const int registered =
    pthread_atfork([] { ForkLocks::get().beforeFork(); }, [] { ForkLocks::get().inParent(); },
                   [] { ForkLocks::get().inChild(); });

bool wasForkedAtWork() { return isUnsafe; }

LongWork::LongWork() {
  if (workOfThread++ == 0)
    ForkLocks::get().enter();
}
LongWork::~LongWork() {
  if (--workOfThread == 0)
    ForkLocks::get().leave();
}

void WorkMutex::lock() {
  if (workOfThread++ == 0)
    ForkLocks::get().enter();
  mutex_.lock();
}
void WorkMutex::unlock() {
  mutex_.unlock();
  if (--workOfThread == 0)
    ForkLocks::get().leave();
}

ForkMutex::ForkMutex() { ForkLocks::get().add(*this); }
ForkMutex::~ForkMutex() { ForkLocks::get().remove(*this); }
void ForkMutex::lock() {
  mutex_.lock();
  ++locksOfThread;
}
bool ForkMutex::try_lock() {
  bool isTaken = mutex_.try_lock();
  locksOfThread += isTaken;
  return isTaken;
}
void ForkMutex::unlock() {
  --locksOfThread;
  mutex_.unlock();
}

} // namespace tile::base
