// Many processes at once, some of which are killed, and system calls that fail: what is read is always whole.
#include "runtime/cache/Entry.h"
#include "runtime/cache/Folder.h"
#include "tests/runtime/cache/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <random>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace tile::cache {
namespace {

using test::TemporaryFolder;

/// An entry that says of itself whether it is whole, of a length that differs.
std::vector<std::byte> entryOf(int number) {
  Entry entry = {"key " + std::to_string(number), "{}", {}, {}};
  std::mt19937 random(static_cast<unsigned>(number));
  for (int i = 0, length = 500 + number * 37 % 4000; i < length; ++i)
    entry.ptx += static_cast<char>('a' + random() % 26);
  return encode(entry);
}

std::string nameOfNumber(int number) { return nameOf("key " + std::to_string(number)); }

FolderOptions optionsOf(const TemporaryFolder &temporary, int64_t mostBytes = int64_t(1) << 30) {
  FolderOptions options;
  options.path = temporary.file("kernels");
  options.mostBytes = mostBytes;
  return options;
}

// Reads what there is of so many entries; false if one is there and not whole.
bool areWhole(Folder &folder, int count, int *found = nullptr) {
  for (int i = 0; i < count; ++i)
    if (auto bytes = folder.read(nameOfNumber(i))) {
      std::optional<Entry> entry = decode(*bytes);
      if (!entry || entry->key != "key " + std::to_string(i))
        return false;
      if (found)
        ++*found;
    }
  return true;
}

// A process that does something and says by its status whether all was well.
template <class Act> pid_t inProcess(Act act) {
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(act() ? 0 : 1);
  return child;
}

bool endsWell(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Eight processes of sixteen threads write and read the same entries, in a folder that is too small for all.
TEST(CacheProcesses, ManyAtOnceReadWholeEntries) {
  constexpr int kProcesses = 8, kThreads = 16, kEntries = 40;
  TemporaryFolder temporary;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process)
    children.push_back(inProcess([&] {
      Folder folder(optionsOf(temporary, 40000));
      std::atomic<bool> isWell = folder.refusal().empty();
      std::vector<std::thread> threads;
      for (int thread = 0; thread < kThreads; ++thread)
        threads.emplace_back([&, thread] {
          for (int i = 0; i < kEntries; ++i) {
            int number = (i * 7 + thread * 3 + process) % kEntries;
            folder.write(nameOfNumber(number), entryOf(number));
            if (!areWhole(folder, 8))
              isWell = false;
          }
        });
      for (std::thread &thread : threads)
        thread.join();
      return isWell.load();
    }));
  for (pid_t child : children)
    EXPECT_TRUE(endsWell(child));
  Folder folder(optionsOf(temporary));
  EXPECT_TRUE(areWhole(folder, kEntries));
}

TEST(CacheProcesses, WritersThatAreKilledLeaveNothingHalf) {
  constexpr int kKills = 200, kEntries = 50;
  TemporaryFolder temporary;
  std::mt19937 random(1);
  for (int kill = 0; kill < kKills; ++kill) {
    pid_t writer = inProcess([&] {
      Folder folder(optionsOf(temporary));
      for (int i = 0;; ++i)
        folder.write(nameOfNumber(i % kEntries), entryOf(i % kEntries));
      return true;
    });
    ::usleep(random() % 3000);
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    Folder folder(optionsOf(temporary));
    ASSERT_TRUE(areWhole(folder, kEntries)) << "after " << kill << " kills";
  }
  int found = 0;
  Folder folder(optionsOf(temporary));
  EXPECT_TRUE(areWhole(folder, kEntries, &found));
  EXPECT_GT(found, 0);
}

/// Whether all that is read is whole, be it written or not.
bool writesAndReads(const TemporaryFolder &temporary) {
  Folder folder(optionsOf(temporary));
  for (int i = 0; i < 4; ++i) {
    folder.write(nameOfNumber(i), entryOf(i));
    if (!areWhole(folder, 4))
      return false;
  }
  return true;
}

/// The same in a process of its own, one of whose system calls on files of the folder fails (FailingCalls.cpp).
pid_t writingWithoutCall(const TemporaryFolder &temporary, int call, int error) {
  return inProcess([&] {
    ::setenv("TILE_TEST_FOLDER", temporary.file("kernels").c_str(), 1);
    ::setenv("TILE_FAIL_WITH", std::to_string(error).c_str(), 1);
    ::setenv("TILE_FAIL_CALL", std::to_string(call).c_str(), 1);
    return writesAndReads(temporary);
  });
}

// The first, the second, ... system call fails, with this error or that.
TEST(CacheProcesses, AnySystemCallMayFail) {
  for (int error : {EIO, ENOSPC, EACCES})
    for (int call = 1; call <= 60; call += error == EIO ? 1 : 4) {
      TemporaryFolder temporary;
      EXPECT_TRUE(endsWell(writingWithoutCall(temporary, call, error)))
          << "call " << call << " failing with " << std::strerror(error);
      Folder folder(optionsOf(temporary));
      EXPECT_TRUE(areWhole(folder, 4));
    }
}

} // namespace
} // namespace tile::cache
