// What a kernel can make the virtual GPU do in one instruction, or keep in memory, is bounded; what runs for long says so.
#include "tests/runtime/vgpu/Kernels.h"

#include <tile/Error.h>

namespace tile::vgpu {
namespace {

const std::string kHead = ".version 8.4\n.target sm_90a\n.address_size 64\n";

std::string formatBytes(const std::string &format) {
  std::string bytes;
  for (char c : format)
    bytes += std::to_string(static_cast<int>(c)) + ", ";
  return bytes + "0";
}

// What vprintf prints of a format with the arguments 7 and 7.
std::string printed(const std::string &format) {
  Gpu gpu(kHead + ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n" +
              ".global .align 1 .b8 format[64] = {" + formatBytes(format) + "};\n" +
              R"(.visible .entry k()
{
  .reg .b64 %rd<8>;
  .local .align 8 .b8 buffer[64];
  .param .b64 pf;
  .param .b64 pa;
  .param .b32 pr;
  mov.u64 %rd1, buffer;
  cvta.local.u64 %rd1, %rd1;
  mov.u64 %rd2, format;
  cvta.global.u64 %rd2, %rd2;
  mov.u64 %rd3, 7;
  st.u64 [%rd1], %rd3;
  st.u64 [%rd1+8], %rd3;
  st.param.b64 [pf], %rd2;
  st.param.b64 [pa], %rd1;
  call.uni (pr), vprintf, (pf, pa);
  ret;
}
)",
          "sm_90a");
  testing::internal::CaptureStdout();
  gpu.run("k", {1}, {1}, 0);
  std::string text = testing::internal::GetCapturedStdout();
  gpu.expectClean();
  return text;
}

TEST(BoundsOfWork, WidthsAndPrecisionsOfPrintf) {
  EXPECT_EQ(printed("%5d|"), "    7|");
  EXPECT_EQ(printed("%05.3d|"), "  007|");
  EXPECT_EQ(printed("%2147483646d"), std::string(499, ' ') + "7");
  EXPECT_EQ(printed("%.2147483646d"), std::string(499, '0') + "7");
  EXPECT_EQ(printed("%.999999999f").size(), 502u); // "0." and 500 digits
}

std::string recursionOf(const std::string &bytes) {
  return kHead + ".func f()\n{\n  .local .b8 b[" + bytes +
         "];\n  .reg .b32 %r;\n  mov.u32 %r, 0;\n  st.local.u8 [b+5], %r;\n  call f, ();\n  "
         "ret;\n}\n"
         ".visible .entry k()\n{\n  call f, ();\n  ret;\n}\n";
}

TEST(BoundsOfWork, LocalMemoryOfAThread) {
  EXPECT_THROW(Gpu(recursionOf("1048576"), "sm_90a").run("k", {1}, {32}, 0), Error);
  for (const char *checks : {"all", "none"}) {
    Gpu gpu(recursionOf("100000"), "sm_90a", checks);
    gpu.run("k", {1}, {32}, 0);
    ASSERT_FALSE(gpu.findings.empty());
    EXPECT_EQ(gpu.findings[0].kind, FindingKind::StepLimit);
    EXPECT_NE(gpu.findings[0].message.find("called itself 5 times without returning"),
              std::string::npos)
        << gpu.findings[0].message;
  }
}

// Sums of sizes do not wrap.
TEST(BoundsOfWork, SizesOfVariablesAndParameters) {
  auto refuses = [](const std::string &ptx) {
    EXPECT_THROW(Gpu(kHead + ptx, "sm_90a").run("k", {1}, {1}, 0), Error) << ptx;
  };
  std::string shared, uses;
  for (int i = 0; i < 256; ++i) {
    shared += "  .shared .b8 s" + std::to_string(i) + "[16777216];\n";
    uses += "  mov.u32 %r, s" + std::to_string(i) + ";\n";
  }
  refuses(".visible .entry k()\n{\n  .reg .b32 %r;\n" + shared + uses + "  ret;\n}\n");
  refuses(".visible .entry k()\n{\n  .reg .b32 %r;\n  .local .b8 a[4294967295];\n"
          "  .local .b8 b[4294967295];\n  mov.u32 %r, a;\n  mov.u32 %r, b;\n  ret;\n}\n");
  refuses(".visible .entry k(.param .b8 a[4294967295], .param .b8 b[2])\n{\n  ret;\n}\n");
}

TEST(BoundsOfWork, InlinedCallsNameTheKernel) {
  std::string ptx = kHead + ".func f0()\n{\n  ret;\n}\n";
  for (int i = 1; i <= 40; ++i) {
    std::string callee = "  call f" + std::to_string(i - 1) + ", ();\n";
    ptx += ".func f" + std::to_string(i) + "()\n{\n" + callee + callee + "  ret;\n}\n";
  }
  try {
    Gpu(ptx + ".visible .entry k()\n{\n  call f40, ();\n  ret;\n}\n", "sm_90a")
        .run("k", {1}, {1}, 0);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::ResourceExceeded);
    EXPECT_NE(error.message().find("the kernel 'k' has more than"), std::string::npos)
        << error.message();
  }
}

// A second of work at least, in branches that are few.
TEST(BoundsOfWork, ALongRunSaysWhereItIs) {
  setenv("TILE_VGPU_NOTICE_SECONDS", "1", 1);
  setenv("TILE_VGPU_MAX_BRANCHES", "8000000", 1);
  std::string body;
  for (int i = 0; i < 64; ++i)
    body += "  mad.lo.u32 %r, %r, 1664525, 1013904223;\n";
  Gpu gpu(kHead + ".visible .entry k()\n{\n  .reg .b32 %r;\n  mov.u32 %r, 0;\nL:\n" + body +
              "  bra L;\n}\n",
          "sm_90a", "none");
  unsetenv("TILE_VGPU_NOTICE_SECONDS");
  unsetenv("TILE_VGPU_MAX_BRANCHES");
  testing::internal::CaptureStderr();
  gpu.run("k", {1}, {32}, 0);
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("virtual GPU: kernel 'k' has run for 1 s; block (0,0,0), warp 0 is at "),
            std::string::npos)
      << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  ASSERT_FALSE(gpu.findings.empty());
  EXPECT_EQ(gpu.findings[0].kind, FindingKind::StepLimit);
}

} // namespace
} // namespace tile::vgpu
