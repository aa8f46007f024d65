// Memory that is lacking, contexts and devices that are lost, kernels that hang: what a program is told and what it can still do.
#include "tests/runtime/device/faulty/FaultySetup.h"

#include <chrono>
#include <limits>

using namespace tile;
using namespace std::chrono_literals;

namespace {

// A stream that keeps memory which no tensor has.
Stream streamThatKeeps(const Device &device, int64_t count) {
  Stream stream = device.stream();
  stream.tensor<float>({count});
  EXPECT_GT(stream.usage().keptBytes, 0u);
  return stream;
}

TEST_P(FaultyDevices, ALackOfMemoryTakesWhatStreamsKeepAndTriesOnceMore) {
  for (bool isOfStream : {false, true}) {
    Stream keeper = streamThatKeeps(device, 5000), other = device.stream();
    faulty->order({Seam::Alloc, Kind::OutOfMemory});
    uint64_t before = faulty->calls(Seam::Alloc);
    auto tensor = isOfStream ? other.tensor<float>({kCount}) : device.tensor<float>({kCount});
    EXPECT_EQ(faulty->calls(Seam::Alloc), before + 2);
    EXPECT_EQ(keeper.usage().keptBytes, 0u);
    tensor.fill(1);
    EXPECT_EQ(tensor.download()[kCount - 1], 1);
  }
}

TEST_P(FaultyDevices, WithoutMemoryTheSizesAreToldAndTheDeviceIsUsable) {
  faulty->order({Seam::Alloc, Kind::OutOfMemory});
  uint64_t before = faulty->calls(Seam::Alloc);
  expectError(ErrorCode::OutOfMemory, {"4000 bytes asked for", "0 bytes are free", __FILE__},
              [&] { device.tensor<float>({kCount}); });
  EXPECT_EQ(faulty->calls(Seam::Alloc), before + 1) << "there was nothing to free";
  // Once more in vain: each call tries twice at most.
  Stream keeper = streamThatKeeps(device, 5000);
  before = faulty->calls(Seam::Alloc);
  for (uint64_t nth : {1, 2})
    faulty->order({Seam::Alloc, Kind::OutOfMemory, nth});
  expectError(ErrorCode::OutOfMemory, {"4000 bytes asked for"},
              [&] { device.tensor<float>({kCount}); });
  EXPECT_EQ(faulty->calls(Seam::Alloc), before + 2);
  EXPECT_NO_THROW(device.tensor<float>({kCount}));
}

TEST_P(FaultyDevices, LoadsAndLaunchesWithoutMemoryAreTriedOnceMore) {
  auto a = device.tensor<float>({kCount}), b = device.tensor<float>({kCount});
  a.fill(1);
  Stream stream = device.stream();
  for (Seam seam : {Seam::Load, Seam::Launch}) {
    faulty->order({seam, Kind::OutOfMemory});
    expectError(ErrorCode::OutOfMemory, {"0 bytes are free"},
                [&] { addOne.consts(256)(stream, a, b); });
    Stream keeper = streamThatKeeps(device, 5000);
    faulty->order({seam, Kind::OutOfMemory});
    uint64_t before = faulty->calls(seam);
    addOne.consts(256)(stream, a, b);
    EXPECT_EQ(faulty->calls(seam), before + 2);
    EXPECT_EQ(keeper.usage().keptBytes, 0u);
    stream.synchronize();
    EXPECT_EQ(b.download()[kCount - 1], 2);
  }
}

TEST_P(FaultyDevices, MemoryOfStreamsAtWorkIsNotTakenFromThem) {
  Stream stream = device.stream();
  auto a = stream.tensor<float>({kCount}), b = stream.tensor<float>({kCount});
  a.fill(1);
  addOne.consts(256)(stream, a, b);
  Stream keeper = streamThatKeeps(device, 5000);
  faulty->order({Seam::Alloc, Kind::OutOfMemory});
  device.tensor<float>({kCount});
  EXPECT_EQ(b.download(stream)[0], 2);
}

TEST_P(FaultyDevices, AnIllegalAddressIsToldOnceWithItsKernelAndThenAtOnce) {
  auto a = device.tensor<float>({kCount}), b = device.tensor<float>({kCount});
  Stream stream = device.stream();
  Event event = device.event();
  a.fill(1);
  faulty->order({Seam::Launch, Kind::Illegal});
  addOne.consts(256)(stream, a, b);
  const std::string guilty = "last kernel launched: add_one";
  const std::string line = std::string("FaultyDeviceTest.cpp:") + std::to_string(__LINE__ - 2);
  expectError(ErrorCode::ContextLost,
              {"waiting for a stream", guilty, line, "arguments 0x", "1000"},
              [&] { stream.synchronize(); });
  uint64_t before = faulty->passed();
  auto isLost = [&](auto call) {
    expectError(ErrorCode::ContextLost, {"lost by an earlier fault", guilty, line}, call);
  };
  isLost([&] { stream.synchronize(); });
  isLost([&] { device.synchronize(); });
  isLost([&] { stream.synchronize(0.001); });
  isLost([&] { event.record(stream); });
  isLost([&] { device.stream(); });
  isLost([&] { device.event(); });
  isLost([&] { device.tensor<float>({kCount}); });
  isLost([&] { stream.tensor<float>({kCount}); });
  isLost([&] { a.download(); });
  isLost([&] { a.fill(2); });
  isLost([&] { addOne.consts(256)(stream, a, b); });
  isLost([&] { addOne.consts(128)(stream, a, b); });
  isLost([&] { Graph::capture(stream, [&] { addOne.consts(256)(stream, a, b); }); });
  isLost([&] { stream.close(); });
  EXPECT_EQ(faulty->passed(), before) << "nothing reaches a device that is lost";
}

// What is left of a lost device ends without a word, and another device works.
TEST_P(FaultyDevices, HandlesOfALostDeviceEndQuietly) {
  {
    Stream stream = device.stream(), another = device.stream();
    Event event = device.event();
    auto a = device.tensor<float>({kCount}), b = stream.tensor<float>({kCount});
    a.fill(1);
    Graph graph = Graph::capture(stream, [&] {
      auto c = stream.tensor<float>({kCount});
      addOne.consts(256)(stream, a, c);
      addOne.consts(256)(stream, c, b);
    });
    faulty->order({Seam::Launch, Kind::Illegal});
    graph.replay(stream);
    EXPECT_THROW(stream.synchronize(), Error);
  }
  device = Device::wrap(device::openVirtual(), "fresh");
  auto a = device.tensor<float>({kCount}), b = device.tensor<float>({kCount});
  a.fill(1);
  addOne.consts(256)(device.stream(), a, b);
  EXPECT_EQ(b.download()[0], 2);
}

TEST_P(FaultyDevices, ALostDeviceIsAskedOnce) {
  auto a = device.tensor<float>({kCount}), b = device.tensor<float>({kCount});
  Stream stream = streamThatKeeps(device, 5000);
  faulty->order({Seam::Launch, Kind::Lost});
  uint64_t launches = faulty->calls(Seam::Launch);
  expectError(ErrorCode::DeviceLost, {"launch of add_one"},
              [&] { addOne.consts(256)(stream, a, b); });
  EXPECT_EQ(faulty->calls(Seam::Launch), launches + 1) << "a launch that failed is not repeated";
  uint64_t before = faulty->passed();
  for (int i = 0; i < 3; ++i)
    expectError(ErrorCode::DeviceLost, {"lost by an earlier fault"},
                [&] { addOne.consts(256)(stream, a, b); });
  EXPECT_EQ(faulty->passed(), before);
}

TEST_P(FaultyDevices, WaitsForKernelsThatHangEndWithTheirTime) {
  auto a = device.tensor<float>({kCount}), b = device.tensor<float>({kCount});
  a.fill(1);
  Stream stream = device.stream();
  Event event = device.event();
  faulty->order({Seam::Launch, Kind::Hang});
  addOne.consts(256)(stream, a, b);
  event.record(stream);
  auto start = std::chrono::steady_clock::now();
  expectError(ErrorCode::Timeout,
              {"the work of the stream did not end within 20 ms", "last kernel launched: add_one"},
              [&] { stream.synchronize(0.02); });
  expectError(ErrorCode::Timeout, {"the work before the event did not end within 10 ms"},
              [&] { event.synchronize(0.01); });
  expectError(ErrorCode::Timeout, {"within 0 ms"}, [&] { event.synchronize(-1); });
  auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(took, 30ms);
  EXPECT_LT(took, 5s);
  // Nothing was reset: the work ends when it can.
  faulty->release();
  stream.synchronize(10);
  event.synchronize(std::numeric_limits<double>::infinity());
  EXPECT_EQ(b.download()[0], 2);
}

TEST_P(FaultyDevices, DelaysChangeNothing) {
  auto a = device.tensor<float>({kCount}), b = device.tensor<float>({kCount});
  a.fill(1);
  Stream stream = device.stream();
  for (Seam seam : {Seam::Launch, Seam::Copy, Seam::Synchronize})
    faulty->order({seam, Kind::Delay});
  addOne.consts(256)(stream, a, b);
  stream.synchronize();
  EXPECT_EQ(b.download()[0], 2);
}

TEST_P(FaultyDevices, WhatIsRefusedOnceIsNotRemembered) {
  auto a = device.tensor<float>({kCount}), b = device.tensor<float>({kCount});
  Stream stream = device.stream();
  a.fill(1);
  for (Seam seam : {Seam::Load, Seam::Launch, Seam::Event, Seam::Synchronize, Seam::Copy}) {
    faulty->order({seam, Kind::Refuse});
    auto useAll = [&] {
      addOne.consts(256)(stream, a, b);
      device.event().record(stream);
      b.download(stream);
      stream.synchronize();
    };
    expectError(ErrorCode::ResourceExceeded, {"refused, as was ordered"}, useAll);
    EXPECT_NO_THROW(useAll());
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, FaultyDevices, testing::Bool(), nameOfFaulty);

} // namespace
