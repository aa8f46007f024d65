// Many processes at once, some of which are killed, and system calls that fail: what is read is always whole.
#include "runtime/cache/Entry.h"
#include "runtime/cache/Folder.h"
#include "tests/runtime/cache/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <random>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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

// What the processes below do, in a folder that they are told: all that is read is whole.
TEST(CacheProcesses, WriteAndRead) {
  TemporaryFolder temporary;
  FolderOptions options = optionsOf(temporary);
  if (const char *path = std::getenv("TILE_TEST_FOLDER"))
    options.path = path;
  Folder folder(options);
  for (int i = 0; i < 4; ++i) {
    folder.write(nameOfNumber(i), entryOf(i));
    ASSERT_TRUE(areWhole(folder, 4));
  }
}

// The first, the second, ... system call on files of the folder fails, with this error or that.
TEST(CacheProcesses, AnySystemCallMayFail) {
  std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  for (int error : {EIO, ENOSPC, EACCES})
    for (int call = 1; call <= 60; call += error == EIO ? 1 : 4) {
      TemporaryFolder temporary;
      std::vector<std::string> texts = {"LD_PRELOAD=" FAILING_CALLS,
                                        "TILE_FAIL_CALL=" + std::to_string(call),
                                        "TILE_FAIL_WITH=" + std::to_string(error),
                                        "TILE_TEST_FOLDER=" + temporary.file("kernels")};
      std::vector<char *> variables;
      for (char **variable = environ; *variable; ++variable)
        variables.push_back(*variable);
      for (std::string &text : texts)
        variables.push_back(text.data());
      variables.push_back(nullptr);
      std::string arguments[] = {program, "--gtest_brief=1",
                                 "--gtest_filter=CacheProcesses.WriteAndRead"};
      char *words[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), nullptr};
      posix_spawn_file_actions_t quiet;
      posix_spawn_file_actions_init(&quiet);
      posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
      posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
      pid_t child = 0;
      ASSERT_EQ(::posix_spawn(&child, program.c_str(), &quiet, nullptr, words, variables.data()),
                0);
      posix_spawn_file_actions_destroy(&quiet);
      EXPECT_TRUE(endsWell(child)) << "call " << call << " failing with " << std::strerror(error);
      Folder folder(optionsOf(temporary));
      EXPECT_TRUE(areWhole(folder, 4));
    }
}

} // namespace
} // namespace tile::cache
