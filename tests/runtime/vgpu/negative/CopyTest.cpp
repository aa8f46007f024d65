// cp.async: groups, stages, and arrivals at memory barriers.
#include "tests/runtime/vgpu/negative/Faults.h"

namespace tile::vgpu {
namespace {

TEST(NegativeCopy, Stages) {
  expectFaults(
      hopper(kStages), stageSums,
      {
          {"no wait", {{"  cp.async.wait_group 1;\n"}}, {AsyncRace, Race}},
          {"waits for a group too few", {{"wait_group 1", "wait_group 2"}}, {AsyncRace, Race}},
          {"the first group is not committed",
           {{"  cp.async.commit_group;\nLOOP", "LOOP"}},
           {AsyncRace, Race}},
          {"no barrier after the wait", {{"  bar.sync 0;\n"}}, {AsyncRace, Race}},
          {"no barrier before the stage is filled again", {{"  bar.sync 1;\n"}}, {AsyncRace, Race}},
          {"reads the stage in flight",
           {{"and.b32 %r15, %r11, 1", "and.b32 %r15, %r12, 1"}},
           {AsyncRace}},
          {"fills the stage that is read",
           {{"and.b32 %r13, %r12, 1", "and.b32 %r13, %r11, 1"}},
           {AsyncRace, Race}},
          {"a source outside",
           {{"%r12, 256, %a", "%r12, 32768, %a"}},
           {OutOfBounds},
           "cp.async.ca.shared.global [%r14]"},
          {"a source that is not aligned", {{"[%rd1], 4", "[%rd1+2], 4"}}, {Misaligned}},
          {"a target outside", {{"%r13, 256, %r2", "%r13, 65536, %r2"}}, {OutOfBounds}},
      });
}

// A copy of 16 bytes of which only some are there.
const std::string kShort = R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 16, %r1;
  mad.wide.u32 %rd1, %t, 16, %p;
  setp.eq.u32 %q1, %t, 63;
  selp.u32 %r3, 8, 16, %q1;
  cp.async.cg.shared.global [%r2], [%rd1], 16, %r3;
  cp.async.wait_all;
  ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2];
  st.global.u32 [%a+16384], %r6;
)";

TEST(NegativeCopy, ShortSources) {
  expectFaults(hopper(kShort),
               [](size_t i) {
                 return static_cast<uint32_t>(i == 4096 + 63               ? 0
                                              : i >= 4096 && i < 4096 + 63 ? 4 * (i - 4096) + 2
                                                                           : i);
               },
               {
                   {"longer than the copy",
                    {{"selp.u32 %r3, 8, 16", "selp.u32 %r3, 24, 16"}},
                    {OutOfBounds}},
                   {"no wait", {{"  cp.async.wait_all;\n"}}, {AsyncRace}, "ld.shared.v4"},
               });
}

// The copies arrive at a memory barrier.
const std::string kArrivals = R"(  @%q15 mbarrier.init.shared.b64 [full], 64;
  bar.sync 0;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  xor.b32 %r3, %r2, 128;
  cp.async.ca.shared.global [%r2], [%a], 4;
  cp.async.mbarrier.arrive.noinc.shared.b64 [full];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %q1, [full], 0;
  @!%q1 bra WAIT;
  ld.shared.u32 %r4, [%r3];
  st.global.u32 [%a+16384], %r4;
)";

TEST(NegativeCopy, ArrivalsAtABarrier) {
  expectFaults(
      hopper(kArrivals),
      [](size_t i) { return static_cast<uint32_t>(i >= 4096 && i < 4160 ? (i - 4096) ^ 32 : i); },
      {
          {"no arrival",
           {{"  cp.async.mbarrier.arrive.noinc.shared.b64 [full];\n"}},
           {Deadlock},
           "",
           "64 of 64 arrivals pending"},
          {"arrivals that the barrier does not count",
           {{".noinc"}},
           {Deadlock},
           "",
           "arrivals pending"},
          {"the threads arrive, not the copies",
           {{"cp.async.mbarrier.arrive.noinc.shared.b64 [full]",
             "mbarrier.arrive.shared.b64 _, [full]"}},
           {AsyncRace}},
          {"no wait", {{"  @!%q1 bra WAIT;\n"}}, {AsyncRace, Race}},
          {"the wrong parity", {{"[full], 0", "[full], 1"}}, {AsyncRace, Race}},
          {"no initialisation", {{"  @%q15 mbarrier.init.shared.b64 [full], 64;\n"}}, {Async}},
          {"nothing orders the initialisation", {{"  bar.sync 0;\n"}}, {Async}},
      });
}

// With .noinc left out each arrival adds one itself.
TEST(NegativeCopy, ArrivalsThatCountThemselves) {
  std::string good =
      edited(kArrivals, {{".noinc"},
                         {"arrive.shared.b64 [full];",
                          "arrive.shared.b64 [full];\n  mbarrier.arrive.shared.b64 _, [full];"}});
  expectFaults(
      hopper(good),
      [](size_t i) { return static_cast<uint32_t>(i >= 4096 && i < 4160 ? (i - 4096) ^ 32 : i); },
      {
          {"none of the threads'", {{"  mbarrier.arrive.shared.b64 _, [full];\n"}}, {Deadlock}},
      });
}

// What another warp has just written is copied.
const std::string kSource = R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  xor.b32 %r3, %t, 32;
  mad.wide.u32 %rd1, %r3, 4, %p;
  add.u32 %r4, %t, 7000;
  st.global.u32 [%a], %r4;
  bar.sync 0;
  cp.async.ca.shared.global [%r2], [%rd1], 4;
  cp.async.wait_all;
  ld.shared.u32 %r5, [%r2];
  st.global.u32 [%a+16384], %r5;
)";

TEST(NegativeCopy, TheSourceIsReadInOrder) {
  expectFaults(hopper(kSource),
               [](size_t i) {
                 return static_cast<uint32_t>(i < 64                  ? i + 7000
                                              : i >= 4096 && i < 4160 ? ((i - 4096) ^ 32) + 7000
                                                                      : i);
               },
               {
                   {"no barrier before the copy", {{"  bar.sync 0;\n"}}, {Race}},
               });
}

} // namespace
} // namespace tile::vgpu
