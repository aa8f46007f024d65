// Barriers of a block: missing, of the wrong number, with the wrong counts, met by part of a warp.
#include "tests/runtime/vgpu/negative/Faults.h"

namespace tile::vgpu {
namespace {

// Warps exchange words through shared memory, twice.
const std::string kExchange = R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  xor.b32 %r3, %r2, 128;
  st.shared.u32 [%r2], %t;
  bar.sync 0;
  ld.shared.u32 %r4, [%r3];
  bar.sync 1, 64;
  add.u32 %r4, %r4, 500;
  st.shared.u32 [%r2], %r4;
  bar.sync 2;
  ld.shared.u32 %r5, [%r3];
  st.global.u32 [%a], %r5;
)";

constexpr auto add500 = [](size_t i) { return static_cast<uint32_t>(i < 64 ? i + 500 : i); };

TEST(NegativeBarrier, Exchange) {
  expectFaults(
      hopper(kExchange), add500,
      {
          {"no barrier between write and read", {{"  bar.sync 0;\n"}}, {Race}},
          {"no barrier between read and next write", {{"  bar.sync 1, 64;\n"}}, {Race}},
          {"each warp waits for itself", {{"1, 64", "1, 32"}}, {Race}},
          {"more threads than the block has",
           {{"1, 64", "1, 96"}},
           {Deadlock},
           "bar.sync 1",
           "64 of 96 threads have arrived"},
          {"no multiple of a warp", {{"1, 64", "1, 48"}}, {FindingKind::Barrier}, "bar.sync 1"},
          {"a barrier that does not exist",
           {{"bar.sync 1, 64", "mov.u32 %r9, 16;\n  bar.sync %r9, 64"}},
           {FindingKind::Barrier},
           "bar.sync %r9",
           "there are 16"},
          {"half a warp",
           {{"  bar.sync 1, 64;", "  setp.lt.u32 %q1, %l, 16;\n  @%q1 bar.sync 1, 64;"}},
           {Divergence},
           "bar.sync 1"},
          {"in a branch of half a warp",
           {{"  bar.sync 1, 64;",
             "  setp.lt.u32 %q1, %l, 16;\n  @%q1 bra L;\n  bar.sync 1, 64;\nL:"}},
           {Divergence}},
          {"one warp leaves it out",
           {{"  bar.sync 1, 64;", "  setp.eq.u32 %q1, %w, 0;\n  @%q1 bar.sync 1, 64;"}},
           {Race, Deadlock}},
          {"warps wait at different barriers",
           {{"  bar.sync 1, 64;", "  add.u32 %r9, %w, 3;\n  bar.sync %r9, 64;"}},
           {Deadlock},
           "",
           "barrier 4 (32 of 64 threads"},
          {"warps disagree about the count",
           {{"  bar.sync 1, 64;", "  mad.lo.u32 %r9, %w, 32, 64;\n  bar.sync 1, %r9;"}},
           {FindingKind::Barrier},
           "bar.sync 1",
           "its open phase expects"},
      });
}

// Warp 1 produces, warp 0 consumes, warp 2 does something else.
const std::string kHandOver = R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %l, 4, %r1;
  setp.eq.u32 %q1, %w, 0;
  setp.eq.u32 %q2, %w, 2;
  @%q1 bra CONSUME;
  @%q2 bra ASIDE;
  st.shared.u32 [%r2], %t;
  bar.arrive 1, 64;
  bra DONE;
ASIDE:
  ld.shared.u32 %r3, [%r1+2048];
  bra DONE;
CONSUME:
  bar.sync 1, 64;
  ld.shared.u32 %r4, [%r2];
  st.global.u32 [%a], %r4;
DONE:
)";

TEST(NegativeBarrier, ArriveAndSync) {
  Shape three{{1}, {96}, {}, {}};
  expectFaults(
      hopper(kHandOver), [](size_t i) { return static_cast<uint32_t>(i < 32 ? i + 32 : i); },
      {
          {"arrives before it has written",
           {{"  st.shared.u32 [%r2], %t;\n  bar.arrive 1, 64;\n",
             "  bar.arrive 1, 64;\n  st.shared.u32 [%r2], %t;\n"}},
           {Race}},
          {"no arrival", {{"  bar.arrive 1, 64;\n"}}, {Deadlock}, "bar.sync 1", "32 of 64"},
          {"counts differ", {{"bar.arrive 1, 64", "bar.arrive 1, 96"}}, {FindingKind::Barrier}},
          {"another barrier", {{"bar.arrive 1, 64", "bar.arrive 2, 64"}}, {Deadlock}, "bar.sync 1"},
          {"arrives twice",
           {{"  bar.arrive 1, 64;\n", "  bar.arrive 1, 96;\n  bar.arrive 1, 96;\n"},
            {"bar.sync 1, 64", "bar.sync 1, 96"}},
           {FindingKind::Barrier}},
          {"no wait", {{"  bar.sync 1, 64;\n"}}, {Race}},
          {"a warp that takes no part looks", {{"[%r1+2048]", "[%r1+16]"}}, {Race, Uninitialised}},
      },
      three);
}

// Without .aligned, lanes that have parted wait each on its own.
TEST(NegativeBarrier, WithoutAligned) {
  const std::string branches = R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  xor.b32 %r3, %r2, 128;
  setp.lt.u32 %q1, %l, 16;
  @%q1 bra MEET;
  st.shared.u32 [%r2], %t;
  bra HERE;
MEET:
  st.shared.u32 [%r2], %t;
HERE:
  barrier.sync 1, 64;
  ld.shared.u32 %r4, [%r3];
  st.global.u32 [%a], %r4;
)";
  expectFaults(hopper(branches),
               [](size_t i) { return static_cast<uint32_t>(i < 64 ? i ^ 32 : i); },
               {
                   {"no barrier", {{"  barrier.sync 1, 64;\n"}}, {Race, Uninitialised}},
                   {"another barrier in a branch",
                    {{"  bra HERE;", "  barrier.sync 2, 64;\n  bra HERE;"},
                     {"HERE:\n  barrier.sync 1, 64;", "  barrier.sync 1, 64;\nHERE:"}},
                    {Deadlock},
                    "",
                    "32 of 64"},
               });
}

// Votes of all threads decide what all do.
const std::string kVote = R"(  setp.lt.u32 %q1, %t, 40;
  bar.red.popc.u32 %r1, 0, %q1;
  setp.lt.u32 %q3, %t, 64;
  bar.red.and.pred %q2, 1, %q3;
  @%q2 add.u32 %r1, %r1, 1;
  st.global.u32 [%a], %r1;
)";

TEST(NegativeBarrier, Reductions) {
  expectFaults(hopper(kVote), [](size_t i) { return static_cast<uint32_t>(i < 64 ? 41 : i); },
               {
                   {"part of the warps",
                    {{"  bar.red.popc", "  @%q1 bar.red.popc"}},
                    {Divergence, Deadlock}},
                   {"more threads than the block has",
                    {{"%r1, 0, %q1", "%r1, 0, 128, %q1"}},
                    {Deadlock},
                    "bar.red.popc",
                    "64 of 128"},
               });
}

// What global memory a warp wrote another reads after the barrier.
const std::string kThroughGlobal = R"(  st.global.u32 [%a+16384], %t;
  bar.sync 0;
  xor.b32 %r1, %t, 32;
  mad.wide.u32 %rd1, %r1, 4, %p;
  ld.global.u32 %r2, [%rd1+16384];
  st.global.u32 [%a], %r2;
)";

TEST(NegativeBarrier, GlobalMemory) {
  expectFaults(
      hopper(kThroughGlobal),
      [](size_t i) {
        return static_cast<uint32_t>(i < 64 ? i ^ 32 : i >= 4096 && i < 4160 ? i - 4096 : i);
      },
      {
          {"no barrier", {{"  bar.sync 0;\n"}}, {Race}},
          {"a fence is no barrier", {{"bar.sync 0;", "membar.gl;"}}, {Race}},
      });
}

} // namespace
} // namespace tile::vgpu
