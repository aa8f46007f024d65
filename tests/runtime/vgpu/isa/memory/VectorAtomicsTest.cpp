// atom and red of vectors in global memory, which sm_90 has.
#include "tests/runtime/vgpu/Twins.h"

#include "runtime/vgpu/isa/alu/HalfFormat.h"

namespace tile::vgpu {
namespace {

std::string forHopper(const std::string &body) {
  std::string ptx = replaced(
      kernel("  .reg .b16 %h<16>;\n  and.b32 %r9, %t, 1;\n  mad.wide.u32 %rd1, %r9, 16, %p;\n" +
             body),
      ".target sm_80", ".target sm_90");
  return replaced(ptx, ".version 7.8", ".version 8.1");
}

// 64 threads meet in two vectors.
std::vector<uint16_t> runHalves(const std::string &body, const std::vector<uint16_t> &start) {
  Gpu gpu(forHopper(body), "sm_90");
  auto memory = gpu.upload(start);
  gpu.run("k", {1}, {64}, 0, memory);
  gpu.expectClean();
  return gpu.download<uint16_t>(memory, start.size());
}

TEST(VectorAtomics, SumsAndOldValuesOfFloats) {
  // The first old value replaces the address register's low word; every element must still find its place.
  Gpu gpu(
      forHopper("  cvt.rn.f32.u32 %f1, %t;\n"
                "  atom.global.add.v4.f32 {%f2, %f3, %f4, %f5}, [%rd1], {%f1, 1.0, -1.0, %f1};\n"
                "  atom.relaxed.gpu.global.add.v2.f32 {%f6, %f1}, [%rd1], {%f2, %f1};\n"),
      "sm_90");
  auto memory = gpu.upload(std::vector<float>(8, 0.0f));
  gpu.run("k", {1}, {2}, 0, memory);
  gpu.expectClean();
  EXPECT_EQ(gpu.download<float>(memory, 8), (std::vector<float>{0, 1, -1, 0, 1, 2, -1, 1}));
}

TEST(VectorAtomics, ReductionsOfHalves) {
  std::string values = "  cvt.u16.u32 %h1, %t;\n  cvt.rn.f16.u16 %h2, %h1;\n  neg.f16 %h3, %h2;\n"
                       "  mov.b32 %r1, {%h2, %h3};\n  mov.b16 %h4, 0x7e00;\n";
  auto zero = std::vector<uint16_t>(16, 0);
  auto most =
      runHalves(values + "  red.global.max.noftz.v4.f16 [%rd1], {%h2, %h3, %h2, %h4};\n", zero);
  for (int thread : {0, 1}) {
    EXPECT_EQ(halfToFloat(most[thread * 8]), 62 + thread);
    EXPECT_EQ(halfToFloat(most[thread * 8 + 1]), 0);
    EXPECT_EQ(halfToFloat(most[thread * 8 + 2]), 62 + thread);
    EXPECT_EQ(most[thread * 8 + 3], 0); // NaN loses
  }
  auto least =
      runHalves(values + "  red.relaxed.gpu.global.min.noftz.v2.f16x2 [%rd1], {%r1, %r1};\n", zero);
  auto sums = runHalves(
      values + "  red.global.add.noftz.v8.f16 [%rd1], {%h2, %h3, %h2, %h2, %h2, %h2, %h2, %h3};\n",
      zero);
  for (int thread : {0, 1}) {
    EXPECT_EQ(halfToFloat(least[thread * 8]), 0);
    EXPECT_EQ(halfToFloat(least[thread * 8 + 3]), -62 - thread);
    float sum = 31 * 32 + 32.0f * static_cast<float>(thread); // of even, or odd, numbers below 64
    EXPECT_EQ(halfToFloat(sums[thread * 8]), sum);
    EXPECT_EQ(halfToFloat(sums[thread * 8 + 7]), -sum);
  }
}

TEST(VectorAtomics, AlignmentIsThatOfTheVector) {
  std::string ptx = forHopper(
      "  mov.f32 %f1, 0f3f800000;\n  red.global.add.v4.f32 [%p+8], {%f1, %f1, %f1, %f1};\n");
  Gpu gpu(ptx, "sm_90");
  gpu.run("k", {1}, {1}, 0, gpu.upload(std::vector<float>(8)));
  gpu.expectFinding(FindingKind::Misaligned, lineOf(ptx, "red.global"));
}

TEST(VectorAtomics, WhatDoesNotExistIsRefused) {
  for (const char *instruction :
       {"red.global.max.v2.f32 [%p], {%f1, %f2};", "red.shared.add.v2.f32 [%r1], {%f1, %f2};",
        "red.global.add.v2.f64 [%p], {%rd1, %rd2};", "red.global.max.noftz.f16 [%p], %h1;",
        "red.global.add.noftz.v8.f16x2 [%p], {%r1, %r2, %r1, %r2, %r1, %r2, %r1, %r2};"}) {
    Gpu gpu(forHopper(std::string("  ") + instruction + "\n"), "sm_90");
    EXPECT_THROW(gpu.run("k", {1}, {1}, 0, uint64_t{0}), Error) << instruction;
  }
}

} // namespace
} // namespace tile::vgpu
