// Graphs down to the driver: what it is asked for, in which order, and that nothing is asked for that it would refuse in a capture.
#include "tests/runtime/device/fakecuda/FakeDevice.h"

#include <tile/DLPack.h>
#include <tile/tile.h>

#include <atomic>
#include <cstring>
#include <thread>

using namespace tile;
using device::expectError, device::timesCalled;

namespace {

using Calls = std::vector<std::string>;
constexpr int64_t kCount = 1000;

const auto halved = kernel("halved", [](In<f32, 1> x, Out<f32, 1> y, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i) * 0.5f;
});

class FakeCudaGraphs : public testing::Test {
protected:
  void SetUp() override {
    x = device.tensor<float>({kCount});
    y = device.tensor<float>({kCount});
    halved.consts(256).prepare(device, x, y);
    fakeCudaReset();
  }
  void TearDown() override {
    device.synchronize();
    EXPECT_EQ(fakeCudaHazards(), Calls());
    EXPECT_EQ(fakeCudaLive("graph"), 0u);
    EXPECT_EQ(fakeCudaContextDepth(), 0u);
  }
  void step(const Stream &on) const { halved.consts(256)(on, x, y); }

  Device device = Device::open("cuda:0");
  Stream stream = device.stream();
  TensorOf<float> x, y;
};

size_t countOf(const Calls &calls, const std::string &name) {
  return static_cast<size_t>(std::count(calls.begin(), calls.end(), name));
}

TEST_F(FakeCudaGraphs, ACaptureIsOneBurstAndAReplayOneCall) {
  Graph graph = Graph::capture(stream, [&] {
    step(stream);
    step(stream);
    EXPECT_EQ(fakeCudaCalls(), Calls()) << "the driver hears nothing of a capture in progress";
  });
  EXPECT_EQ(fakeCudaCalls(), (Calls{"cuStreamCreate", "cuStreamBeginCapture_v2", "cuLaunchKernelEx",
                                    "cuLaunchKernelEx", "cuStreamEndCapture", "cuStreamDestroy_v2",
                                    "cuGraphInstantiateWithFlags", "cuGraphDestroy"}));
  EXPECT_EQ(fakeCudaLaunches().size(), 0u);
  fakeCudaReset();
  graph.replay(stream);
  EXPECT_EQ(fakeCudaCalls(), Calls{"cuGraphLaunch"});
  ASSERT_EQ(fakeCudaLaunches().size(), 2u);
  EXPECT_EQ(fakeCudaLaunches()[0].stream, stream.native());
}

TEST_F(FakeCudaGraphs, ForksAreCapturedByEvents) {
  Stream other = device.stream();
  Graph graph = Graph::capture(stream, [&] {
    step(stream);
    other.wait(stream);
    step(other);
    stream.wait(other);
    step(stream);
  });
  EXPECT_EQ(fakeCudaFailedCalls(), Calls());
  graph.replay(other);
  EXPECT_EQ(fakeCudaLaunches().size(), 3u);
  size_t streams = fakeCudaLive("stream");
  graph = {};
  EXPECT_EQ(fakeCudaLive("stream"), streams) << "a graph needs streams only to be captured";
}

// A kernel is loaded, memory allocated and a tensor made while work is captured: all before the driver's own capture begins.
TEST_F(FakeCudaGraphs, ColdKernelsAndTensorsAreNoIllegalCalls) {
  const auto cold = kernel("cold", [](In<f32, 1> in, Out<f32, 1> out, Const B) {
    Value i = grid1d(out, {B});
    out.tile({B})(i) = in.tile({B})(i) * 0.25f;
  });
  Graph graph = Graph::capture(stream, [&] {
    auto middle = stream.tensor<float>({kCount});
    cold.consts(256)(stream, x, middle);
    step(stream);
    cold.consts(256)(stream, middle, y);
  });
  EXPECT_EQ(fakeCudaFailedCalls(), Calls());
  EXPECT_EQ(fakeCudaImages().size(), 1u);
  EXPECT_EQ(countOf(fakeCudaCalls(), "cuMemAllocAsync"), 0u)
      << "memory of a graph is of no stream's order";
  graph.replay(stream);
  EXPECT_EQ(fakeCudaLaunches().size(), 3u);
}

TEST_F(FakeCudaGraphs, CallsThatWaitNeverReachTheDriver) {
  Event event = device.event();
  std::vector<float> values(kCount);
  fakeCudaReset();
  auto refused = [&](auto call) {
    expectError(ErrorCode::NotPreparedForCapture, {"captur"}, call);
  };
  Graph graph = Graph::capture(stream, [&] {
    step(stream);
    event.record(stream);
    refused([&] { stream.synchronize(); });
    refused([&] { device.synchronize(); });
    refused([&] { y.download(stream); });
    refused([&] { y.download(); });
    refused([&] { x.upload(stream, values); });
    refused([&] { event.synchronize(); });
    refused([&] { event.query(); });
    EXPECT_EQ(fakeCudaCalls(), Calls());
  });
  graph.replay(stream);
  EXPECT_EQ(fakeCudaLaunches().size(), 1u);
}

TEST_F(FakeCudaGraphs, UpdatesAreInPlace) {
  Graph graph = Graph::capture(stream, [&] { step(stream); });
  graph.replay(stream);
  fakeCudaReset();
  graph.update(stream, [&] { halved.consts(256)(stream, y, x); });
  EXPECT_EQ(timesCalled("cuGraphExecUpdate_v2"), 1u);
  EXPECT_EQ(timesCalled("cuGraphInstantiateWithFlags"), 0u);
  EXPECT_EQ(timesCalled("cuCtxSynchronize"), 0u) << "nobody waits";
  graph.replay(stream);
  uint64_t first = 0;
  std::memcpy(&first, fakeCudaLaunches().back().params[0].data(), sizeof first);
  EXPECT_EQ(first, reinterpret_cast<uint64_t>(y.data()));
  // What the driver refuses beyond our own comparison.
  fakeCudaFail("cuGraphExecUpdate_v2", 1, 910);
  expectError(ErrorCode::InvalidArgument, {"cannot be exchanged", "capture another graph"},
              [&] { graph.update(stream, [&] { step(stream); }); });
  EXPECT_NO_THROW(graph.replay(stream));
}

// Streams that overlap launches: the attribute is that of each launch, in captures too if the driver's graphs know such edges.
TEST_F(FakeCudaGraphs, LaunchesThatOverlapAreAnAttribute) {
  stream.overlapLaunches();
  auto areEarly = [&] {
    std::vector<bool> all;
    for (const FakeLaunch &launch : fakeCudaLaunches())
      all.push_back(launch.isProgrammatic);
    return all;
  };
  step(stream);
  EXPECT_EQ(fakeCudaImages().size(), 1u) << "compiled anew";
  step(stream);
  EXPECT_EQ(fakeCudaImages().size(), 1u);
  stream.overlapLaunches(false);
  step(stream);
  EXPECT_EQ(areEarly(), (std::vector{true, true, false}));
  stream.overlapLaunches();
  for (auto [version, isEarly] :
       {std::pair(12080, true), std::pair(12030, true), std::pair(12020, false)}) {
    fakeCudaReset();
    fakeCudaSetVersion(version);
    Graph graph = Graph::capture(stream, [&] { step(stream); });
    graph.replay(stream);
    EXPECT_EQ(areEarly(), std::vector{isEarly}) << version;
  }
  stream.overlapLaunches(false);
}

TEST_F(FakeCudaGraphs, MemoryLivesAsLongAsTheGraph) {
  Graph graph;
  {
    auto brief = device.tensor<float>({kCount});
    auto ofStream = stream.tensor<float>({kCount});
    graph = Graph::capture(stream, [&] {
      halved.consts(256)(stream, brief, ofStream);
      auto own = stream.tensor<float>({kCount});
      halved.consts(256)(stream, ofStream, own);
    });
  }
  stream.trim();
  graph.replay(stream); // freed memory would be a hazard
  size_t before = fakeCudaLive("memory");
  graph = {};
  stream.trim();
  EXPECT_EQ(fakeCudaLive("memory"), before - 3);
}

TEST_F(FakeCudaGraphs, MemoryOfOthersIsTheirsOnceTheGraphEnds) {
  int deleted = 0;
  int64_t extent = kCount;
  dlpack::ManagedTensorVersioned managed = {};
  managed.version = {1, 0};
  managed.manager_ctx = &deleted;
  managed.deleter = [](dlpack::ManagedTensorVersioned *self) {
    ++*static_cast<int *>(self->manager_ctx);
  };
  managed.dl_tensor = {x.data(), {dlpack::DeviceType::Cuda, 0},
                       1,        {dlpack::TypeCode::Float, 32, 1},
                       &extent,  nullptr,
                       0};
  TensorOf<float> taken(fromDlpack(device, &managed));
  Graph graph = Graph::capture(stream, [&] { halved.consts(256)(stream, taken, y); });
  taken = {};
  EXPECT_EQ(deleted, 0);
  graph.replay(stream);
  graph = {};
  EXPECT_EQ(deleted, 1);
}

TEST_F(FakeCudaGraphs, FailuresOfTheDriverLeaveNothingBehind) {
  size_t streams = fakeCudaLive("stream"), events = fakeCudaLive("event");
  Stream other = device.stream();
  auto fork = [&] {
    step(stream);
    other.wait(stream);
    step(other);
    stream.wait(other);
  };
  for (const char *call :
       {"cuStreamBeginCapture_v2", "cuLaunchKernelEx", "cuEventRecord", "cuStreamWaitEvent",
        "cuStreamEndCapture", "cuGraphInstantiateWithFlags"}) {
    SCOPED_TRACE(call);
    fakeCudaFail(call, 1, 999);
    expectError(ErrorCode::DeviceLost, {"CUDA_ERROR_UNKNOWN", "GraphTest.cpp"},
                [&] { Graph::capture(stream, fork); });
    EXPECT_EQ(fakeCudaLive("stream"), streams + 1);
    EXPECT_EQ(fakeCudaLive("event"), events);
    fakeCudaReset();
    step(stream);
    stream.synchronize();
  }
  Graph graph = Graph::capture(stream, fork);
  fakeCudaFail("cuGraphLaunch", 1, 999);
  expectError(ErrorCode::DeviceLost, {"replaying the graph of 2 kernels captured at"},
              [&] { graph.replay(stream); });
  EXPECT_NO_THROW(graph.replay(stream));
}

// The driver spoils a capture when another thread waits for the context meanwhile.
TEST_F(FakeCudaGraphs, OtherThreadsWaitForTheDeviceMeanwhile) {
  constexpr int kRounds = 500, kWaits = 500, kMostRounds = 20000;
  std::atomic<bool> isOver = false;
  std::atomic<int> waits = 0;
  std::thread waiter([&] {
    for (; !isOver; ++waits)
      EXPECT_NO_THROW(device.synchronize());
  });
  auto work = [&] {
    for (int i = 0; i < 5; ++i)
      step(stream);
  };
  for (int round = 0; round < kRounds || (waits < kWaits && round < kMostRounds); ++round)
    EXPECT_NO_THROW(Graph::capture(stream, work));
  isOver = true;
  waiter.join();
  EXPECT_EQ(fakeCudaFailedCalls(), Calls());
}

// Streams that others capture: what we do for them is captured by them, and what would spoil that is refused.
TEST_F(FakeCudaGraphs, StreamsThatOthersCapture) {
  const auto cold = kernel("cold_for_others", [](In<f32, 1> in, Out<f32, 1> out, Const B) {
    Value i = grid1d(out, {B});
    out.tile({B})(i) = in.tile({B})(i) * 0.125f;
  });
  fakeCudaPushPrimaryContext(0);
  void *native = fakeCudaMakeStream();
  Stream external = device.externalStream(native);
  fakeCudaBeginCapture(native);
  fakeCudaReset();
  auto refused = [&](const std::vector<std::string> &parts, auto call) {
    expectError(ErrorCode::NotPreparedForCapture, parts, call);
  };
  refused({"kernel 'cold_for_others'", "prepare()"}, [&] { cold.consts(256)(external, x, y); });
  refused({"make it before"}, [&] { external.tensor<float>({kCount}); });
  refused({"others capture"}, [&] { external.synchronize(); });
  refused({"others capture"}, [&] { y.download(external); });
  step(external); // is loaded
  EXPECT_EQ(fakeCudaFailedCalls(), Calls());
  EXPECT_EQ(fakeCudaLaunches().size(), 0u) << "captured";
  EXPECT_EQ(fakeCudaEndCapture(native), 1u);
  fakeCudaPopContext();
  cold.consts(256)(external, x, y);
  external.synchronize();
  external = {};
  fakeCudaEndStream(native);
}

} // namespace
