// printf and assert of device code.
#include "tests/runtime/vgpu/Kernels.h"

namespace tile::vgpu {
namespace {

TEST(SystemCalls, PrintfFormatsEachLanesArguments) {
  Gpu gpu(kernelText("print.ptx"));
  testing::internal::CaptureStdout();
  gpu.run("print", {1}, {32}, 0, 32);
  std::string text = testing::internal::GetCapturedStdout();
  gpu.expectClean();
  EXPECT_EQ(text, "thread 0 of 32:  0.00 text -5000000000 100%\n"
                  "thread 1 of 32:  0.50 text -5000000000 100%\n");
}

TEST(SystemCalls, FailedAssertNamesConditionAndLine) {
  Gpu gpu(kernelText("print.ptx"));
  testing::internal::CaptureStdout();
  gpu.run("print", {1}, {32}, 0, 20);
  testing::internal::GetCapturedStdout();
  ASSERT_EQ(gpu.findings.size(), 1u);
  EXPECT_EQ(gpu.findings[0].kind, FindingKind::Assert);
  EXPECT_EQ(gpu.findings[0].lane, 20u);
  EXPECT_NE(gpu.findings[0].message.find("'n > (int)threadIdx.x' failed"), std::string::npos)
      << gpu.findings[0].message;
}

} // namespace
} // namespace tile::vgpu
