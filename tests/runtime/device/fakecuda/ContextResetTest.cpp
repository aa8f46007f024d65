// Others reset the context that we work in, as cudaDeviceReset of a library does.
#include "tests/runtime/device/fakecuda/FakeDevice.h"

namespace tile::device {
namespace {

class FakeCudaReset : public FakeCuda {
protected:
  void SetUp() override {
    FakeCuda::SetUp();
    isContextLost = true;
    stream = device->createStream();
    event = device->createEvent();
    pointer = device->alloc(64);
    function = device->getFunction(device->loadModule(kKernels), "nothing");
    device->launch(function, {}, {}, stream);
  }
  void expectLoss(const std::function<void()> &call) {
    expectError(ErrorCode::ContextLost,
                {"CUDA_ERROR_CONTEXT_IS_DESTROYED (709)", "destroyed or reset by others",
                 "last kernel launched: nothing"},
                call);
    uint64_t before = fakeCudaCallCount();
    expectError(ErrorCode::ContextLost, {"lost by an earlier fault"}, call);
    EXPECT_EQ(fakeCudaCallCount(), before);
  }

  Stream stream;
  Event event;
  DevicePtr pointer = 0;
  Function function;
};

TEST_F(FakeCudaReset, AContextThatIsGoneIsALostContext) {
  fakeCudaResetPrimary(0, false);
  expectLoss([&] { device->synchronize(stream); });
  device.reset(); // quietly
  EXPECT_EQ(fakeCudaLive("context"), 0u);
}

// The driver knows none of our handles any more.
TEST_F(FakeCudaReset, AContextThatWasMadeAgainIsNotOurs) {
  fakeCudaResetPrimary(0, true);
  expectLoss([&] { device->launch(function, {}, {}, stream); });
}

TEST_F(FakeCudaReset, AHandleThatIsWrongInOurContextIsNoLoss) {
  fakeCudaFail("cuLaunchKernelEx", 1, 400);
  expectError(ErrorCode::InvalidHandle, {"CUDA_ERROR_INVALID_HANDLE"},
              [&] { device->launch(function, {}, {}, stream); });
  EXPECT_NO_THROW(device->launch(function, {}, {}, stream));
  isContextLost = false;
  device->destroyEvent(event);
}

TEST_F(FakeCudaReset, ANewDeviceWorksAfterwards) {
  fakeCudaResetPrimary(0, false);
  expectLoss([&] { device->synchronize(); });
  device.reset();
  device = openCuda(0);
  device->launch(device->getFunction(device->loadModule(kKernels), "nothing"), {}, {});
  device->synchronize();
  isContextLost = false;
}

} // namespace
} // namespace tile::device
