// The promises of DeviceTest.cpp on a real GPU; skipped, and counted as skipped, where there is none.
#include "runtime/device/Device.h"

#include <gtest/gtest.h>

namespace tile::device {
namespace {

std::shared_ptr<Device> cudaOrNull(std::string &why) {
  try {
    return openCuda(0);
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::NoDevice) << error.what();
    why = error.what();
    return nullptr;
  }
}

class CudaDeviceTest : public testing::Test {
protected:
  void SetUp() override {
    std::string why;
    device = cudaOrNull(why);
    if (!device)
      GTEST_SKIP() << why;
  }
  std::shared_ptr<Device> device;
};

constexpr const char *kDouble = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry twice(.param .u64 p)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd2, %r1, 4, %rd1;
  ld.global.u32 %r2, [%rd2];
  add.u32 %r2, %r2, %r2;
  st.global.u32 [%rd2], %r2;
  ret;
}
)";

TEST(OpenCuda, AbsenceIsReportedInWords) {
  std::string why;
  if (cudaOrNull(why))
    GTEST_SKIP() << "there is a CUDA device";
  EXPECT_GT(why.size(), 20u);
}

TEST_F(CudaDeviceTest, LaunchChangesMemory) {
  Stream stream = device->createStream();
  std::vector<uint32_t> data(64), back(64);
  for (uint32_t i = 0; i < 64; ++i)
    data[i] = i;
  DevicePtr pointer = device->alloc(256, stream);
  device->copyToDevice(pointer, data.data(), 256, stream);
  Function function = device->getFunction(device->loadModule(kDouble), "twice");
  Arg args[] = {{&pointer, 8}};
  device->launch(function, {{1}, {64}, {}, 0}, args, stream);
  device->copyToHost(back.data(), pointer, 256, stream);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(back[i], 2 * i);
  device->free(pointer, stream);
  EXPECT_THROW(device->free(pointer, stream), Error);
  device->destroyStream(stream);
  EXPECT_THROW(device->synchronize(stream), Error);
}

TEST_F(CudaDeviceTest, BadPtxIsAParseErrorWithTheDriversLog) {
  EXPECT_THROW(device->loadModule(".version 7.0\n.target sm_70\n.address_size 64\nnonsense"),
               Error);
  EXPECT_NO_THROW(device->loadModule(kDouble));
}

} // namespace
} // namespace tile::device
