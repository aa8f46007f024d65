// Properties, allocations and copies of the CUDA device.
#include "tests/runtime/device/fakecuda/FakeDevice.h"

#include <thread>

namespace tile::device {
namespace {

using Calls = std::vector<std::string>;

TEST_F(FakeCuda, PropertiesAreThoseOfTheDriver) {
  const DeviceProps &props = device->props();
  EXPECT_EQ(props.name, "Fake GPU 0");
  EXPECT_EQ(props.arch, 90);
  EXPECT_EQ(props.target, "sm_90a");
  EXPECT_EQ(props.smCount, 132);
  EXPECT_EQ(props.sharedPerBlock, 49152u);
  EXPECT_EQ(props.sharedPerBlockOptin, 232448u);
  EXPECT_EQ(props.sharedPerSm, 233472u);
  EXPECT_EQ(props.registersPerSm, 65536);
  EXPECT_EQ(props.l2Bytes, 52428800u);
  EXPECT_EQ(props.totalMemory, size_t{1} << 30);
  EXPECT_EQ(props.maxGrid, (Dim3{2147483647, 65535, 65535}));
  EXPECT_EQ(props.maxBlock, (Dim3{1024, 1024, 64}));
  EXPECT_FALSE(props.isVirtual);
  EXPECT_TRUE(props.runsMachineCode);
  EXPECT_FALSE(props.checksBounds);
}

TEST_F(FakeCuda, OtherOrdinalsAreOtherDevices) {
  EXPECT_EQ(openCuda(1)->props().name, "Fake GPU 1");
  for (int ordinal : {-1, 2})
    expectError(ErrorCode::NoDevice, {std::to_string(ordinal), "the driver has 2"},
                [&] { openCuda(ordinal); });
}

TEST_F(FakeCuda, OlderArchitecturesHaveNoSpecificTarget) {
  constexpr int kComputeMajor = 75;
  fakeCudaSetAttribute(kComputeMajor, 8);
  EXPECT_EQ(openCuda(0)->props().target, "sm_80");
  EXPECT_EQ(openCuda(0)->props().maxClusterSize, 1);
  fakeCudaSetAttribute(kComputeMajor, 9);
}

TEST_F(FakeCuda, AllocationsAreFoundUntilFreed) {
  DevicePtr pointer = device->alloc(1000);
  EXPECT_EQ(pointer % 256, 0u);
  ASSERT_TRUE(device->allocationOf(pointer + 999));
  EXPECT_EQ(device->allocationOf(pointer + 999)->base, pointer);
  EXPECT_EQ(device->allocationOf(pointer)->bytes, 1000u);
  EXPECT_FALSE(device->allocationOf(pointer + 1000));
  device->free(pointer);
  EXPECT_FALSE(device->allocationOf(pointer));
  device->free(0);
}

TEST_F(FakeCuda, AllocationsOfNoBytesAreDistinct) {
  DevicePtr a = device->alloc(0), b = device->alloc(0);
  EXPECT_NE(a, 0u);
  EXPECT_NE(a, b);
  EXPECT_EQ(device->allocationOf(a)->bytes, 0u);
  device->free(a);
  device->free(b);
}

TEST_F(FakeCuda, BadFreesNeverReachTheDriver) {
  DevicePtr pointer = device->alloc(512);
  device->free(pointer);
  fakeCudaReset();
  expectError(ErrorCode::UseAfterFree, {"freed already"}, [&] { device->free(pointer); });
  expectError(ErrorCode::InvalidArgument, {"not returned by alloc"}, [&] { device->free(12345); });
  EXPECT_EQ(fakeCudaCalls(), Calls());
  EXPECT_EQ(device->alloc(512), pointer) << "the fake driver gives addresses out again";
  device->free(pointer);
}

TEST_F(FakeCuda, MemoryOfAStreamIsAllocatedAndFreedInItsOrder) {
  Stream stream = device->createStream();
  fakeCudaReset();
  DevicePtr pointer = device->alloc(512, stream);
  device->fill(pointer, 1, 512, stream);
  device->free(pointer, stream);
  EXPECT_EQ(fakeCudaCalls(), (Calls{"cuMemAllocAsync", "cuMemsetD8Async", "cuMemFreeAsync"}));
}

TEST_F(FakeCuda, FreeingWithoutAStreamWaitsForAllThatUseTheMemory) {
  Stream stream = device->createStream();
  for (Stream owner : {stream, Stream()}) {
    DevicePtr pointer = device->alloc(512, owner);
    device->fill(pointer, 1, 512, stream);
    device->free(pointer); // TearDown finds the hazard if it does not wait
    EXPECT_EQ(fakeCudaCalls().back(), "cuMemFree_v2");
  }
}

TEST_F(FakeCuda, MemoryOfTheDefaultStreamServesEveryStreamAtOnce) {
  DevicePtr pointer = device->alloc(512);
  EXPECT_EQ(fakeCudaCalls(), (Calls{"cuMemAlloc_v2"}));
  device->fill(pointer, 1, 512, device->createStream());
  device->free(pointer);
}

TEST_F(FakeCuda, WithoutPoolsAllMemoryIsOfTheDefaultStream) {
  constexpr int kMemoryPoolsSupported = 115;
  fakeCudaSetAttribute(kMemoryPoolsSupported, 0);
  auto plain = openCuda(0);
  fakeCudaSetAttribute(kMemoryPoolsSupported, 1);
  Stream stream = plain->createStream();
  plain->free(plain->alloc(512, stream), stream);
  EXPECT_EQ(timesCalled("cuMemAlloc_v2"), 1u);
  EXPECT_EQ(timesCalled("cuMemAllocAsync") + timesCalled("cuMemFreeAsync"), 0u);
}

TEST_F(FakeCuda, OutOfMemoryNamesSizes) {
  size_t tooMuch = (size_t{1} << 30) + 1;
  for (Stream stream : {Stream(), device->createStream()})
    expectError(ErrorCode::OutOfMemory, {"1073741825 bytes", "1073741824 of 1073741824 are free"},
                [&] { device->alloc(tooMuch, stream); });
  expectError(ErrorCode::OutOfMemory, {}, [&] { device->alloc(~size_t{0}); });
}

TEST_F(FakeCuda, CopiesMoveBytesBothWaysAndAcross) {
  std::vector<uint8_t> data(1000), back(1000);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<uint8_t>(i * 7);
  for (Stream stream : {Stream(), device->createStream()}) {
    DevicePtr a = device->alloc(1000), b = device->alloc(1000);
    device->copyToDevice(a, data.data(), 1000, stream);
    device->copyOnDevice(b, a, 1000, stream);
    device->fill(b + 10, 9, 20, stream);
    device->copyToHost(back.data(), b, 1000, stream);
    std::vector<uint8_t> expected = data;
    std::fill_n(expected.begin() + 10, 20, uint8_t{9});
    EXPECT_EQ(back, expected);
    device->free(a);
    device->free(b);
  }
}

TEST_F(FakeCuda, CopiesWithTheHostAreDoneWhenTheyReturn) {
  Stream stream = device->createStream();
  DevicePtr pointer = device->alloc(4, stream);
  uint32_t value = 1;
  fakeCudaReset();
  device->copyToDevice(pointer, &value, 4, stream);
  device->copyToHost(&value, pointer, 4, stream);
  EXPECT_EQ(fakeCudaCalls(), (Calls{"cuMemcpyHtoDAsync_v2", "cuStreamSynchronize",
                                    "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"}));
  device->free(pointer, stream);
}

TEST_F(FakeCuda, RangesOutsideAllocationsNeverReachTheDriver) {
  std::vector<uint8_t> host(256);
  DevicePtr pointer = device->alloc(100), freed = device->alloc(400);
  device->free(freed);
  fakeCudaReset();
  auto refuse = [&](ErrorCode code, DevicePtr at, size_t bytes) {
    expectError(code, {"copyToDevice"}, [&] { device->copyToDevice(at, host.data(), bytes); });
    expectError(code, {"copyToHost"}, [&] { device->copyToHost(host.data(), at, bytes); });
    expectError(code, {"target"}, [&] { device->copyOnDevice(at, pointer, bytes); });
    expectError(code, {"source"},
                [&] { device->copyOnDevice(pointer, at, std::min<size_t>(bytes, 100)); });
    expectError(code, {"fill"}, [&] { device->fill(at, 0, bytes); });
  };
  refuse(ErrorCode::InvalidArgument, pointer + 1, 100);
  refuse(ErrorCode::InvalidArgument, 4096, 1);
  refuse(ErrorCode::UseAfterFree, freed + 8, 1);
  expectError(ErrorCode::InvalidArgument, {"null"},
              [&] { device->copyToDevice(pointer, nullptr, 1); });
  expectError(ErrorCode::InvalidArgument, {}, [&] { device->fill(pointer, 0, ~size_t{0}); });
  device->copyToDevice(0, nullptr, 0);
  EXPECT_EQ(fakeCudaCalls(), Calls());
  device->free(pointer);
}

TEST_F(FakeCuda, EveryThreadMayUseTheDevice) {
  std::vector<std::thread> threads;
  for (uint8_t id = 0; id < 4; ++id)
    threads.emplace_back([&, id] {
      Stream stream = device->createStream();
      for (int round = 0; round < 50; ++round) {
        DevicePtr pointer = device->alloc(64, stream);
        device->fill(pointer, id, 64, stream);
        uint8_t back = 0xff;
        device->copyToHost(&back, pointer + 63, 1, stream);
        EXPECT_EQ(back, id);
        device->free(pointer, stream);
      }
      EXPECT_EQ(fakeCudaContextDepth(), 0u);
      device->destroyStream(stream);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(FakeCuda, WhatIsLeftIsFreedWithTheDevice) {
  device->alloc(64);
  device->alloc(64, device->createStream());
  device->createEvent();
  device->loadModule(kKernels);
  EXPECT_EQ(fakeCudaLive("memory"), 2u);
  EXPECT_EQ(fakeCudaLive("module"), 1u); // TearDown counts what is left afterwards
}

} // namespace
} // namespace tile::device
