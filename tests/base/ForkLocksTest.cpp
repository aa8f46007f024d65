// The locks by themselves: which of them a child finds open, and when fork() does not wait any longer.
#include "base/ForkLocks.h"
#include "tests/base/Children.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace tile::base {
namespace {

using std::chrono::milliseconds;
using test::isFineInChild;

TEST(ForkLocks, AreOpenInAChildThoughThreadsHoldThemAllTheTime) {
  ForkMutex first, second;
  WorkMutex device;
  std::atomic<bool> isOver = false;
  int64_t a = 0, b = 0;
  auto inTurns = [&](ForkMutex &one, ForkMutex &other) {
    while (!isOver) {
      std::lock_guard outer(one);
      ++a;
      std::lock_guard inner(other);
      ++b;
    }
  };
  std::vector<std::thread> threads;
  threads.emplace_back([&] { inTurns(first, second); });
  threads.emplace_back([&] {
    while (!isOver) {
      std::lock_guard lock(second);
      LongWork work; // of a thread that holds a lock
    }
  });
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!isOver) {
        std::lock_guard lock(device);
        std::this_thread::sleep_for(milliseconds(1));
      }
    });
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(isFineInChild([&] {
      std::scoped_lock all(first, second);
      std::lock_guard own(device);
      return a == b && !wasForkedAtWork();
    })) << i;
  isOver = true;
  for (std::thread &thread : threads)
    thread.join();
}

TEST(ForkLocks, ChildrenForkToo) {
  ForkMutex mutex;
  EXPECT_TRUE(isFineInChild([&] {
    return isFineInChild([&] {
      std::lock_guard lock(mutex);
      return true;
    });
  }));
}

TEST(ForkLocks, OfWorkThatDoesNotEndTheChildIsTold) {
  std::atomic<bool> hasBegun = false, isOver = false;
  std::thread works([&] {
    LongWork work;
    hasBegun = true;
    while (!isOver)
      std::this_thread::sleep_for(milliseconds(1));
  });
  while (!hasBegun)
    std::this_thread::yield();
  auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(isFineInChild([] { return wasForkedAtWork(); }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_FALSE(wasForkedAtWork()) << "the parent is as it was";
  isOver = true;
  works.join();
  EXPECT_TRUE(isFineInChild([] { return !wasForkedAtWork(); }));
}

TEST(ForkLocks, OfTheOwnThreadsWorkTheChildIsToldAtOnce) {
  LongWork work;
  EXPECT_TRUE(isFineInChild([] { return wasForkedAtWork(); }));
  ForkMutex mutex;
  std::lock_guard lock(mutex);
  EXPECT_TRUE(isFineInChild([] { return wasForkedAtWork(); }));
}

} // namespace
} // namespace tile::base
