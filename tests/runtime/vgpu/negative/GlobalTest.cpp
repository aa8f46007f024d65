// Between blocks, through global memory: flags, fences, scopes, locks, grid barriers.
#include "tests/runtime/vgpu/negative/Faults.h"

namespace tile::vgpu {
namespace {

const Shape kTwo{{2}, {64}, {}, {}};
const std::string kWords =
    ".visible .global .align 4 .u32 flag;\n.visible .global .align 4 .u32 lock;\n"
    ".visible .global .align 4 .u32 count;\n";

// Block 0 writes and raises a flag; block 1 waits for it and reads.
const std::string kHandOver = R"(  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %q1, %r1, 0;
  @%q1 bra CONSUMER;
  add.u32 %r6, %t, 9000;
  st.global.u32 [%a], %r6;
  membar.gl;
  bar.sync 0;
  @%q15 st.relaxed.gpu.global.u32 [flag], 1;
  bra DONE;
CONSUMER:
  ld.relaxed.gpu.global.u32 %r3, [flag];
  setp.eq.u32 %q3, %r3, 0;
  @%q3 bra CONSUMER;
  fence.acq_rel.gpu;
  xor.b32 %r4, %t, 32;
  mad.wide.u32 %rd1, %r4, 4, %p;
  ld.global.u32 %r5, [%rd1];
  st.global.u32 [%a+4096], %r5;
DONE:
)";
constexpr auto handed = [](size_t i) {
  return static_cast<uint32_t>(i < 64                  ? i + 9000
                               : i >= 1024 && i < 1088 ? ((i - 1024) ^ 32) + 9000
                                                       : i);
};

TEST(NegativeGlobal, FlagWithFences) {
  expectFaults(
      hopper(kHandOver, kWords), handed,
      {
          {"no fence of the writers", {{"  membar.gl;\n"}}, {Race}, "ld.global.u32 %r5"},
          {"no fence of the readers", {{"  fence.acq_rel.gpu;\n"}}, {Race}, "ld.global.u32 %r5"},
          {"no barrier before the flag", {{"  bar.sync 0;\n"}}, {Race}},
          {"the flag is raised first",
           {{"  st.global.u32 [%a], %r6;\n"},
            {"[flag], 1;\n", "[flag], 1;\n  st.global.u32 [%a], %r6;\n"}},
           {Race}},
          {"the flag is not waited for",
           {{"ld.relaxed.gpu.global.u32 %r3, [flag]", "mov.u32 %r3, 1"}},
           {Race}},
          {"the flag has the scope of the block",
           {{"st.relaxed.gpu", "st.relaxed.cta"}, {"ld.relaxed.gpu", "ld.relaxed.cta"}},
           {Race}},
          {"a plain store raises it", {{"st.relaxed.gpu.global", "st.global"}}, {Race}},
          {"a plain load looks at it",
           {{"ld.relaxed.gpu.global.u32 %r3", "ld.global.u32 %r3"}},
           {Race}},
          {"nobody raises it",
           {{"  @%q15 st.relaxed.gpu.global.u32 [flag], 1;\n"}},
           {Deadlock},
           "",
           "loops at"},
      },
      kTwo);
}

// One thread looks, and a barrier tells the others: PTX wants a fence before it, which the check `strict` asks for.
TEST(NegativeGlobal, ARelaxedPollBeforeABarrier) {
  const std::string poll = R"(CONSUMER:
  @!%q15 bra SEEN;
POLL:
  ld.relaxed.gpu.global.u32 %r3, [flag];
  setp.eq.u32 %q3, %r3, 0;
  @%q3 bra POLL;
SEEN:
  bar.sync 0;
)",
                    fence = "  bar.sync 0;\n  xor", fenced = "  fence.acq_rel.gpu;\n" + fence;
  std::string all = kHandOver;
  size_t begin = all.find("CONSUMER:"), end = all.find("  xor");
  const std::string good = hopper(all.replace(begin, end - begin, poll), kWords),
                    strict = edited(good, {{fence, fenced}}),
                    acquires = edited(good, {{"ld.relaxed", "ld.acquire"}});
  for (auto [schedule, seed] : kSchedules) {
    launch(good, schedule, seed, kTwo)->expectClean();
    launch(strict, schedule, seed, kTwo, 1, "all,strict")->expectClean();
    launch(acquires, schedule, seed, kTwo, 1, "all,strict")->expectClean();
    launch(good, schedule, seed, kTwo, 1, "all,strict")
        ->expectFinding(Race, lineOf(good, "ld.global.u32 %r5"));
  }
}

TEST(NegativeGlobal, ReleaseAndAcquire) {
  std::string good = edited(kHandOver, {{"  membar.gl;\n"},
                                        {"  fence.acq_rel.gpu;\n"},
                                        {"st.relaxed", "st.release"},
                                        {"ld.relaxed", "ld.acquire"}});
  expectFaults(hopper(good, kWords), handed,
               {
                   {"relaxed store", {{"st.release", "st.relaxed"}}, {Race}, "ld.global.u32 %r5"},
                   {"relaxed load", {{"ld.acquire", "ld.relaxed"}}, {Race}, "ld.global.u32 %r5"},
                   {"release for the block", {{"st.release.gpu", "st.release.cta"}}, {Race}},
                   {"acquire for the block", {{"ld.acquire.gpu", "ld.acquire.cta"}}, {Race}},
               },
               kTwo);
}

// A reduction is not an atomic that one could acquire by.
TEST(NegativeGlobal, FlagByAtomics) {
  std::string good = edited(
      kHandOver,
      {{"  membar.gl;\n"},
       {"  fence.acq_rel.gpu;\n"},
       {"st.relaxed.gpu.global.u32 [flag], 1", "red.release.gpu.global.add.u32 [flag], 1"},
       {"ld.relaxed.gpu.global.u32 %r3, [flag]", "atom.acquire.gpu.global.or.b32 %r3, [flag], 0"}});
  expectFaults(hopper(good, kWords), handed,
               {
                   {"relaxed reduction", {{"red.release", "red.relaxed"}}, {Race}},
                   {"relaxed atomic", {{"atom.acquire", "atom.relaxed"}}, {Race}},
               },
               kTwo);
}

// Each block adds to a word under a lock.
const std::string kLock = R"(  @!%q15 bra DONE;
LOCK:
  atom.acquire.gpu.global.cas.b32 %r1, [lock], 0, 1;
  setp.ne.u32 %q1, %r1, 0;
  @%q1 bra LOCK;
  ld.global.u32 %r2, [%p];
  add.u32 %r2, %r2, 5;
  st.global.u32 [%p], %r2;
  atom.release.gpu.global.exch.b32 %r3, [lock], 0;
DONE:
)";

TEST(NegativeGlobal, Lock) {
  Shape blocks{{6}, {32}, {}, {}};
  expectFaults(
      hopper(kLock, kWords), [](size_t i) { return static_cast<uint32_t>(i ? i : 30); },
      {
          {"relaxed unlock", {{"atom.release", "atom.relaxed"}}, {Race}},
          {"relaxed lock", {{"atom.acquire", "atom.relaxed"}}, {Race}},
          {"plain unlock",
           {{"atom.release.gpu.global.exch.b32 %r3, [lock], 0", "st.global.u32 [lock], 0"}},
           {Race}},
          {"no lock",
           {{"  @%q1 bra LOCK;\n"},
            {"LOCK:\n  atom.acquire.gpu.global.cas.b32 %r1, [lock], 0, 1;\n"},
            {"setp.ne.u32 %q1, %r1, 0", "setp.ne.u32 %q1, %t, 0"}},
           {Race}},
          {"never unlocked",
           {{"  atom.release.gpu.global.exch.b32 %r3, [lock], 0;\n"}},
           {Deadlock}},
      },
      blocks);
}

// All blocks meet, then read what their neighbour has written.
const std::string kGrid = R"(  mov.u32 %r1, %ctaid.x;
  mad.lo.u32 %r2, %r1, 64, %t;
  mad.wide.u32 %rd1, %r2, 4, %p;
  add.u32 %r3, %r2, 3000;
  st.global.u32 [%rd1], %r3;
  bar.sync 0;
  @!%q15 bra MEET;
  atom.acq_rel.gpu.global.add.u32 %r4, [count], 1;
WAIT:
  ld.acquire.gpu.global.u32 %r5, [count];
  setp.lt.u32 %q2, %r5, 4;
  @%q2 bra WAIT;
MEET:
  bar.sync 1;
  xor.b32 %r6, %r2, 64;
  mad.wide.u32 %rd2, %r6, 4, %p;
  ld.global.u32 %r7, [%rd2];
  st.global.u32 [%rd1+4096], %r7;
)";

TEST(NegativeGlobal, GridBarrier) {
  Shape blocks{{4}, {64}, {}, {}};
  expectFaults(
      hopper(kGrid, kWords),
      [](size_t i) {
        return static_cast<uint32_t>(i < 256                 ? i + 3000
                                     : i >= 1024 && i < 1280 ? ((i - 1024) ^ 64) + 3000
                                                             : i);
      },
      {
          {"no barrier of the block before arriving", {{"  bar.sync 0;\n"}}, {Race}},
          {"none after waiting", {{"  bar.sync 1;\n"}}, {Race}},
          {"relaxed arrival", {{"atom.acq_rel", "atom.relaxed"}}, {Race}},
          {"relaxed wait",
           {{"ld.acquire", "ld.relaxed"}, {"atom.acq_rel", "atom.release"}, {"  bar.sync 1;\n"}},
           {Race}},
          {"one block too few is waited for", {{"%r5, 4;", "%r5, 3;"}}, {Race}, "", "", true},
          {"one too many", {{"%r5, 4;", "%r5, 5;"}}, {Deadlock}, "", "loops at"},
          {"the arrival has the scope of the block",
           {{"atom.acq_rel.gpu", "atom.acq_rel.cta"}},
           {Race}},
      },
      blocks);
}

// Words of different blocks, then the same ones.
const std::string kOwnWords = R"(  mov.u32 %r1, %ctaid.x;
  mad.lo.u32 %r2, %r1, 64, %t;
  mad.wide.u32 %rd1, %r2, 4, %p;
  st.global.u32 [%rd1], %r1;
)";

TEST(NegativeGlobal, OverlappingBlocks) {
  expectFaults(
      hopper(kOwnWords), [](size_t i) { return static_cast<uint32_t>(i < 128 ? i / 64 : i); },
      {
          {"one word overlaps", {{"%r1, 64, %t", "%r1, 63, %t"}}, {Race}, "st.global"},
          {"a plain addition instead of an atomic one",
           {{"  st.global.u32 [%rd1], %r1;\n", "  @%q15 ld.global.u32 %r4, [%p];\n  @%q15 add.u32 "
                                               "%r4, %r4, 1;\n  @%q15 st.global.u32 [%p], %r4;\n"}},
           {Race}},
          {"one block reads what the other writes",
           {{"  st.global.u32 [%rd1], %r1;\n",
             "  ld.global.u32 %r4, [%a];\n  add.u32 %r4, %r4, 1;\n  st.global.u32 [%rd1], %r4;\n"}},
           {Race}},
          {"atomics and plain loads",
           {{"  st.global.u32 [%rd1], %r1;\n",
             "  red.global.add.u32 [%p], 1;\n  ld.global.u32 %r4, [%p];\n"}},
           {Race}},
      },
      kTwo);
}

} // namespace
} // namespace tile::vgpu
