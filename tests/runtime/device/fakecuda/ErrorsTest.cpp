// What the driver's results become: codes, words, and the end of a context.
#include "tests/runtime/device/fakecuda/FakeDevice.h"

namespace tile::device {
namespace {

constexpr int kIllegalAddress = 700;

TEST_F(FakeCuda, ResultsHaveCodesAndKeepTheDriversName) {
  const std::tuple<int, ErrorCode, const char *> cases[] = {
      {1, ErrorCode::InvalidArgument, "CUDA_ERROR_INVALID_VALUE (1): invalid argument"},
      {2, ErrorCode::OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY (2)"},
      {3, ErrorCode::DeviceLost, "CUDA_ERROR_NOT_INITIALIZED (3)"},
      {4, ErrorCode::DeviceLost, "CUDA_ERROR_DEINITIALIZED (4)"},
      {100, ErrorCode::NoDevice, "CUDA_ERROR_NO_DEVICE (100)"},
      {400, ErrorCode::InvalidHandle, "CUDA_ERROR_INVALID_HANDLE (400)"},
      {701, ErrorCode::ResourceExceeded, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)"},
      {801, ErrorCode::Unsupported, "CUDA_ERROR_NOT_SUPPORTED (801)"},
      {912, ErrorCode::InvalidArgument, "CUDA_ERROR_INVALID_CLUSTER_SIZE (912)"},
      {999, ErrorCode::DeviceLost, "CUDA_ERROR_UNKNOWN (999)"},
      {12345, ErrorCode::InvalidArgument, "unknown result (12345)"}};
  Function function = device->getFunction(device->loadModule(kKernels), "nothing");
  for (auto [result, code, words] : cases) {
    fakeCudaFail("cuLaunchKernelEx", 1, result);
    expectError(code, {"launch of nothing (grid 1x1x1", words},
                [&] { device->launch(function, {}, {}); });
    EXPECT_NO_THROW(device->launch(function, {}, {})) << "the device stays usable";
  }
}

TEST_F(FakeCuda, EveryStickyResultLosesTheContext) {
  isContextLost = true;
  for (int result : {201, 214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719}) {
    fakeCudaReset();
    auto victim = openCuda(0);
    bool isOfGpu = result == 214 || result == 220, isTaken = result == 201 || result == 709;
    ErrorCode later = isOfGpu ? ErrorCode::DeviceLost : ErrorCode::ContextLost;
    fakeCudaFail("cuCtxSynchronize", 1, result);
    expectError(
        result == 710 ? ErrorCode::DeviceAssert : later,
        {"(" + std::to_string(result) + ")", isTaken ? "reset by others" : "restart the process"},
        [&] { victim->synchronize(); });
    uint64_t before = fakeCudaCallCount();
    for (int i = 0; i < 3; ++i)
      expectError(later, {"lost by an earlier fault"}, [&] { victim->synchronize(); });
    EXPECT_EQ(fakeCudaCallCount(), before) << "the driver is not asked again and again";
  }
}

TEST_F(FakeCuda, ALostContextNamesTheKernelAndIsLeftAlone) {
  isContextLost = true;
  Stream stream = device->createStream();
  Event event = device->createEvent();
  DevicePtr pointer = device->alloc(64);
  Module module = device->loadModule(kKernels);
  Function function = device->getFunction(module, "nothing");
  LaunchConfig config;
  config.grid = {4, 2, 1}, config.block = {64, 1, 1}, config.where = {"main.cpp", 12};
  device->launch(function, config, {}, stream);
  device->record(event, stream);
  fakeCudaFail("cuStreamSynchronize", 1, kIllegalAddress);
  expectError(ErrorCode::ContextLost,
              {"waiting for a stream",
               "last kernel launched: nothing at main.cpp:12, grid 4x2x1 of 64 threads",
               "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access", "TILE_DEVICE=virtual"},
              [&] { device->synchronize(stream); });
  uint64_t before = fakeCudaCallCount();
  auto lost = [&](auto call) {
    expectError(ErrorCode::ContextLost, {"last kernel launched: nothing"}, call);
  };
  uint32_t word = 0;
  lost([&] { device->synchronize(stream); });
  lost([&] { device->synchronize(); });
  lost([&] { device->synchronize(event); });
  lost([&] { device->alloc(64); });
  lost([&] { device->alloc(64, stream); });
  lost([&] { device->free(pointer); });
  lost([&] { device->copyToDevice(pointer, &word, 4); });
  lost([&] { device->copyToHost(&word, pointer, 4); });
  lost([&] { device->copyOnDevice(pointer, pointer + 32, 4); });
  lost([&] { device->fill(pointer, 0, 4); });
  lost([&] { device->loadModule(kKernels); });
  lost([&] { device->getFunction(module, "scale"); });
  lost([&] { device->functionInfo(function); });
  lost([&] { device->launch(function, {}, {}, stream); });
  lost([&] { device->createStream(); });
  lost([&] { device->createEvent(); });
  lost([&] { device->record(event, stream); });
  lost([&] { device->wait(stream, event); });
  lost([&] { device->elapsedMs(event, event); });
  lost([&] { device->unloadModule(module); });
  lost([&] { device->destroyStream(stream); });
  lost([&] { device->destroyEvent(event); });
  EXPECT_EQ(fakeCudaCallCount(), before);
  EXPECT_EQ(device->props().name, "Fake GPU 0");
}

TEST_F(FakeCuda, AFaultFoundByALaunchIsOfTheKernelBefore) {
  isContextLost = true;
  Module module = device->loadModule(".version 8.0 .target sm_80 .entry guilty() { ret; } "
                                     ".entry innocent() { ret; }");
  device->launch(device->getFunction(module, "guilty"), {}, {});
  fakeCudaFail("cuLaunchKernelEx", 1, kIllegalAddress);
  expectError(ErrorCode::ContextLost, {"launch of innocent", "last kernel launched: guilty"},
              [&] { device->launch(device->getFunction(module, "innocent"), {}, {}); });
}

TEST_F(FakeCuda, StickyResultsCountWhereverTheyAppear) {
  isContextLost = true;
  const char *functions[] = {"cuMemAlloc_v2",      "cuModuleLoadDataEx", "cuModuleGetFunction",
                             "cuFuncGetParamInfo", "cuFuncGetAttribute", "cuCtxPushCurrent_v2"};
  for (const char *function : functions) {
    fakeCudaReset();
    auto victim = openCuda(0);
    fakeCudaFail(function, 1, kIllegalAddress);
    auto useAll = [&] {
      victim->alloc(1);
      victim->getFunction(victim->loadModule(kKernels), "scale");
    };
    expectError(ErrorCode::ContextLost, {}, useAll);
  }
}

TEST_F(FakeCuda, OpeningFailsWithTheDriversWordsAndLeavesNoContext) {
  for (const char *function : {"cuDeviceGetCount", "cuDeviceGet", "cuDevicePrimaryCtxRetain",
                               "cuDeviceGetName", "cuDeviceGetAttribute", "cuDeviceTotalMem_v2"}) {
    fakeCudaReset();
    fakeCudaFail(function, 1, 46);
    expectError(ErrorCode::NoDevice, {"CUDA_ERROR_DEVICE_UNAVAILABLE (46)"}, [&] { openCuda(0); });
    EXPECT_EQ(fakeCudaLive("context"), 1u) << function;
  }
  EXPECT_NO_THROW(openCuda(0));
}

TEST_F(FakeCuda, FailedCallsLeaveNothingBehind) {
  Stream stream = device->createStream();
  for (const char *function :
       {"cuStreamCreate", "cuEventCreate", "cuMemAlloc_v2", "cuMemAllocAsync"})
    fakeCudaFail(function, 1, 2);
  auto noMemory = [&](auto call) {
    expectError(ErrorCode::OutOfMemory, {"CUDA_ERROR_OUT_OF_MEMORY"}, call);
  };
  noMemory([&] { device->createStream(); });
  noMemory([&] { device->createEvent(); });
  expectError(ErrorCode::OutOfMemory, {"64 bytes asked for"}, [&] { device->alloc(64); });
  expectError(ErrorCode::OutOfMemory, {"64 bytes asked for"}, [&] { device->alloc(64, stream); });
  EXPECT_EQ(fakeCudaLive("stream"), 1u);
  EXPECT_EQ(fakeCudaLive("event") + fakeCudaLive("memory"), 0u);
}

} // namespace
} // namespace tile::device
