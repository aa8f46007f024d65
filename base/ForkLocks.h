// Locks that a process forked while other threads hold them finds open, and what they guard whole.
//
// fork() waits until nobody is in work that may take long (LongWork, WorkMutex), lets nobody begin, and takes the short locks there
// are (ForkMutex), all or none, so that it waits for nobody who waits for it. After two seconds, or where the thread that
// forks is in such work itself, it goes on without: then the child is unsafe, and must be told so instead of waiting for ever.
#pragma once

#include <mutex>

namespace tile::base {

/// Whether this process, or one before it, was forked while others were at work for too long.
bool wasForkedAtWork();

/// Work with locks of our own and of libraries, as a compile. Work in work is fine.
class LongWork {
public:
  LongWork();
  ~LongWork();
  LongWork(const LongWork &) = delete;
  LongWork &operator=(const LongWork &) = delete;
};

/// A mutex whose holder is at work.
class WorkMutex {
public:
  void lock();
  void unlock();

private:
  std::mutex mutex_;
};

/// A mutex for short sections. One that is a static variable must never be destroyed, as fork() looks at all there are.
class ForkMutex {
public:
  ForkMutex();
  ~ForkMutex();
  ForkMutex(const ForkMutex &) = delete;
  ForkMutex &operator=(const ForkMutex &) = delete;

  void lock();
  bool try_lock();
  void unlock();

private:
  friend class ForkLocks;
  std::mutex mutex_;
  ForkMutex *before_ = nullptr, *next_ = nullptr; ///< in the list of all
};

} // namespace tile::base
