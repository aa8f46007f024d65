// A process that forks while its threads compile kernels and run them on the virtual GPU: the child does the same.
#include "tests/base/Children.h"

#include <tile/ops/Softmax.h>
#include <tile/tile.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace tile {
namespace {

using test::isFineInChild;

const auto fill = kernel("fill_with", [](Out<f32, 1> y, Const Value) {
  tile::Value i = grid1d(y, {64});
  y.tile({64})(i) = zeros(f32, {64}) + static_cast<float>(Value);
});

/// Compiles a kernel that nobody has compiled, and runs it.
bool fillsWith(const Device &device, int value) {
  Stream stream = device.stream();
  TensorOf<float> y = stream.tensor<float>({256});
  fill.consts(value)(stream, y);
  return y.download(stream) == std::vector<float>(256, static_cast<float>(value));
}

/// Threads that compile and run kernels, until it goes.
class BusyThreads {
public:
  explicit BusyThreads(const Device &device) {
    constexpr int kThreads = 4;
    for (int thread = 0; thread < kThreads; ++thread)
      threads_.emplace_back([this, device] {
        while (!isOver_)
          EXPECT_TRUE(fillsWith(device, ++last_));
      });
  }
  ~BusyThreads() {
    isOver_ = true;
    for (std::thread &thread : threads_)
      thread.join();
  }
  int newValue() { return ++last_; }

private:
  std::atomic<int> last_ = 0;
  std::atomic<bool> isOver_ = false;
  std::vector<std::thread> threads_;
};

TEST(Fork, AChildCompilesAndRunsKernelsWhateverThreadsOfItsParentDid) {
  Device device = Device::open("virtual:sm_80");
  BusyThreads busy(device);
  constexpr int kChildren = 20;
  for (int i = 0; i < kChildren; ++i) {
    ASSERT_TRUE(isFineInChild([&] {
      auto x = device.tensor<float>({3, 5}, std::vector<float>(15, 1.f));
      TensorOf<float> y = device.tensor<float>({3, 5});
      ops::softmax(device.stream(), x, y);
      return fillsWith(device, 1'000'000 + busy.newValue()) && // as the parent's
             fillsWith(Device::open("virtual:sm_90a"), 7) && y.download()[0] == 0.2f;
    })) << "child "
        << i;
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * i % 17));
  }
}

// Functions of kernels capture nothing.
std::atomic<bool> hasBegun = false, mayEnd = false;
bool childWasFine = false;

// Whoever compiles for seconds is not waited for: the child gets an error, and no lock.
TEST(Fork, AChildOfAProcessThatIsBusyForLongIsToldSo) {
  Device device = Device::open("virtual:sm_80");
  const auto slow = kernel("slow", [](Out<f32, 1> y) {
    hasBegun = true;
    while (!mayEnd)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    tile::Value i = grid1d(y, {64});
    y.tile({64})(i) = zeros(f32, {64});
  });
  TensorOf<float> y = device.tensor<float>({64});
  std::thread compiles([&] { slow(device.stream(), y); });
  while (!hasBegun)
    std::this_thread::yield();
  EXPECT_TRUE(isFineInChild([&] {
    int told = 0;
    for (auto act : {std::function<void()>([&] { fillsWith(device, 1); }),
                     std::function<void()>([&] { (void)device.tensor<float>({64}); }),
                     std::function<void()>([&] { (void)y.download(); }),
                     std::function<void()>([&] { (void)Device::open("virtual:sm_86"); })})
      try {
        act();
      } catch (const Error &error) {
        told += error.code() == ErrorCode::ForkedContext &&
                error.message().find("forked while other threads") != std::string::npos;
      }
    y = {}; // destructors are quiet
    return told == 4;
  }));
  mayEnd = true;
  compiles.join();
}

TEST(Fork, TheFunctionOfAKernelMayFork) {
  Device device = Device::open("virtual:sm_80");
  const auto forks = kernel("forks", [](Out<f32, 1> y) {
    childWasFine = isFineInChild([] { return true; });
    tile::Value i = grid1d(y, {64});
    y.tile({64})(i) = zeros(f32, {64});
  });
  TensorOf<float> y = device.tensor<float>({64});
  forks(device.stream(), y);
  EXPECT_TRUE(childWasFine);
}

} // namespace
} // namespace tile
