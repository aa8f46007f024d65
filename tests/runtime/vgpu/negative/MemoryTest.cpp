// Addresses outside, misaligned or freed, and data that were never written, in every space.
#include "tests/runtime/vgpu/negative/Faults.h"

namespace tile::vgpu {
namespace {

// Every space and vector form, at its last valid place.
const std::string kAccesses = R"(  mov.u32 %r1, tile;
  mov.u64 %rd1, depot;
  cvta.local.u64 %rd2, %rd1;
  st.local.u64 [%rd1+24], %p;
  st.u32 [%rd2+8], %t;
  ld.local.u64 %rd3, [%rd1+24];
  ld.u32 %r2, [%rd2+8];
  mad.lo.u32 %r3, %t, 16, %r1;
  st.shared.v4.u32 [%r3], {%t, %t, %t, %t};
  ld.shared.v2.u32 {%r4, %r5}, [%r3+8];
  ld.const.u32 %r6, [table+12];
  mad.wide.u32 %rd4, %t, 16, %p;
  ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd4+31744];
  ld.global.u16 %h0, [%a+2];
  atom.shared.add.u32 %r11, [%r3], 1;
  red.global.add.u32 [%a+16384], %r6;
  st.global.v2.u32 [%rd3+24000], {%r6, %r6};
)";

TEST(NegativeMemory, EverySpace) {
  std::string good = replaced(hopper(kAccesses, ".const .align 4 .u32 table[4] = {1, 2, 3, 4};"),
                              "  .shared", "  .local .align 16 .b8 depot[32];\n  .shared");
  std::vector<Fault> faults;
  auto fault = [&](const std::string &from, const std::string &to, FindingKind kind) {
    faults.push_back({from + " -> " + to, {{from, to}}, {kind}, to});
  };
  fault("st.local.u64 [%rd1+24]", "st.local.u64 [%rd1+32]", OutOfBounds);
  fault("st.local.u64 [%rd1+24]", "st.local.u64 [%rd1+20]", Misaligned);
  fault("st.u32 [%rd2+8]", "st.u32 [%rd2+32]", OutOfBounds);
  fault("st.shared.v4.u32 [%r3]", "st.shared.v4.u32 [%r3+8192]", OutOfBounds);
  fault("st.shared.v4.u32 [%r3]", "st.shared.v4.u32 [%r3+8]", Misaligned);
  fault("st.shared.v4.u32 [%r3]", "st.shared.v4.u32 [%r3+-1024]", OutOfBounds);
  fault("ld.shared.v2.u32 {%r4, %r5}, [%r3+8]", "ld.shared.v2.u32 {%r4, %r5}, [%r3+4]", Misaligned);
  fault("ld.const.u32 %r6, [table+12]", "ld.const.u32 %r6, [table+16]", OutOfBounds);
  fault("ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd4+31744]",
        "ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd4+31760]", OutOfBounds);
  fault("ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd4+31744]",
        "ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd4+31736]", Misaligned);
  fault("ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd4+31744]",
        "ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd4+-16]", OutOfBounds);
  fault("ld.global.u16 %h0, [%a+2]", "ld.global.u16 %h0, [%a+1]", Misaligned);
  fault("atom.shared.add.u32 %r11, [%r3]", "atom.shared.add.u32 %r11, [%r3+65536]", OutOfBounds);
  fault("atom.shared.add.u32 %r11, [%r3]", "atom.shared.add.u32 %r11, [%r3+2]", Misaligned);
  fault("red.global.add.u32 [%a+16384]", "red.global.add.u32 [%a+32768]", OutOfBounds);
  fault("st.global.v2.u32 [%rd3+24000]", "st.global.v2.u32 [0]", OutOfBounds);
  expectFaults(
      good,
      [](size_t i) {
        return static_cast<uint32_t>(i == 6000 || i == 6001  ? 4
                                     : i >= 4096 && i < 4160 ? i + 4
                                                             : i);
      },
      faults);
}

TEST(NegativeMemory, UseAfterFree) {
  ++CorpusSize::broken;
  for (auto [schedule, seed] : kSchedules) {
    Gpu gpu(hopper("  ld.global.u32 %r1, [%a];\n"), "sm_90a");
    gpu.device->setSchedule(schedule, seed);
    auto pointer = gpu.upload(std::vector<uint32_t>(64));
    device::TensorMap map;
    gpu.run("k", {1}, {64}, 0, pointer, map);
    gpu.expectClean();
    gpu.device->free(pointer);
    gpu.run("k", {1}, {64}, 0, pointer, map);
    ASSERT_FALSE(gpu.findings.empty());
    EXPECT_EQ(gpu.findings[0].kind, UseAfterFree);
  }
}

// Values reach a store, a branch and an address.
const std::string kValues = R"(  mov.u32 %r1, tile;
  mov.u64 %rd1, depot;
  mad.lo.u32 %r2, %t, 4, %r1;
  st.shared.u32 [%r2], %t;
  st.local.u32 [%rd1], %t;
  mov.u32 %r3, 1;
  ld.shared.u32 %r4, [%r2];
  ld.local.u32 %r5, [%rd1];
  add.u32 %r6, %r4, %r5;
  add.u32 %r6, %r6, %r3;
  setp.gt.u32 %q1, %r6, 1000;
  @%q1 bra DONE;
  mad.wide.u32 %rd2, %r4, 4, %p;
  st.global.u32 [%rd2], %r6;
DONE:
)";

TEST(NegativeMemory, Uninitialised) {
  std::string good =
      replaced(hopper(kValues), "  .shared", "  .local .align 4 .b8 depot[4];\n  .shared");
  expectFaults(
      good, [](size_t i) { return static_cast<uint32_t>(i < 64 ? 2 * i + 1 : i); },
      {
          {"shared memory", {{"  st.shared.u32 [%r2], %t;\n"}}, {Uninitialised}},
          {"half a word of shared memory",
           {{"st.shared.u32 [%r2], %t", "cvt.u16.u32 %h0, %t;\n  st.shared.u16 [%r2], %h0"}},
           {Uninitialised}},
          {"local memory", {{"  st.local.u32 [%rd1], %t;\n"}}, {Uninitialised}},
          {"a register", {{"  mov.u32 %r3, 1;\n"}}, {Uninitialised}},
          {"a register in some lanes",
           {{"  mov.u32 %r3, 1;\n", "  setp.lt.u32 %q2, %t, 63;\n  @%q2 mov.u32 %r3, 1;\n"}},
           {Uninitialised}},
          {"a condition",
           {{"setp.gt.u32 %q1, %r6, 1000", "setp.gt.u32 %q1, %r9, 1000"}},
           {Uninitialised},
           "@%q1 bra",
           "a condition"},
          {"an address",
           {{"mad.wide.u32 %rd2, %r4, 4, %p", "mad.wide.u32 %rd2, %r9, 0, %p"}},
           {Uninitialised},
           "st.global",
           "an address"},
      });
}

TEST(NegativeMemory, UnwrittenGlobalMemory) {
  ++CorpusSize::broken;
  for (auto [schedule, seed] : kSchedules) {
    Gpu gpu(hopper("  ld.global.u32 %r1, [%a];\n  st.global.u32 [%a+4096], %r1;\n"), "sm_90a");
    gpu.device->setSchedule(schedule, seed);
    device::TensorMap map;
    gpu.run("k", {1}, {64}, 0, gpu.device->alloc(8192), map);
    ASSERT_FALSE(gpu.findings.empty());
    EXPECT_EQ(gpu.findings[0].kind, Uninitialised);
  }
}

} // namespace
} // namespace tile::vgpu
