// Many threads compile at once, each in a worker of its own as far as there are cores.
#include "runtime/jit/WorkerPool.h"
#include "tests/runtime/jit/isolated/Isolated.h"

#include <atomic>
#include <thread>
#include <vector>

using namespace tile;
using namespace tile::test;

namespace {

class IsolatedThreads : public Isolated {};

constexpr int kThreads = 16;

TEST_F(IsolatedThreads, CompileInAsManyWorkersAsThereAreCores) {
  setCompileMode(CompileMode::InProcess);
  std::vector<std::string> expected;
  for (int i = 0; i < kThreads; ++i)
    expected.push_back(compiledPtx(32 << i % 5));
  setCompileMode(CompileMode::Isolated);
  uint64_t before = jit::WorkerPool::ofProcess().startCount();
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] { right += compiledPtx(32 << i % 5) == expected[i]; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, kThreads);
  EXPECT_LE(jit::WorkerPool::ofProcess().startCount() - before, uint64_t(kThreads));
}

TEST_F(IsolatedThreads, AreUntouchedByTheErrorsOfOthers) {
  static const auto spilling = kernel("spilling", [](In<f32, 2> a, Out<f32, 2> b) {
    b.tile({256, 1024})(0, 0) = sort(a.tile({256, 1024})(0, 0), 1);
  });
  const std::vector<HostArg> arguments(2, exampleView(f32, {1024, 1024}));
  std::atomic<int> right = 0, told = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      try {
        if (i % 2)
          jit::compileRequest({spilling.grid(1), arguments}, {});
        else
          right += !compiledPtx(32 << i / 2).empty();
      } catch (const Error &error) {
        told += error.code() == ErrorCode::ResourceExceeded;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 4);
  EXPECT_EQ(told, 4);
}

} // namespace
