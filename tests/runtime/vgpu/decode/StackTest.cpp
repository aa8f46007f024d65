// alloca, stacksave and stackrestore; isspacep.const.
#include "tests/runtime/vgpu/Twins.h"

namespace tile::vgpu {
namespace {

// Each thread allocates 8 * (lane % 4 + 1) bytes, writes its number to both ends, and reads it back.
const std::string kAllocates = R"(
  and.b32 %r1, %l, 3;
  add.u32 %r1, %r1, 1;
  shl.b32 %r1, %r1, 3;
  cvt.u64.u32 %rd1, %r1;
  stacksave.u64 %rd2;
  alloca.u64 %rd3, %rd1;
  alloca.u64 %rd4, 16, 64;
  st.local.u32 [%rd3], %t;
  add.u64 %rd5, %rd3, %rd1;
  st.local.u32 [%rd5+-4], %t;
  st.local.u64 [%rd4], %rd3;
  ld.local.u64 %rd6, [%rd4];
  cvta.local.u64 %rd6, %rd6;
  ld.u32 %r2, [%rd6];
  ld.local.u32 %r3, [%rd5+-4];
  add.u32 %r2, %r2, %r3;
  and.b64 %rd7, %rd4, 63;
  cvt.u32.u64 %r3, %rd7;
  add.u32 %r2, %r2, %r3;
  stackrestore.u64 %rd2;
  stacksave.u64 %rd7;
  sub.u64 %rd7, %rd7, %rd2;
  cvt.u32.u64 %r3, %rd7;
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%a], %r2;
)";

TEST(Stack, EachThreadHasItsOwn) {
  for (const char *checks : {"all", "none"}) {
    Gpu gpu(kernel(kAllocates), "sm_80", checks);
    auto memory = gpu.upload(std::vector<uint32_t>(64, 0));
    gpu.run("k", {1}, {64}, 0, memory);
    gpu.expectClean();
    auto results = gpu.download<uint32_t>(memory, 64);
    for (uint32_t i = 0; i < 64; ++i)
      EXPECT_EQ(results[i], 2 * i) << checks;
  }
}

TEST(Stack, FunctionsGiveBackWhatTheyAllocate) {
  const std::string function = R"(
.func (.param .b32 r) twice(.param .b32 x)
{
  .reg .b32 %v;
  .reg .b64 %s;
  ld.param.b32 %v, [x];
  alloca.u64 %s, 4096;
  st.local.b32 [%s], %v;
  ld.local.b32 %v, [%s];
  shl.b32 %v, %v, 1;
  st.param.b32 [r], %v;
  ret;
}
)";
  // More calls than the stack has room for at a time.
  const std::string body = R"(  mov.u32 %r1, 0;
  mov.u32 %r2, %t;
LOOP:
  {
  .param .b32 x;
  .param .b32 r;
  st.param.b32 [x], %r2;
  call (r), twice, (x);
  ld.param.b32 %r2, [r];
  }
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %q1, %r1, 10;
  @%q1 bra LOOP;
  st.global.u32 [%a], %r2;
)";
  for (const char *checks : {"all", "none"}) {
    Gpu gpu(kernel(body, function), "sm_80", checks);
    auto memory = gpu.upload(std::vector<uint32_t>(32, 0));
    gpu.run("k", {1}, {32}, 0, memory);
    gpu.expectClean();
    auto results = gpu.download<uint32_t>(memory, 32);
    for (uint32_t i = 0; i < 32; ++i)
      EXPECT_EQ(results[i], i << 10) << checks;
  }
}

TEST(Stack, WhatDoesNotFitIsReported) {
  std::string ptx = kernel("  alloca.u64 %rd1, 1<<20;\n  st.local.u32 [%rd1], %t;\n");
  run(ptx, 32)->expectFinding(FindingKind::OutOfBounds, lineOf(ptx, "alloca"));
  ptx = kernel("  mov.u64 %rd1, 1<<20;\n  stackrestore.u64 %rd1;\n");
  run(ptx, 32)->expectFinding(FindingKind::OutOfBounds, lineOf(ptx, "stackrestore"));
}

TEST(Stack, NewMemoryIsUninitialised) {
  std::string ptx = kernel(R"(  stacksave.u64 %rd2;
  alloca.u64 %rd1, 16;
  st.local.u32 [%rd1], %t;
  stackrestore.u64 %rd2;
  alloca.u64 %rd1, 16;
  ld.local.u32 %r1, [%rd1];
  st.global.u32 [%a], %r1;
)");
  run(ptx, 32)->expectFinding(FindingKind::Uninitialised, lineOf(ptx, "st.global.u32"));
}

TEST(AddressSpaces, ConstantsAreNoGlobalVariables) {
  Gpu gpu(kernel(R"(  mov.u64 %rd1, table;
  cvta.const.u64 %rd1, %rd1;
  isspacep.const %q1, %rd1;
  isspacep.global %q2, %rd1;
  isspacep.const %q3, %a;
  isspacep.global %q4, %a;
  add.u64 %rd1, %rd1, 64;
  isspacep.const %q5, %rd1;
  selp.u32 %r1, 1, 0, %q1;
  selp.u32 %r2, 2, 0, %q2;
  selp.u32 %r3, 4, 0, %q3;
  selp.u32 %r4, 8, 0, %q4;
  selp.u32 %r5, 16, 0, %q5;
  add.u32 %r1, %r1, %r2;
  add.u32 %r1, %r1, %r3;
  add.u32 %r1, %r1, %r4;
  add.u32 %r1, %r1, %r5;
  st.global.u32 [%a], %r1;
)",
                 ".const .u32 table[16] = {1, 2, 3};\n"));
  auto memory = gpu.upload(std::vector<uint32_t>(32, 0));
  gpu.run("k", {1}, {32}, 0, memory);
  gpu.expectClean();
  EXPECT_EQ(gpu.download<uint32_t>(memory, 1)[0], 9u);
}

} // namespace
} // namespace tile::vgpu
