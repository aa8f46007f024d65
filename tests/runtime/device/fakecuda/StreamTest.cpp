// Streams and events of the CUDA device: which driver calls, in which order.
#include "tests/runtime/device/fakecuda/FakeDevice.h"

namespace tile::device {
namespace {

using Calls = std::vector<std::string>;

TEST_F(FakeCuda, EventsOrderStreams) {
  Stream first = device->createStream(), second = device->createStream();
  Event event = device->createEvent();
  DevicePtr pointer = device->alloc(64, first);
  fakeCudaReset();
  device->fill(pointer, 1, 64, first);
  device->record(event, first);
  device->wait(second, event);
  device->fill(pointer, 2, 64, second);
  device->synchronize(second);
  EXPECT_EQ(fakeCudaCalls(), (Calls{"cuMemsetD8Async", "cuEventRecord", "cuStreamWaitEvent",
                                    "cuMemsetD8Async", "cuStreamSynchronize"}));
  device->synchronize(event);
  device->synchronize();
  EXPECT_EQ(fakeCudaCalls().back(), "cuCtxSynchronize");
  device->free(pointer, second);
}

TEST_F(FakeCuda, ElapsedTimeWaitsForBothEvents) {
  Stream stream = device->createStream();
  Event start = device->createEvent(), stop = device->createEvent();
  expectError(ErrorCode::InvalidHandle, {"has not been recorded"},
              [&] { device->elapsedMs(start, stop); });
  device->record(start, stream);
  device->record(device->createEvent(), stream);
  device->record(stop, stream);
  fakeCudaReset();
  EXPECT_FLOAT_EQ(device->elapsedMs(start, stop), 1.0f); // half a millisecond a record
  EXPECT_EQ(fakeCudaCalls(),
            (Calls{"cuEventSynchronize", "cuEventSynchronize", "cuEventElapsedTime"}));
}

TEST_F(FakeCuda, AnEventIsAskedWithoutWaiting) {
  Stream stream = device->createStream();
  Event event = device->createEvent();
  DevicePtr pointer = device->alloc(64);
  EXPECT_TRUE(device->isDone(event)) << "never recorded";
  device->fill(pointer, 1, 64, stream);
  device->record(event, stream);
  fakeCudaReset();
  EXPECT_FALSE(device->isDone(event));
  EXPECT_TRUE(device->isDone(event));
  EXPECT_EQ(fakeCudaCalls(), (Calls{"cuEventQuery", "cuEventQuery"}));
  fakeCudaFail("cuEventQuery", 1, 400);
  expectError(ErrorCode::InvalidHandle, {"asking whether an event has been reached"},
              [&] { device->isDone(event); });
  device->free(pointer);
}

TEST_F(FakeCuda, AsynchronousCopiesDoNotWait) {
  Stream stream = device->createStream();
  DevicePtr pointer = device->alloc(8);
  uint64_t word = 5, back = 0;
  fakeCudaReset();
  device->copyToDeviceAsync(pointer, &word, 8, stream);
  device->copyToHostAsync(&back, pointer, 8, stream);
  EXPECT_EQ(fakeCudaCalls(), (Calls{"cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2"}));
  device->synchronize(stream);
  EXPECT_EQ(back, 5u);
  fakeCudaReset();
  device->copyToDevice(pointer, &word, 8, stream);
  EXPECT_EQ(fakeCudaCalls(), (Calls{"cuMemcpyHtoDAsync_v2", "cuStreamSynchronize"}));
  device->free(pointer);
}

TEST_F(FakeCuda, StreamsOfOthersAreUsedAndLeftAlone) {
  fakeCudaPushPrimaryContext(0);
  void *native = fakeCudaMakeStream();
  fakeCudaPopContext();
  Stream stream = device->adoptStream(native);
  EXPECT_EQ(device->nativeOf(stream), native);
  device->launch(device->getFunction(device->loadModule(kKernels), "nothing"), {}, {}, stream);
  EXPECT_EQ(fakeCudaLaunches().back().stream, native);
  device->synchronize(stream);
  device->destroyStream(stream);
  EXPECT_EQ(timesCalled("cuStreamDestroy_v2"), 0u);
  EXPECT_EQ(fakeCudaLive("stream"), 1u);
  expectError(ErrorCode::InvalidHandle, {"no longer valid"}, [&] { device->synchronize(stream); });
  device->adoptStream(native); // a handle that outlives the device's own
  device.reset();
  EXPECT_EQ(fakeCudaLive("stream"), 1u);
  fakeCudaEndStream(native);
}

TEST_F(FakeCuda, StreamsOfAnotherContextAreRefused) {
  fakeCudaPushForeignContext(0);
  void *native = fakeCudaMakeStream();
  fakeCudaPopContext();
  expectError(ErrorCode::WrongDevice, {"another CUDA context", "Device::ofContext"},
              [&] { device->adoptStream(native); });
  fakeCudaEndStream(native);
}

TEST_F(FakeCuda, ContextsOfOthersAreUsedAndLeftAlone) {
  void *context = fakeCudaPushForeignContext(1);
  EXPECT_EQ(currentCudaContext(), context);
  EXPECT_EQ(ordinalOfPrimaryContext(context), std::nullopt);
  auto other = openCudaContext(context);
  EXPECT_EQ(other->props().ordinal, 1);
  EXPECT_EQ(other->props().name, "Fake GPU 1");
  Stream stream = other->createStream();
  DevicePtr pointer = other->alloc(64, stream);
  other->fill(pointer, 1, 64, stream);
  other->free(pointer, stream);
  fakeCudaReset();
  other.reset();
  EXPECT_EQ(timesCalled("cuDevicePrimaryCtxRelease_v2"), 0u);
  fakeCudaPopContext();
  EXPECT_EQ(currentCudaContext(), nullptr);
}

TEST_F(FakeCuda, PrimaryContextsAreKnownByTheirDevice) {
  void *context = fakeCudaPushPrimaryContext(1);
  EXPECT_EQ(ordinalOfPrimaryContext(context), 1);
  fakeCudaPopContext();
  EXPECT_EQ(fakeCudaLive("context"), 1u) << "the device's own";
}

TEST_F(FakeCuda, DestroyedHandlesNeverReachTheDriver) {
  Stream stream = device->createStream();
  Event event = device->createEvent();
  DevicePtr pointer = device->alloc(64);
  Function function = scale();
  device->destroyStream(stream);
  device->destroyEvent(event);
  Stream successor = device->createStream();
  fakeCudaReset();
  auto gone = [&](auto call) { expectError(ErrorCode::InvalidHandle, {"no longer valid"}, call); };
  gone([&] { device->synchronize(stream); });
  gone([&] { device->destroyStream(stream); });
  gone([&] { device->alloc(64, stream); });
  gone([&] { device->free(pointer, stream); });
  gone([&] { device->fill(pointer, 0, 64, stream); });
  gone([&] { device->copyToHost(&pointer, pointer, 8, stream); });
  gone([&] { device->record(event, successor); });
  gone([&] { device->wait(successor, event); });
  gone([&] { device->synchronize(event); });
  gone([&] { device->destroyEvent(event); });
  gone([&] { device->elapsedMs(event, event); });
  expectError(ErrorCode::InvalidHandle, {"null"}, [&] { device->destroyStream({}); });
  uint64_t p = 0;
  float f = 0;
  uint16_t h = 0;
  char bytes[24] = {};
  Arg args[] = {{&p, 8}, {&f, 4}, {&h, 2}, {bytes, 24}};
  gone([&] { device->launch(function, {}, args, stream); });
  EXPECT_EQ(fakeCudaCalls(), Calls());
  device->synchronize(successor);
}

} // namespace
} // namespace tile::device
