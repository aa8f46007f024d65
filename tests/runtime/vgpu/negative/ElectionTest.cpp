// One lane that acts for its warp: what the other lanes did goes with it only if the warp has
// converged in between.
#include "tests/runtime/vgpu/negative/Faults.h"

namespace tile::vgpu {
namespace {

// Warp 1 writes a row, and one of its lanes tells warp 0.
const std::string kElectedArrival = R"(  @%q15 mbarrier.init.shared.b64 [full], 1;
  bar.sync 0;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %l, 4, %r1;
  setp.eq.u32 %q2, %w, 0;
  setp.eq.u32 %q3, %l, 0;
  @%q2 bra WAIT;
  st.shared.u32 [%r2], %t;
  bar.warp.sync -1;
  @%q3 mbarrier.arrive.shared.b64 %rd1, [full];
  bra DONE;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %q1, [full], 0;
  @!%q1 bra WAIT;
  ld.shared.u32 %r3, [%r2];
  st.global.u32 [%a], %r3;
DONE:
)";
const std::string kMeet = "  bar.warp.sync -1;\n", kArrive = "  @%q3 mbarrier.arrive";

constexpr auto rowOfWarp1 = [](size_t i) { return static_cast<uint32_t>(i < 32 ? i + 32 : i); };

TEST(NegativeElection, Arrival) {
  expectFaults(
      hopper(kElectedArrival), rowOfWarp1,
      {
          {"the warp does not meet", {{kMeet}}, {Race}, "ld.shared"},
          {"it meets before it writes",
           {{"  st.shared.u32 [%r2], %t;\n" + kMeet, kMeet + "  st.shared.u32 [%r2], %t;\n"}},
           {Race},
           "ld.shared"},
          {"lanes that do not write arrive",
           {{kMeet}, {"  st.shared", "  @!%q3 st.shared"}},
           {Race, Uninitialised},
           "ld.shared"},
      });
}

TEST(NegativeElection, CollectivesConverge) {
  for (const char *collective :
       {"shfl.sync.idx.b32 %r9, %t, 0, 31, -1", "vote.sync.ballot.b32 %r9, %q2, -1",
        "elect.sync %r9|%q4, -1", "redux.sync.add.u32 %r9, %t, -1", "bar.sync 1, 32"}) {
    SCOPED_TRACE(collective);
    expectNoFault(hopper(edited(kElectedArrival, {{"bar.warp.sync -1", collective}})), rowOfWarp1);
  }
}

// What the lane itself has written goes with its arrival, also where the others have been busy.
TEST(NegativeElection, ItsOwnWrites) {
  std::string own =
      edited(kElectedArrival,
             {{"  st.shared.u32 [%r2], %t;\n" + kMeet, "  @%q3 st.shared.u32 [tile], 77;\n"
                                                       "  st.shared.u32 [%r2+512], %t;\n"},
              {"ld.shared.u32 %r3, [%r2]", "ld.shared.u32 %r3, [tile]"}});
  expectFaults(hopper(own), [](size_t i) { return static_cast<uint32_t>(i < 32 ? 77 : i); },
               {{"the other lanes' words",
                 {{"ld.shared.u32 %r3, [tile]", "ld.shared.u32 %r3, [%r2+512]"}},
                 {Race},
                 "ld.shared"}});
}

// Also through the asynchronous proxy, and through a third warp that has waited.
TEST(NegativeElection, ItsOwnWritesAreCopied) {
  std::string copied =
      edited(kElectedArrival, {{"  st.shared.u32 [%r2], %t;\n" + kMeet,
                                "  @%q3 st.shared.v4.u32 [tile], {%t, %t, %t, %t};\n"
                                "  st.shared.u32 [%r2+512], %t;\n"},
                               {"  ld.shared.u32 %r3, [%r2];\n  st.global.u32 [%a], %r3;\n",
                                "  fence.proxy.async;\n  bar.warp.sync -1;\n  @!%q3 bra DONE;\n"
                                "  cp.async.bulk.global.shared::cta.bulk_group [%p], [tile], 16;\n"
                                "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\n"}});
  expectFaults(hopper(copied), [](size_t i) { return static_cast<uint32_t>(i < 4 ? 32 : i); },
               {{"the other lanes' words",
                 {{"[%p], [tile], 16", "[%p], [tile+512], 16"}},
                 {Race, AsyncRace, Proxy},
                 "cp.async.bulk.global"}});
}

// Release and acquire through a word, by single lanes.
const std::string kElectedFlag = R"(  setp.eq.u32 %q3, %l, 0;
  setp.eq.u32 %q2, %w, 0;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %l, 4, %r1;
  @%q15 st.shared.u32 [full], 0;
  bar.sync 0;
  @%q2 bra WAIT;
  st.shared.u32 [%r2], %t;
  bar.warp.sync -1;
  @%q3 st.release.cta.shared.u32 [full], 1;
  bra DONE;
WAIT:
  ld.acquire.cta.shared.u32 %r4, [full];
  setp.eq.u32 %q1, %r4, 0;
  @%q1 bra WAIT;
  ld.shared.u32 %r3, [%r2];
  st.global.u32 [%a], %r3;
DONE:
)";

TEST(NegativeElection, Release) {
  expectFaults(hopper(kElectedFlag), rowOfWarp1,
               {{"the warp does not meet", {{kMeet}}, {Race}, "ld.shared.u32 %r3"}});
}

// Warp 1 writes a row and tells it; one lane of warp 0 waits, then all of them read.
const std::string kElectedWait = R"(  @%q15 mbarrier.init.shared.b64 [full], 32;
  bar.sync 0;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %l, 4, %r1;
  setp.eq.u32 %q2, %w, 0;
  @%q2 bra READ;
  st.shared.u32 [%r2], %t;
  mbarrier.arrive.shared.b64 %rd1, [full];
  bra DONE;
READ:
  @!%q15 bra ALL;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %q1, [full], 0;
  @!%q1 bra WAIT;
ALL:
  bar.warp.sync -1;
  ld.shared.u32 %r3, [%r2];
  st.global.u32 [%a], %r3;
DONE:
)";

TEST(NegativeElection, Wait) {
  expectFaults(hopper(kElectedWait), rowOfWarp1,
               {{"the warp does not meet", {{kMeet}}, {Race, Uninitialised}}});
  // The lane that has waited may read on its own, and so may its warp once it has converged.
  expectNoFault(hopper(edited(kElectedWait, {{kMeet, "  @!%q15 bra DONE;\n"}})),
                [](size_t i) { return static_cast<uint32_t>(i < 1 ? 32 : i); });
  expectNoFault(
      hopper(edited(kElectedWait, {{"bar.warp.sync -1", "shfl.sync.idx.b32 %r9, %t, 0, 31, -1"}})),
      rowOfWarp1);
}

TEST(NegativeElection, Acquire) {
  std::string good =
      edited(kElectedFlag,
             {{"@%q2 bra WAIT", "@%q2 bra READ"},
              {"WAIT:\n", "READ:\n  @!%q15 bra ALL;\nWAIT:\n"},
              {"  @%q1 bra WAIT;\n", "  @%q1 bra WAIT;\nALL:\n  bar.warp.sync 0xffffffff;\n"}});
  expectFaults(
      hopper(good), rowOfWarp1,
      {{"the warp does not meet", {{"  bar.warp.sync 0xffffffff;\n"}}, {Race, Uninitialised}}});
}

// One lane copies out what the warp has written.
const std::string kElectedCopy = R"(  setp.ne.u32 %q2, %w, 0;
  @%q2 bra DONE;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %l, 4, %r1;
  st.shared.u32 [%r2], %t;
  fence.proxy.async.shared::cta;
  bar.warp.sync -1;
  @!%q15 bra DONE;
  cp.async.bulk.global.shared::cta.bulk_group [%p+16384], [tile], 128;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:
)";

TEST(NegativeElection, Copy) {
  expectFaults(hopper(kElectedCopy),
               [](size_t i) { return static_cast<uint32_t>(i < 4096 || i >= 4128 ? i : i - 4096); },
               {
                   {"the warp does not meet", {{kMeet}}, {WarpRace}, "cp.async.bulk.global"},
                   {"a vote orders no memory",
                    {{"bar.warp.sync -1", "vote.sync.ballot.b32 %r9, %q2, -1"}},
                    {WarpRace},
                    "cp.async.bulk.global"},
               });
}

} // namespace
} // namespace tile::vgpu
