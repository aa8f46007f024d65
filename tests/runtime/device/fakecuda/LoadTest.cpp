// Finding the driver: every way in which that fails, and then an old driver. One test, since a driver that has been
// found is kept.
#include "runtime/device/GraphWork.h"
#include "tests/runtime/device/fakecuda/FakeDevice.h"

#include <cstdlib>

namespace tile::device {
namespace {

void useLibrary(const char *path) { setenv("TILE_LIBCUDA", path, 1); }

// Without cuMemAllocAsync, cuMemFreeAsync, cuFuncGetParamInfo and graphs.
void useOldDriver() {
  auto device = openCuda(0);
  Stream stream = device->createStream();
  DevicePtr pointer = device->alloc(64, stream);
  device->fill(pointer, 1, 64, stream);
  Function function = device->getFunction(device->loadModule(kKernels), "nothing");
  EXPECT_TRUE(device->functionInfo(function).paramSizes.empty());
  EXPECT_NO_THROW(device->launch(function, {}, {}, stream));
  expectError(ErrorCode::Unsupported, {"no graphs", "12.0"},
              [&] { device->createGraph(std::make_shared<GraphWork>()); });
  device->free(pointer, stream);
  EXPECT_EQ(timesCalled("cuMemFree_v2"), 1u);
  EXPECT_EQ(fakeCudaHazards(), std::vector<std::string>());
}

TEST(CudaDriver, IsLookedForUntilItIsFound) {
  auto open = [] { openCuda(0); };
  useLibrary("/nowhere/libcuda.so");
  expectError(ErrorCode::NoDevice,
              {"TILE_LIBCUDA", "/nowhere/libcuda.so", "cannot open shared object"}, open);
  useLibrary(EMPTY_DRIVER);
  expectError(ErrorCode::NoDevice, {"the CUDA driver has no cuDriverGetVersion", "12.0"}, open);
  useLibrary(OLD_DRIVER);
  fakeCudaFail("cuInit", 1, 100);
  expectError(ErrorCode::NoDevice, {"does not start", "CUDA_ERROR_NO_DEVICE (100)"}, open);
  fakeCudaFail("cuInit", 1, 999);
  expectError(ErrorCode::NoDevice, {"does not start", "CUDA_ERROR_UNKNOWN (999)"}, open);
  useOldDriver();
  useLibrary("/nowhere/libcuda.so");
  EXPECT_NO_THROW(openCuda(0));
}

} // namespace
} // namespace tile::device
