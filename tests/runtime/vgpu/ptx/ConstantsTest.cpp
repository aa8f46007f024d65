// Constant expressions and vector registers. The values are those that ptxas 13.0 puts into initialised variables.
#include "tests/runtime/vgpu/Kernels.h"

#include <bit>

namespace tile::vgpu {
namespace {

struct Constant {
  const char *text;
  uint64_t value;
};
constexpr uint64_t kOnes = ~uint64_t{0};

const Constant kIntegers[] = {
    {"1<<4", 16},
    {"-1>>1", kOnes},
    {"(.u64)-1>>1", kOnes >> 1},
    {"-1U>>1", kOnes >> 1},
    {"~0>>1", kOnes >> 1},
    {"-7/2", 0xfffffffffffffffd},
    {"7%-2", 7},
    {"10- 2 * 3 / 2 % 2", 9},
    {"(.u64)-7/2", 0x7ffffffffffffffc},
    {"-7/2U", 0x7ffffffffffffffc},
    {"-1<1", 1},
    {"-1<1U", 0},
    {"-1 < (.u64)1", 0},
    {"1<<64", 1},
    {"1<<65", 2},
    {"1<<-1", uint64_t{1} << 63},
    {"-1>>64", kOnes},
    {"!5", 0},
    {"!0", 1},
    {"!!7", 1},
    {"!0 - 2 >> 63", kOnes},
    {"5&3^1|8", 8},
    {"1+2*3-4", 3},
    {"2-3-4", 0xfffffffffffffffb},
    {"1?2:3", 2},
    {"0?2:0?4:5", 5},
    {"1 ? 2 : 3 + 4", 2},
    {"1 == 1 ? 7 : 9", 7},
    {"(1 ? -1 : 1U) > 0", 0},
    {"(0 ? 1 : -1U) >> 63", 1},
    {"1||0&&0", 1},
    {"1|2==2", 1},
    {"2 & 2 == 2", 0},
    {"1 | 2 & 4 ^ 8 == 8 && 3", 1},
    {"5>3>1", 0},
    {"-5 < 3 && 2", 1},
    {"-(-9223372036854775807)", 0x7fffffffffffffff},
    {"0xffffffffffffffff>>4", kOnes >> 4},
    {"9223372036854775808 >> 63", 1},
    {"-9223372036854775808/-1", 0},
    {"0x7fffffffffffffff+1 >> 63", kOnes},
    {"(.s64)0xffffffffffffffff>>4", kOnes},
    {"~(.s64)5>>1", 0x7ffffffffffffffd},
    {"1<<2+1", 8},
    {"8>>1<<2", 16},
    {"- 5 + ~ 3", 0xfffffffffffffff7},
    {"- -5", 5},
    {"-+5", 0xfffffffffffffffb},
    {"5- -3", 8},
    {"(-1|0)>>63", kOnes},
    {"(-1 | 0U) >> 63", 1},
    {"(-1^0)/2", 0},
    {"(-1 + 0U) >> 63", 1},
    {"(-2 % -1) >> 63", 1},
    {"(-1 >> 1U)>>63", kOnes},
    {"1.0<2.0", 1},
    {"1.5==1.5", 1},
    {"1.0!=1.0", 0},
    {"1e3<5.0", 0},
    {"(1.0<2.0) - 2 >> 63", kOnes},
    {"WARP_SZ*3", 96},
    {"010+1", 9},
    {"0b11<<1", 6},
    {"(3>2)?(1):(0)", 1},
};

const Constant kDoubles[] = {
    {"1.0/3.0", 0x3fd5555555555555},     {"1.5*2.0-1.0", 0x4000000000000000},
    {"-(1.5)", 0xbff8000000000000},      {"-(1.5*2.0)", 0xc008000000000000},
    {"1.0+2.0*3.0", 0x401c000000000000}, {"+1.5", 0x3ff8000000000000},
    {"(1.5)", 0x3ff8000000000000},       {"0d3ff0000000000000", 0x3ff0000000000000},
};

const char *const kRefused[] = {"7 % 0",
                                "4/0",
                                "1.0/0.0",
                                "1.0 + 1",
                                "2*1.0",
                                "!1.5",
                                "1.0&&1",
                                "5 < 4.0",
                                "1 ? 2 : 1.0",
                                "1.0 ? 2 : 3",
                                "1 + (2",
                                "(1)(2)",
                                "(.u32)5",
                                "0f3f800000+1.0",
                                "(.s64)1.5",
                                "1 <",
                                "~1.0",
                                "1 ? 2",
                                "0f3f800000+0f3f800000"};

std::string kernelOf(const std::string &variables, const std::string &body,
                     const std::string &target = "sm_80") {
  return ".version 8.3\n.target " + target + "\n.address_size 64\n" + variables +
         "\n.visible .entry k(.param .u64 p)\n{\n  .reg .b64 %p, %d<9>;\n  .reg .b32 %r<9>;\n"
         "  ld.param.u64 %p, [p];\n" +
         body + "  ret;\n}\n";
}

uint64_t result(const std::string &ptx, const std::string &target = "sm_80") {
  Gpu gpu(ptx, target);
  auto buffer = gpu.upload(std::vector<uint64_t>(4));
  gpu.run("k", {1}, {1}, 0, buffer);
  gpu.expectClean();
  return gpu.download<uint64_t>(buffer, 1)[0];
}

TEST(Constants, AsOperandsAndAsInitialValues) {
  for (const Constant &constant : kIntegers) {
    EXPECT_EQ(result(kernelOf("", std::string("  mov.u64 %d1, ") + constant.text +
                                      ";\n  st.global.u64 [%p], %d1;\n")),
              constant.value)
        << constant.text;
    EXPECT_EQ(result(kernelOf(std::string(".global .u64 x[2] = {7, ") + constant.text + "};",
                              "  ld.global.u64 %d1, [x+1<<3];\n  st.global.u64 [%p], %d1;\n")),
              constant.value)
        << constant.text;
  }
}

TEST(Constants, Floats) {
  for (const Constant &constant : kDoubles) {
    std::string text = constant.text;
    EXPECT_EQ(result(kernelOf("", "  .reg .f64 %e;\n  mov.f64 %e, " + text +
                                      ";\n  st.global.f64 [%p], %e;\n")),
              constant.value)
        << text;
    EXPECT_EQ(result(kernelOf(".global .f64 x = " + text + ";",
                              "  ld.global.u64 %d1, [x];\n  st.global.u64 [%p], %d1;\n")),
              constant.value)
        << text;
  }
  EXPECT_EQ(result(kernelOf(".global .f32 x[2] = {0.1+0.2, -0f3f800000};",
                            "  ld.global.u64 %d1, [x];\n  st.global.u64 [%p], %d1;\n")),
            0xbf8000003e99999a);
}

TEST(Constants, WhatTheAssemblerRefuses) {
  for (const char *text : kRefused)
    EXPECT_THROW(Gpu(kernelOf(std::string(".global .u64 x = ") + text + ";", "")), Error) << text;
  for (const char *extent : {"2*4", "1<<3"})
    EXPECT_THROW(Gpu(kernelOf(std::string(".global .u64 x[") + extent + "];", "")), Error);
  std::string deep(10000, '(');
  EXPECT_THROW(Gpu(kernelOf(".global .u64 x = " + deep + "1;", "")), Error);
  EXPECT_THROW(Gpu(kernelOf("", "  mov.u64 %d1, " + std::string(10000, '-') + "1;\n")), Error);
}

TEST(Constants, OffsetsAndVectors) {
  EXPECT_EQ(result(kernelOf(".global .align 8 .b32 x[4] = {1, 2, 3, 4};\n.global .u64 y = x+2*4;",
                            R"(  ld.global.u64 %d1, [y];
  ld.global.v2.b32 {%r1, %r2}, [%d1 + 2*4 - 16];
  mad.lo.u32 %r1, %r1, 5+5, %r2;
  mov.b64 %d2, {%r1, 1+1};
  st.global.u64 [%p+ -8+8], %d2;
)")),
            (uint64_t{2} << 32) + 12);
}

TEST(Constants, BytesOfAddresses) {
  std::string bytes;
  for (const char *mask : {"0xff", "0xff00", "0xff0000", "0xff000000", "0xff00000000",
                           "0xff0000000000", "0xff000000000000", "0xff00000000000000"})
    bytes += std::string(bytes.empty() ? "" : ", ") + mask + "(generic(y)+8)";
  EXPECT_EQ(result(kernelOf(".global .align 8 .u64 y[2] = {5, 6};\n.global .align 8 .u8 x[8] = {" +
                                bytes + "};",
                            R"(  ld.global.u64 %d1, [x];
  ld.u64 %d2, [%d1];
  st.global.u64 [%p], %d2;
)")),
            6u);
  for (const char *value : {"0xf0(y)", "1.0(y)", "0xff(y)+4", "0xff(y", "0xff(missing)"})
    EXPECT_THROW(
        Gpu(kernelOf(std::string(".global .u32 y;\n.global .u8 x[2] = {") + value + ", 1};", "")),
        Error)
        << value;
  EXPECT_THROW(Gpu(kernelOf(".global .u32 y;\n.global .u16 x[2] = {0xff(y), 1};", "")), Error);
}

TEST(VectorRegisters, AreTheirElements) {
  EXPECT_EQ(result(kernelOf("", R"(  .reg .v4 .b32 v, u<3>;
  .reg .v2 .b32 w;
  mov.v4.b32 v, {1, 2, 3, 4};
  mov.v4.b32 u2, v;
  add.u32 u2.x, u2.g, v.w;
  st.global.v4.b32 [%p], u2;
  ld.global.v2.b32 w, [%p];
  shl.b32 w.y, w.r, 4*2;
  mov.b64 %d1, w;
  st.global.u64 [%p], %d1;
)")),
            (uint64_t{6} << 40) + 6);
}

TEST(VectorRegisters, MovesReadAllBeforeTheyWrite) {
  EXPECT_EQ(result(kernelOf("", R"(  mov.u32 %r1, 3;
  mov.u32 %r2, 4;
  mov.v2.u32 {%r1, %r2}, {%r2, %r1};
  mov.v4.u32 {%r3, _, %r4, %r5}, %ntid;
  add.u32 %r1, %r1, %r5;
  mad.lo.u32 %r2, %r3, 16, %r2;
  st.global.v2.u32 [%p], {%r1, %r2};
)")),
            (uint64_t{16 + 3} << 32) + 4);
}

TEST(SpecialRegisters, SharedMemoryAndWhatNobodyFills) {
  EXPECT_EQ(result(kernelOf(".shared .b8 tile[512];", R"(  mov.u32 %r1, %reserved_smem_offset_cap;
  mov.u32 %r2, %reserved_smem_offset_begin;
  st.shared.u8 [tile], %r1;
  mad.lo.u32 %r1, %r2, 7, %r1;
  mov.u32 %r3, %total_smem_size;
  mov.b32 %r4, %envreg31;
  add.u32 %r3, %r3, %r4;
  mov.u64 %d1, %pm7_64;
  cvt.u32.u64 %r4, %d1;
  add.u32 %r3, %r3, %r4;
  mov.u32 %r4, %ctaid.w;
  add.u32 %r3, %r3, %r4;
  st.global.v2.u32 [%p], {%r1, %r3};
)")),
            (uint64_t{512} << 32) + 1024);
}

// Sizes come in the units in which memory is given; %nwarpid is of the multiprocessor.
TEST(SpecialRegisters, SizesOfSharedMemory) {
  std::string body = R"(  mov.u32 %r1, %total_smem_size;
  st.shared.u8 [tile], %r1;
  mov.u32 %r2, %aggr_smem_size;
  mad.lo.u32 %r1, %r2, 65536, %r1;
  mov.u32 %r3, %reserved_smem_offset_end;
  mov.u32 %r4, %nwarpid;
  mad.lo.u32 %r3, %r4, 65536, %r3;
  st.global.v2.u32 [%p], {%r1, %r3};
)";
  uint64_t fixed = (uint64_t{64} << 48) + (uint64_t{288} << 32);
  EXPECT_EQ(result(kernelOf(".shared .b8 tile[3000];", body, "sm_90"), "sm_90"),
            fixed + (uint64_t{1024 + 3008} << 16) + 3072);
  EXPECT_EQ(result(kernelOf(".shared .b8 tile[64];", body, "sm_90"), "sm_90"),
            fixed + (uint64_t{1024 + 64} << 16) + 128);
}

TEST(SpecialRegisters, ExplicitClustersAreSeenByAllLanes) {
  for (std::string directives : {"", ".explicitcluster .reqnctapercluster 1, 1, 1\n"}) {
    Gpu gpu(".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n" +
                directives + R"({
  .reg .pred %c;
  .reg .b32 %t, %d;
  .reg .b64 %p, %q;
  ld.param.u64 %p, [p];
  mov.u32 %t, %tid.x;
  mov.pred %c, %is_explicit_cluster;
  selp.b32 %d, 1, 0, %c;
  mad.wide.u32 %q, %t, 4, %p;
  st.global.b32 [%q], %d;
  ret;
}
)",
            "sm_90");
    auto buffer = gpu.upload(std::vector<uint32_t>(64, 7));
    gpu.run("k", {1}, {64}, 0, buffer);
    gpu.expectClean();
    EXPECT_EQ(gpu.download<uint32_t>(buffer, 64), std::vector<uint32_t>(64, !directives.empty()));
  }
}

TEST(VectorRegisters, WhatTheAssemblerRefuses) {
  for (const char *line :
       {".reg .v2 .pred v;", ".reg .v4 .b64 v;", ".reg .v3 .b32 v;",
        ".reg .v2 .b32 v; mov.b32 %r1, v.z;", ".reg .v2 .b32 v; add.u32 v, v, v;"})
    EXPECT_THROW(result(kernelOf("", std::string("  ") + line + "\n")), Error) << line;
}

} // namespace
} // namespace tile::vgpu
