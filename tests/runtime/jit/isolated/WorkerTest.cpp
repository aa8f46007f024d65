// Which program is the worker, how many are started, and what becomes of one that others end.
#include "runtime/jit/WorkerPool.h"
#include "tests/runtime/jit/isolated/Isolated.h"

#include <csignal>
#include <cstdio>
#include <fstream>
#include <set>

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tile;
using namespace tile::test;

namespace {

class IsolatedWorkers : public Isolated {};

uint64_t starts() { return jit::WorkerPool::ofProcess().startCount(); }

TEST_F(IsolatedWorkers, OneIsKeptForTheNextCompile) {
  compiledPtx(32);
  uint64_t before = starts();
  for (int block : {64, 128, 256})
    compiledPtx(block);
  EXPECT_EQ(starts(), before);
}

TEST_F(IsolatedWorkers, AnotherEnvironmentIsForAnotherWorker) {
  compiledPtx();
  uint64_t before = starts();
  Variable other("TILE_DISABLE_PASSES", "cse");
  compiledPtx();
  EXPECT_EQ(starts(), before + 1);
}

TEST_F(IsolatedWorkers, ProgramsThatAreNotThereAreNamed) {
  Variable program("TILE_COMPILE_WORKER", "/no/such/tilec");
  Error error = errorOf([] { compiledPtx(); });
  EXPECT_STREQ(nameOf(error.code()), "ToolMissing");
  EXPECT_TRUE(hasPart(error, "/no/such/tilec")) << error.what();
  EXPECT_TRUE(hasPart(error, "TILE_COMPILE_WORKER")) << error.what();
}

TEST_F(IsolatedWorkers, ProgramsThatAreNoneAreRefused) {
  for (const char *path : {"/bin/true", "/bin/echo"}) {
    Variable program("TILE_COMPILE_WORKER", path);
    Error error = errorOf([] { compiledPtx(); });
    EXPECT_STREQ(nameOf(error.code()), "ToolFailed");
    EXPECT_TRUE(hasPart(error, path)) << error.what();
  }
}

TEST_F(IsolatedWorkers, TooLittleMemoryToStartIsSaid) {
  Variable limit("TILE_COMPILE_MB", "1");
  Error error = errorOf([] { compiledPtx(); });
  EXPECT_STREQ(nameOf(error.code()), "OutOfMemory") << error.what();
  EXPECT_TRUE(hasPart(error, "TILE_COMPILE_MB")) << error.what();
}

/// The processes that this one started and that run.
std::set<pid_t> childrenOf(pid_t parent) {
  std::set<pid_t> children;
  DIR *folder = opendir("/proc");
  while (const dirent *entry = readdir(folder)) {
    pid_t process = std::atoi(entry->d_name);
    if (process <= 0)
      continue;
    std::ifstream file("/proc/" + std::string(entry->d_name) + "/stat");
    std::string words((std::istreambuf_iterator<char>(file)), {});
    size_t end = words.rfind(')');
    if (end == words.npos)
      continue;
    char state = 0;
    int owner = 0;
    if (std::sscanf(words.c_str() + end + 1, " %c %d", &state, &owner) == 2 && owner == parent &&
        state != 'Z')
      children.insert(process);
  }
  closedir(folder);
  return children;
}

TEST_F(IsolatedWorkers, OneThatOthersEndIsReplaced) {
  compiledPtx();
  std::set<pid_t> workers = childrenOf(getpid());
  ASSERT_FALSE(workers.empty());
  for (pid_t worker : workers)
    kill(worker, SIGKILL);
  for (int i = 0; i < 500 && !childrenOf(getpid()).empty(); ++i)
    usleep(10'000);
  EXPECT_FALSE(compiledPtx().empty());
}

// Each of two processes has workers of its own, and neither ends those of the other.
TEST_F(IsolatedWorkers, AForkedChildHasItsOwn) {
  compiledPtx();
  std::set<pid_t> workers = childrenOf(getpid());
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(compiledPtx(64).empty() || childrenOf(getpid()).size() != 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(childrenOf(getpid()), workers);
  uint64_t before = starts();
  EXPECT_FALSE(compiledPtx(64).empty());
  EXPECT_EQ(starts(), before);
}

// A process that is killed while its worker hangs takes the worker with it.
TEST_F(IsolatedWorkers, EndWithTheProcessTheyWorkFor) {
  if (!kHasFaults)
    GTEST_SKIP();
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    setenv("TILE_FAULT", "pass:hang@tile-assign-layouts", 1);
    compiledPtx();
    _exit(1);
  }
  std::set<pid_t> workers;
  for (int i = 0; i < 1000 && workers.empty(); ++i) {
    usleep(10'000);
    workers = childrenOf(child);
  }
  ASSERT_EQ(workers.size(), 1u);
  usleep(500'000); // it is at work
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  auto isThere = [&] { return kill(*workers.begin(), 0) == 0; };
  for (int i = 0; i < 500 && isThere(); ++i)
    usleep(10'000);
  EXPECT_FALSE(isThere());
}

} // namespace
