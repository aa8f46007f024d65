// Graphs at the seam: handles, the end of the device, and the name under which a graph is known when the context is lost.
#include "runtime/device/GraphWork.h"
#include "tests/runtime/device/fakecuda/FakeDevice.h"

namespace tile::device {
namespace {

constexpr int kIllegalAddress = 700;

class FakeCudaGraphWork : public FakeCuda {
protected:
  // A launch of the kernel `nothing`, captured at main.cpp:12.
  std::shared_ptr<const GraphWork> launchOfNothing() {
    auto work = std::make_shared<GraphWork>();
    work->where = {"main.cpp", 12};
    work->steps.push_back({0,
                           {"main.cpp", 13},
                           GraphLaunch{device->getFunction(device->loadModule(kKernels), "nothing"),
                                       "nothing",
                                       {},
                                       GraphArguments({})}});
    return work;
  }
};

TEST_F(FakeCudaGraphWork, HandlesThatAreGoneNeverReachTheDriver) {
  Stream stream = device->createStream();
  Graph graph = device->createGraph(launchOfNothing());
  device->replay(graph, stream);
  EXPECT_EQ(fakeCudaLaunches().size(), 1u);
  device->destroyGraph(graph);
  auto work = launchOfNothing();
  fakeCudaReset();
  auto gone = [&](auto call) { expectError(ErrorCode::InvalidHandle, {"no longer valid"}, call); };
  gone([&] { device->replay(graph, stream); });
  gone([&] { device->updateGraph(graph, work); });
  gone([&] { device->destroyGraph(graph); });
  EXPECT_EQ(fakeCudaCalls(), std::vector<std::string>());
  device->synchronize();
}

TEST_F(FakeCudaGraphWork, EndWithTheirDevice) {
  device->createGraph(launchOfNothing());
  EXPECT_EQ(fakeCudaLive("graph"), 1u); // none at the end of the test
}

TEST_F(FakeCudaGraphWork, AreNamedWhenTheContextIsLost) {
  isContextLost = true;
  Graph graph = device->createGraph(launchOfNothing());
  device->replay(graph, {});
  fakeCudaFail("cuCtxSynchronize", 1, kIllegalAddress);
  expectError(ErrorCode::ContextLost,
              {"last kernel launched: the graph of 1 kernel captured at main.cpp:12"},
              [&] { device->synchronize(); });
}

TEST_F(FakeCudaGraphWork, WhatIsCapturedHasNotBeenLaunched) {
  isContextLost = true;
  Module module = device->loadModule(".version 8.0 .target sm_80 .entry guilty() { ret; }");
  device->launch(device->getFunction(module, "guilty"), {}, {});
  device->createGraph(launchOfNothing());
  fakeCudaFail("cuCtxSynchronize", 1, kIllegalAddress);
  expectError(ErrorCode::ContextLost, {"last kernel launched: guilty"},
              [&] { device->synchronize(); });
}

} // namespace
} // namespace tile::device
