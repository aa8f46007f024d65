// Within a warp: exchange through memory, masks of lanes, convergence.
#include "tests/runtime/vgpu/negative/Faults.h"

namespace tile::vgpu {
namespace {

const Shape kWarp{{1}, {32}, {}, {}};

// Neighbours exchange through shared memory.
const std::string kNeighbours = R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  st.shared.u32 [%r2], %t;
  bar.warp.sync -1;
  xor.b32 %r3, %r2, 4;
  ld.shared.u32 %r4, [%r3];
  bar.warp.sync 0xffffffff;
  add.u32 %r5, %r4, 100;
  st.shared.u32 [%r2], %r5;
  st.global.u32 [%a], %r4;
)";

TEST(NegativeWarp, ExchangeThroughSharedMemory) {
  expectFaults(
      hopper(kNeighbours), [](size_t i) { return static_cast<uint32_t>(i < 32 ? i ^ 1 : i); },
      {
          {"no bar.warp.sync before reading", {{"  bar.warp.sync -1;\n"}}, {WarpRace}, "ld.shared"},
          {"none before overwriting",
           {{"  bar.warp.sync 0xffffffff;\n"}},
           {WarpRace},
           "st.shared.u32 [%r2], %r5"},
          {"a shuffle orders no memory",
           {{"bar.warp.sync -1", "shfl.sync.idx.b32 %r9, %t, 0, 31, -1"}},
           {WarpRace},
           "ld.shared"},
          {"lanes outside the mask",
           {{"bar.warp.sync -1", "bar.warp.sync 0xffff"}},
           {Divergence},
           "bar.warp.sync 0xffff;"},
          {"all write one word",
           {{"st.shared.u32 [%r2], %t", "st.shared.u32 [%r1], %t"}},
           {WarpRace},
           "st.shared.u32 [%r1], %t"},
          {"half the lanes wait elsewhere",
           {{"  bar.warp.sync -1;\n",
             "  setp.lt.u32 %q1, %l, 16;\n  @%q1 bra L;\n  bar.warp.sync -1;\n"
             "  bra M;\nL:\n  bar.sync 0;\nM:\n"}},
           {Divergence},
           "",
           "lanes wait at bar.sync"},
      },
      kWarp);
}

// Half a warp writes and the other half reads, in different branches.
const std::string kHalves = R"(  mov.u32 %r1, tile;
  and.b32 %r2, %t, 15;
  mad.lo.u32 %r2, %r2, 4, %r1;
  setp.ge.u32 %q1, %l, 16;
  @%q1 bra READ;
  st.shared.u32 [%r2], %t;
  bar.warp.sync -1;
  bra DONE;
READ:
  bar.warp.sync -1;
  ld.shared.u32 %r3, [%r2];
  st.global.u32 [%a], %r3;
DONE:
)";

TEST(NegativeWarp, BranchesMeetAtOneBarrier) {
  // Both halves must come to the same bar.warp.sync: in different branches they are the same barrier only for some GPUs.
  expectFault(hopper(kHalves), {"two places", {}, {Divergence}, "", "lanes wait"}, kWarp);
  std::string good =
      edited(kHalves, {{"  bar.warp.sync -1;\n  bra DONE;\nREAD:\n  bar.warp.sync -1;\n",
                        "READ:\n  bar.warp.sync -1;\n  @!%q1 bra DONE;\n"}});
  expectFaults(
      hopper(good), [](size_t i) { return static_cast<uint32_t>(i >= 16 && i < 32 ? i - 16 : i); },
      {
          {"no bar.warp.sync", {{"  bar.warp.sync -1;\n"}}, {WarpRace, Uninitialised}},
      },
      kWarp);
}

// Sums and votes of all lanes.
const std::string kCollectives = R"(  shfl.sync.bfly.b32 %r1, %t, 1, 31, -1;
  setp.lt.u32 %q1, %t, 5;
  vote.sync.ballot.b32 %r2, %q1, -1;
  redux.sync.add.u32 %r3, %t, -1;
  match.any.sync.b32 %r4, %t, -1;
  elect.sync %r5|%q2, -1;
  add.u32 %r6, %r1, %r2;
  add.u32 %r6, %r6, %r3;
  st.global.u32 [%a], %r6;
)";

TEST(NegativeWarp, Collectives) {
  auto sums = [](size_t i) { return static_cast<uint32_t>(i < 32 ? (i ^ 1) + 31 + 496 : i); };
  std::vector<Fault> faults;
  for (auto [name, tail] : {std::pair("shfl", "1, 31, -1"),
                            {"vote", "%q1, -1"},
                            {"redux", "%r3, %t, -1"},
                            {"match", "%r4, %t, -1"},
                            {"elect", "%q2, -1"}}) {
    std::string all = tail, half = all.substr(0, all.size() - 2) + "0xffff";
    faults.push_back({std::string(name) + " by lanes outside its mask",
                      {{all, half}},
                      {Divergence},
                      half,
                      "not in its member mask"});
  }
  faults.push_back({"in a branch of half a warp, for all lanes",
                    {{"  redux", "  setp.lt.u32 %q3, %l, 16;\n  @%q3 bra L;\n  redux"},
                     {"  match", "L:\n  match"}},
                    {Divergence}});
  faults.push_back(
      {"reading a lane that takes no part",
       {{"  shfl.sync.bfly.b32 %r1, %t, 1, 31, -1;",
         "  and.b32 %r9, %l, 1;\n  setp.eq.u32 %q3, %r9, 0;\n"
         "  @%q3 shfl.sync.bfly.b32 %r1, %t, 1, 31, 0x55555555;\n  @!%q3 mov.u32 %r1, 0;"}},
       {Uninitialised}});
  expectFaults(hopper(kCollectives), sums, faults, kWarp);
}

// The warp's matrix instructions are for all lanes.
const std::string kMatrix = R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  st.shared.u32 [%r2], %t;
  bar.warp.sync -1;
  sub.u32 %r3, 7, %l;
  and.b32 %r3, %r3, 7;
  mad.lo.u32 %r3, %r3, 16, %r1;
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];
  st.global.u32 [%a], %r4;
)";

TEST(NegativeWarp, Matrices) {
  expectFaults(
      hopper(kMatrix),
      [](size_t i) { return static_cast<uint32_t>(i < 32 ? (7 - i / 4) * 4 + i % 4 : i); },
      {
          {"no bar.warp.sync", {{"  bar.warp.sync -1;\n"}}, {WarpRace}, "ldmatrix"},
          {"part of the warp",
           {{"  ldmatrix", "  setp.lt.u32 %q1, %l, 16;\n  @%q1 ldmatrix"}},
           {Divergence},
           "ldmatrix"},
          {"rows that are not aligned", {{"[%r3]", "[%r3+8]"}}, {Misaligned}, "ldmatrix"},
          {"rows outside", {{"%r3, 16, %r1", "%r3, 8192, %r1"}}, {OutOfBounds}, "ldmatrix"},
      },
      kWarp);
}

} // namespace
} // namespace tile::vgpu
