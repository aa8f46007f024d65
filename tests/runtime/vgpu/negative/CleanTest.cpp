// What looks like a fault and is none: correct kernels that careless checkers report.
#include "tests/runtime/vgpu/negative/Faults.h"

namespace tile::vgpu {
namespace {

const Shape kWarp{{1}, {32}, {}, {}};

// Replicated layouts store duplicates.
TEST(NoFalsePositive, EqualValuesFromManyThreads) {
  const std::string good = hopper(R"(  mov.u32 %r1, tile;
  and.b32 %r2, %t, 7;
  mad.lo.u32 %r3, %r2, 4, %r1;
  st.shared.u32 [%r3], %r2;
  bar.sync 0;
  ld.shared.u32 %r4, [%r3];
  st.global.u32 [%p], 3;
  st.global.u32 [%a+256], %r4;
)");
  expectNoFault(good, [](size_t i) {
    return static_cast<uint32_t>(i == 0 ? 3 : i >= 64 && i < 128 ? i % 8 : i);
  });
  // To the strict they are races, inside a warp and between warps.
  for (auto [schedule, seed] : kSchedules) {
    auto gpu = launch(good, schedule, seed, {}, 1, "all,strict");
    gpu->expectFinding(WarpRace, lineOf(good, "st.shared.u32 [%r3], %r2"));
    gpu->expectFinding(WarpRace, lineOf(good, "st.global.u32 [%p], 3"));
  }
}

// A tile is read, then filled by a copy: happens-before is enough.
TEST(NoFalsePositive, CopyOverWhatHasBeenRead) { expectNoFault(hopper(kRing), ringSums); }

TEST(NoFalsePositive, StrongAccesses) {
  expectNoFault(hopper(R"(  red.relaxed.gpu.global.add.u32 [%p], 1;
  ld.relaxed.gpu.global.u32 %r1, [%p];
  ld.volatile.global.u32 %r2, [%p];
  bar.sync 0;
)"),
                [](size_t i) { return static_cast<uint32_t>(i ? i : 64); });
}

TEST(NoFalsePositive, WordsOfBarriers) { expectNoFault(hopper(kBulkLoad), addedOne); }

// Rows are longer than what is used of them; the padding is written by others at the same time.
TEST(NoFalsePositive, NeighbouringBytes) {
  expectNoFault(hopper(R"(  mov.u32 %r1, tile;
  add.u32 %r2, %r1, %t;
  cvt.u16.u32 %h0, %t;
  st.shared.u8 [%r2], %h0;
  ld.shared.u8 %h1, [%r2];
  cvt.u32.u16 %r3, %h1;
  st.global.u32 [%a], %r3;
)"),
                unchanged);
}

TEST(NoFalsePositive, PartialBarriersAndExitedWarps) {
  expectNoFault(hopper(R"(  setp.eq.u32 %q1, %w, 3;
  @%q1 exit;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  st.shared.u32 [%r2], %t;
  setp.eq.u32 %q2, %w, 2;
  @%q2 bra ALL;
  bar.sync 1, 64;
  xor.b32 %r3, %r2, 128;
  ld.shared.u32 %r4, [%r3];
ALL:
  bar.sync 0;
  st.global.u32 [%a], %t;
)"),
                unchanged, {{1}, {128}, {}, {}});
}

TEST(NoFalsePositive, UnusedUninitialisedValues) {
  expectNoFault(hopper(R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 8, %r1;
  st.shared.u32 [%r2], %t;
  ld.shared.v2.u32 {%r3, %r4}, [%r2];
  setp.lt.u32 %q1, %t, 64;
  selp.u32 %r5, %r3, %r4, %q1;
  mov.u32 %r6, 0;
  @!%q1 mov.u32 %r6, %r4;
  add.u32 %r5, %r5, %r6;
  st.global.u32 [%a], %r5;
)"),
                unchanged);
}

// Masked lanes, sources of size 0 and prefetches may have any address.
TEST(NoFalsePositive, AddressesNobodyTouches) {
  expectNoFault(
      hopper(R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 16, %r1;
  mad.wide.u32 %rd1, %t, 1048576, %p;
  prefetch.global.L2 [%rd1];
  @%q15 ld.global.u32 %r3, [%rd1];
  @!%q15 mov.u32 %r3, 0;
  selp.u32 %r4, 16, 0, %q15;
  cp.async.cg.shared.global [%r2], [%rd1], 16, %r4;
  cp.async.wait_all;
  ld.shared.u32 %r5, [%r2+4];
  add.u32 %r5, %r5, %r3;
  st.global.u32 [%a+4096], %r5;
)"),
      [](size_t i) { return static_cast<uint32_t>(i < 1024 || i >= 1088 ? i : i == 1024); });
}

TEST(NoFalsePositive, ProgramOrderOfALaneThroughShuffles) {
  expectNoFault(
      hopper(R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %l, 4, %r1;
  st.shared.u32 [%r2], %t;
  shfl.sync.idx.b32 %r3, %t, 5, 31, -1;
  ld.shared.u32 %r4, [%r2];
  add.u32 %r4, %r4, 1;
  st.shared.u32 [%r2], %r4;
  ld.shared.u32 %r5, [%r2];
  st.global.u32 [%a], %r5;
)"),
      [](size_t i) { return static_cast<uint32_t>(i < 32 ? i + 1 : i); }, kWarp);
}

// Without another launch to wait for, dependent launches change nothing.
TEST(NoFalsePositive, DependentLaunches) {
  expectNoFault(hopper("  griddepcontrol.wait;\n  griddepcontrol.launch_dependents;\n"), unchanged);
}

} // namespace
} // namespace tile::vgpu
