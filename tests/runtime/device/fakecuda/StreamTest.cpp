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
