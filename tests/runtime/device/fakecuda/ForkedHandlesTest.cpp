// The public handles in a process that was forked after a CUDA device was opened.
#include "tests/runtime/device/fakecuda/FakeCuda.h"

#include <tile/tile.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <optional>

#include <sys/wait.h>
#include <unistd.h>

using namespace tile;

namespace {

constexpr int64_t kCount = 1000;
constexpr unsigned kMostSeconds = 60;

const auto doubled = kernel("doubled", [](In<f32, 1> a, Out<f32, 1> b, Const B) {
  Value i = grid1d(b, {B});
  b.tile({B})(i) = a.tile({B})(i) * 2.0f;
});

/// What the parent opened.
struct Handles {
  Device device = Device::open("cuda:0");
  Stream stream = device.stream();
  Event event = device.event();
  TensorOf<float> a = device.tensor<float>({kCount}), b = stream.tensor<float>({kCount});
  Graph graph = Graph::capture(stream, [&] { doubled.consts(256)(stream, a, b); });
};

int expectForked(const char *what, const std::function<void()> &call) {
  try {
    call();
    std::fprintf(stderr, "in the child: %s: no error\n", what);
    return 1;
  } catch (const Error &error) {
    bool isRight = error.code() == ErrorCode::ForkedContext &&
                   error.message().find("forked") != std::string::npos;
    if (!isRight)
      std::fprintf(stderr, "in the child: %s: %s\n", what, error.what());
    return isRight ? 0 : 1;
  }
}

/// What runs on the virtual GPU in the child, which may open it.
int expectVirtualWorks() {
  Device device = Device::open("virtual:sm_90a");
  auto a = device.tensor<float>({kCount}), b = device.tensor<float>({kCount});
  a.fill(21);
  Stream stream = device.stream();
  doubled.consts(256)(stream, a, b);
  return b.download()[kCount - 1] == 42 ? 0 : 1;
}

int useAll(const Handles &handles) {
  const auto &[device, stream, event, a, b, graph] = handles;
  int wrong = 0;
  wrong += expectForked("launch", [&] { doubled.consts(256)(stream, a, b); });
  wrong += expectForked("cold launch", [&] { doubled.consts(64)(stream, a, b); });
  wrong += expectForked("prepare", [&] { doubled.consts(32).prepare(device, a, b); });
  wrong += expectForked("stream", [&] { device.stream(); });
  wrong += expectForked("event", [&] { device.event(); });
  wrong += expectForked("tensor", [&] { device.tensor<float>({kCount}); });
  wrong += expectForked("tensor of a stream", [&] { stream.tensor<float>({kCount}); });
  wrong += expectForked("synchronize", [&] { stream.synchronize(); });
  wrong += expectForked("synchronize the device", [&] { device.synchronize(); });
  wrong += expectForked("record", [&] { event.record(stream); });
  wrong += expectForked("query", [&] { event.query(); });
  wrong += expectForked("wait", [&] { stream.wait(event); });
  wrong += expectForked("upload", [&] { a.fill(1); });
  wrong += expectForked("download", [&] { a.download(); });
  wrong += expectForked("replay", [&] { graph.replay(stream); });
  wrong += expectForked("capture", [&] { Graph::capture(stream, [] {}); });
  wrong += expectForked("close", [&] { stream.close(); });
  wrong += expectForked("open again", [] { Device::open("cuda:0").stream(); });
  wrong += expectForked("open another", [] { Device::open("cuda:1").stream(); });
  wrong += expectForked("best", [] { Device::best().stream(); });
  return wrong;
}

/// The exit status of a child that does this.
int statusOfChild(const std::function<int()> &act) {
  pid_t child = fork();
  if (child == 0) {
    alarm(kMostSeconds);
    _exit(act());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(ForkedHandles, AreRefusedAndEndWithoutTheDriver) {
  setenv("TILE_DEVICE", "cuda", 1); // for Device::best
  auto handles = std::make_optional<Handles>();
  fakeCudaReset();
  uint64_t before = fakeCudaCallCount();
  int status = statusOfChild([&] {
    int wrong = useAll(*handles);
    handles.reset();
    wrong += expectVirtualWorks();
    return wrong + (fakeCudaCallCount() == before ? 0 : 100);
  });
  EXPECT_EQ(status, 0);
  // The parent's own are as they were.
  doubled.consts(256)(handles->stream, handles->a, handles->b);
  handles->graph.replay(handles->stream);
  handles->stream.synchronize();
  EXPECT_EQ(fakeCudaLaunches().size(), 2u);
  unsetenv("TILE_DEVICE");
}

// exit() of the child runs the destructors of static variables and what the driver left to be done.
TEST(ForkedHandles, LetAChildExit) {
  static auto handles = std::make_optional<Handles>();
  int status = statusOfChild([]() -> int { std::exit(0); });
  EXPECT_EQ(status, 0);
  handles.reset();
}

TEST(ForkedHandles, AreNothingToAProgramThatIsExecuted) {
  Handles handles;
  int status = statusOfChild([] {
    execl("/proc/self/exe", "FakeCudaJitTest", "--gtest_brief=1",
          "--gtest_filter=FakeCudaJit.AKernelIsCompiledLoadedAndLaunched", nullptr);
    return 127;
  });
  EXPECT_EQ(status, 0);
}

// One that was opened before works as well: each process has memory of its own from there on.
TEST(ForkedHandles, OfTheVirtualGpuWork) {
  Device device = Device::open("virtual:sm_80");
  auto a = device.tensor<float>({kCount}), b = device.tensor<float>({kCount});
  a.fill(4), b.fill(0);
  Stream stream = device.stream();
  int status = statusOfChild([&] {
    doubled.consts(256)(stream, a, b);
    return b.download()[0] == 8 ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(b.download()[0], 0);
}

} // namespace
