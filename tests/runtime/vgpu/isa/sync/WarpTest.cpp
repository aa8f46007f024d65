// Exchange between lanes, votes, reductions, atomics and indexed branches.
#include "tests/runtime/vgpu/Lanewise.h"
#include "tests/runtime/vgpu/Twins.h"

#include <bit>

namespace tile::vgpu {
namespace {

std::vector<uint32_t> lanes(size_t count = 64) {
  std::vector<uint32_t> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<uint32_t>(1000 + 7 * i);
  return values;
}

TEST(Shuffle, ModesAndSegments) {
  auto x = lanes();
  struct Case {
    std::string text;
    int (*source)(int lane);
  };
  for (const Case &test :
       {Case{"idx.b32 %d, %x, 5, 31", [](int) { return 5; }},
        Case{"idx.b32 %d, %x, 5, 0x181f", [](int lane) { return (lane & 24) | 5; }},
        Case{"up.b32 %d, %x, 3, 0", [](int lane) { return lane < 3 ? lane : lane - 3; }},
        Case{"down.b32 %d, %x, 3, 31", [](int lane) { return lane > 28 ? lane : lane + 3; }},
        Case{"down.b32 %d, %x, 2, 0x1c1f", [](int lane) { return lane % 4 > 1 ? lane : lane + 2; }},
        Case{"bfly.b32 %d, %x, 9, 31", [](int lane) { return lane ^ 9; }}}) {
    auto result = applyPtx<uint32_t>("shfl.sync." + test.text + ", -1;", x);
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(result[i], x[i / 32 * 32 + test.source(i % 32)]) << test.text << " lane " << i;
  }
  auto inRange =
      applyPtx<uint32_t>("shfl.sync.up.b32 %d|%p, %x, 3, 0, -1; selp.u32 %d, 1, 0, %p;", x);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(inRange[i], uint32_t{i % 32 >= 3});
}

TEST(Vote, AllForms) {
  auto x = lanes();
  std::string test = "setp.lt.u32 %p, %x, 1070; ";
  auto ballot = applyPtx<uint32_t>(test + "vote.sync.ballot.b32 %d, %p, -1;", x);
  auto any = applyPtx<uint32_t>(test + "vote.sync.any.pred %p, %p, -1; selp.u32 %d, 1, 0, %p;", x);
  auto all = applyPtx<uint32_t>(test + "vote.sync.all.pred %p, !%p, -1; selp.u32 %d, 1, 0, %p;", x);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(ballot[i], i < 32 ? 0x3ffu : 0u);
    EXPECT_EQ(any[i], uint32_t{i < 32});
    EXPECT_EQ(all[i], uint32_t{i >= 32});
  }
}

TEST(Match, AnyNamesEqualLanes) {
  std::vector<uint32_t> x(32);
  for (uint32_t i = 0; i < 32; ++i)
    x[i] = i % 3;
  auto result = applyPtx<uint32_t>("match.any.sync.b32 %d, %x, -1;", x);
  for (uint32_t i = 0; i < 32; ++i)
    for (uint32_t j = 0; j < 32; ++j)
      EXPECT_EQ(result[i] >> j & 1, uint32_t{i % 3 == j % 3});
}

TEST(Redux, ReducesTheWarp) {
  auto x = lanes(32);
  x[7] = 0xfffffff0u;
  uint32_t sum = 0, conjunction = ~0u;
  for (uint32_t value : x)
    sum += value, conjunction &= value;
  EXPECT_EQ(applyPtx<uint32_t>("redux.sync.add.u32 %d, %x, -1;", x)[3], sum);
  EXPECT_EQ(applyPtx<uint32_t>("redux.sync.and.b32 %d, %x, -1;", x)[3], conjunction);
  EXPECT_EQ(applyPtx<uint32_t>("redux.sync.min.s32 %d, %x, -1;", x)[3], 0xfffffff0u);
  EXPECT_EQ(applyPtx<uint32_t>("redux.sync.min.u32 %d, %x, -1;", x)[3], 1000u);
  EXPECT_EQ(applyPtx<uint32_t>("redux.sync.max.u32 %d, %x, -1;", x)[3], 0xfffffff0u);
}

TEST(Warp, SpecialRegisters) {
  std::vector<uint32_t> x(64);
  auto lane = applyPtx<uint32_t>("mov.u32 %d, %laneid;", x),
       below = applyPtx<uint32_t>("mov.u32 %d, %lanemask_lt;", x),
       above = applyPtx<uint32_t>("mov.u32 %d, %lanemask_ge;", x),
       threads = applyPtx<uint32_t>("mov.u32 %d, %ntid.x;", x),
       active = applyPtx<uint32_t>("activemask.b32 %d;", x);
  for (uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(lane[i], i % 32);
    EXPECT_EQ(below[i], (1u << i % 32) - 1);
    EXPECT_EQ(above[i], ~((1u << i % 32) - 1));
    EXPECT_EQ(threads[i], 256u);
    EXPECT_EQ(active[i], ~0u);
  }
}

TEST(Warp, ThreadAndBlockIndicesInThreeDimensions) {
  std::string ptx = R"(.version 8.4
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b32 %b, %t, %n, %r<12>;
  .reg .b64 %p;
  mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;
  mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y; mov.u32 %r5, %ntid.z;
  mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ctaid.y; mov.u32 %r8, %ctaid.z;
  mov.u32 %r9, %nctaid.x; mov.u32 %r10, %nctaid.y;
  mad.lo.u32 %t, %r2, %r4, %r1;
  mad.lo.u32 %t, %t, %r3, %r0;
  mad.lo.u32 %b, %r8, %r10, %r7;
  mad.lo.u32 %b, %b, %r9, %r6;
  mul.lo.u32 %n, %r3, %r4;
  mul.lo.u32 %n, %n, %r5;
  mad.lo.u32 %t, %b, %n, %t;
  ld.param.u64 %p, [p];
  mad.wide.u32 %p, %t, 4, %p;
  st.global.u32 [%p], %t;
  ret;
}
)";
  Gpu gpu(ptx);
  uint32_t count = 2 * 3 * 4 * 5 * 3 * 7;
  auto out = gpu.device->alloc(4 * count);
  gpu.run("k", {2, 3, 4}, {5, 3, 7}, 0, out);
  gpu.expectClean();
  auto result = gpu.download<uint32_t>(out, count);
  for (uint32_t i = 0; i < count; ++i)
    EXPECT_EQ(result[i], i);
}

TEST(Control, IndexedBranch) {
  std::vector<uint32_t> x(64);
  for (uint32_t i = 0; i < 64; ++i)
    x[i] = i * 5 % 3;
  auto result = applyPtx<uint32_t>(R"(TABLE: .branchtargets A, B, C;
  brx.idx %x, TABLE;
A:
  mov.u32 %d, 100;
  bra END;
B:
  mov.u32 %d, 200;
  bra END;
C:
  mov.u32 %d, 300;
END:
  activemask.b32 %m;
  add.u32 %d, %d, %m;)",
                                   x);
  // All lanes have converged again after the table.
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(result[i], 100 * (x[i] + 1) + ~0u);
}

// One word that all 64 lanes update with their value.
template <class T>
T atomicResult(const std::string &operation, T start, const std::vector<T> &values,
               const std::string &target = "sm_80") {
  std::string bits = bitsOf<T>();
  std::string ptx = ".version 8.4\n.target " + target +
                    "\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 v)\n{\n  "
                    ".reg .b32 %t;\n  .reg .b64 %p, %v;\n  .reg ." +
                    bits +
                    " %x, %old;\n  ld.param.u64 %p, [p];\n  ld.param.u64 %v, [v];\n  mov.u32 %t, "
                    "%tid.x;\n  mad.wide.u32 %v, %t, " +
                    std::to_string(sizeof(T)) + ", %v;\n  ld.global." + bits + " %x, [%v];\n  " +
                    operation + "\n  ret;\n}\n";
  Gpu gpu(ptx, target);
  auto word = gpu.upload(std::vector<T>{start});
  gpu.run("k", {1}, {static_cast<uint32_t>(values.size())}, 0, word, gpu.upload(values));
  gpu.expectClean();
  return gpu.download<T>(word, 1)[0];
}

TEST(Atomic, Operations) {
  auto x = lanes();
  uint32_t sum = 5, exclusive = 5;
  for (uint32_t value : x)
    sum += value, exclusive ^= value;
  EXPECT_EQ(atomicResult<uint32_t>("atom.global.add.u32 %old, [%p], %x;", 5, x), sum);
  EXPECT_EQ(atomicResult<uint32_t>("red.global.add.u32 [%p], %x;", 5, x), sum);
  EXPECT_EQ(atomicResult<uint32_t>(".reg .b64 %policy;\n"
                                   "createpolicy.fractional.L2::evict_last.b64 %policy, 1.0;\n"
                                   "atom.global.add.L2::cache_hint.u32 %old, [%p], %x, %policy;",
                                   5, x),
            sum);
  EXPECT_EQ(atomicResult<uint32_t>("red.relaxed.gpu.global.xor.b32 [%p], %x;", 5, x), exclusive);
  EXPECT_EQ(atomicResult<uint32_t>("atom.global.max.s32 %old, [%p], %x;", ~0u, x), x.back());
  EXPECT_EQ(atomicResult<uint32_t>("atom.global.max.u32 %old, [%p], %x;", ~0u, x), ~0u);
  EXPECT_EQ(atomicResult<uint32_t>("atom.global.min.s32 %old, [%p], %x;", ~0u, x), ~0u);
  EXPECT_EQ(atomicResult<uint32_t>("atom.global.inc.u32 %old, [%p], 9;", 3, x), (3 + 64) % 10u);
  EXPECT_EQ(atomicResult<uint32_t>("atom.global.cas.b32 %old, [%p], 1000, %x;", 1000, {77u, 78u}),
            77u);
  EXPECT_EQ(atomicResult<uint64_t>("atom.global.add.u64 %old, [%p], %x;", ~uint64_t{0}, {1, 5}),
            5u);
  EXPECT_EQ(atomicResult<float>("atom.global.add.f32 %old, [%p], %x;", 0.5f, {1.0f, 2.0f, -8.0f}),
            -4.5f);
  EXPECT_EQ(atomicResult<double>("atom.global.add.f64 %old, [%p], %x;", 0.5, {1.0, 2.0, -8.0}),
            -4.5);
  EXPECT_EQ(atomicResult<uint32_t>("red.global.add.noftz.f16x2 [%p], %x;", 0x3c003c00,
                                   {0x3c004000u, 0x40003c00u}),
            0x44004400u);
  // Subnormal sums vanish on global memory.
  EXPECT_EQ(atomicResult<float>("atom.global.add.f32 %old, [%p], %x;", 1e-40f, {1e-40f}), 0.0f);
}

// 9.7.13.5: sums of subnormals vanish on global memory and stay on shared memory, by whatever address.
TEST(Atomic, SubnormalsStayInSharedMemory) {
  std::string ptx = kernel(R"(  mov.u32 %r1, buffer;
  cvt.u64.u32 %rd1, %r1;
  cvta.shared.u64 %rd1, %rd1;
  cvta.global.u64 %rd2, %p;
  ld.global.f32 %f1, [%p];
  st.shared.f32 [%r1], %f1;
  st.shared.f32 [%r1+4], %f1;
  atom.shared.add.f32 %f2, [%r1], %f1;
  red.add.f32 [%rd1+4], %f1;
  red.add.f32 [%rd2+12], %f1;
  ld.shared.f32 %f3, [%r1];
  ld.shared.f32 %f4, [%r1+4];
  st.global.f32 [%p+4], %f3;
  st.global.f32 [%p+8], %f4;
)");
  Gpu gpu(ptx);
  auto memory = gpu.upload(std::vector<float>(4, 1e-40f));
  gpu.run("k", {1}, {1}, 0, memory);
  gpu.expectClean();
  float twice = 1e-40f + 1e-40f;
  EXPECT_EQ(gpu.download<float>(memory, 4), (std::vector<float>{1e-40f, twice, twice, 0.0f}));
}

} // namespace
} // namespace tile::vgpu
