// The race rules on their own: clocks and a shadow made by hand, no launch. What they report is
// compared with the definition, for directed cases and for random histories.
#include "runtime/vgpu/check/Races.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tile::vgpu {
namespace {

constexpr unsigned kWarps = 4;
constexpr uint32_t kBytes = 64;

// The warps of one block, its shared memory's shadow, and what has been reported.
class Block {
public:
  Block() {
    context.report = [this](const RaceConflict &conflict, const Accessor &) {
      reported.push_back(conflict.kind);
    };
    for (unsigned warp = 0; warp < kWarps; ++warp) {
      clocks[warp].reset(0, warp, true);
      clocks[warp].setBlock(0, kWarps);
    }
    memory.reset(kBytes);
  }
  Accessor accessor(unsigned warp, unsigned lane, AccessKind kind) const {
    Accessor result;
    result.context = &context;
    result.clock = &clocks[warp].of(lane);
    result.record.clock = clocks[warp].time();
    result.record.actor = warp;
    result.record.kindBits = static_cast<uint64_t>(kind);
    result.setLane(lane);
    return result;
  }
  void access(unsigned warp, unsigned lane, AccessKind kind, uint32_t offset = 0,
              uint32_t bytes = 4) {
    clocks[warp].touch(1u << lane);
    memory.access(accessor(warp, lane, kind), offset, bytes, false);
  }
  void barrier(uint32_t warps = (1u << kWarps) - 1) {
    ClockSet all;
    for (unsigned warp = 0; warp < kWarps; ++warp)
      if (warps >> warp & 1)
        clocks[warp].arrive(all, ~0u);
    for (unsigned warp = 0; warp < kWarps; ++warp)
      if (warps >> warp & 1)
        clocks[warp].wait(all, ~0u);
  }

  RaceContext context;
  WarpClock clocks[kWarps];
  SharedRaces memory;
  std::vector<FindingKind> reported;
};

using Kinds = std::vector<FindingKind>;

TEST(Ordering, WarpsNeedABarrier) {
  for (bool synchronises : {false, true}) {
    Block block;
    block.access(0, 0, AccessKind::Write);
    if (synchronises)
      block.barrier();
    block.access(1, 0, AccessKind::Read);
    EXPECT_EQ(block.reported, synchronises ? Kinds{} : Kinds{FindingKind::Race});
  }
}

TEST(Ordering, ReadersAreNotOrderedByWhatTheyAcquire) {
  Block block;
  block.access(0, 0, AccessKind::Write);
  block.clocks[1].acquire(block.clocks[0].released(~0u), ~0u);
  block.clocks[0].advance();
  block.access(1, 0, AccessKind::Read);
  EXPECT_EQ(block.reported, Kinds{});
  block.access(0, 0, AccessKind::Write); // the reader has released nothing
  EXPECT_EQ(block.reported, Kinds{FindingKind::Race});
}

TEST(Ordering, OneLaneReleasesItsOwnAccessesAndThoseBeforeTheLanesConverged) {
  for (bool converges : {false, true})
    for (unsigned lane : {0u, 5u}) {
      Block block;
      block.clocks[0].followsLanes = true;
      block.access(0, lane, AccessKind::Write);
      if (converges)
        block.clocks[0].converge();
      block.access(0, 0, AccessKind::Write, 32);
      block.clocks[1].acquire(block.clocks[0].released(1), ~0u);
      block.clocks[0].advance();
      block.access(1, 0, AccessKind::Read);
      EXPECT_EQ(block.reported, converges || lane == 0 ? Kinds{} : Kinds{FindingKind::Race});
      block.access(1, 0, AccessKind::Read, 32);
      EXPECT_EQ(block.reported.size(), converges || lane == 0 ? 0u : 1u);
    }
}

TEST(Ordering, LanesOfAWarpNeedASynchronisation) {
  for (bool synchronises : {false, true}) {
    Block block;
    block.access(0, 3, AccessKind::Write);
    if (synchronises)
      block.clocks[0].syncLanes();
    block.access(0, 3, AccessKind::Read);
    block.access(0, 4, AccessKind::Read);
    EXPECT_EQ(block.reported, synchronises ? Kinds{} : Kinds{FindingKind::WarpRace});
  }
}

TEST(Ordering, StrongAccessesDoNotRaceWithEachOther) {
  Block block;
  for (unsigned warp = 0; warp < kWarps; ++warp)
    block.access(warp, 0, warp % 2 ? AccessKind::Atomic : AccessKind::NarrowAtomic);
  EXPECT_EQ(block.reported, Kinds{});
  block.access(0, 0, AccessKind::Read);
  EXPECT_EQ(block.reported, Kinds{FindingKind::Race});
}

TEST(Ordering, NarrowAccessesOfTwoBlocksRace) {
  Block block;
  block.context.clusterSize = 2;
  block.clocks[0].setBlock(0, 2), block.clocks[1].setBlock(0, 2);
  block.clocks[2].setBlock(2, 2), block.clocks[3].setBlock(2, 2);
  block.access(0, 0, AccessKind::NarrowAtomic);
  block.access(1, 0, AccessKind::NarrowAtomic);
  EXPECT_EQ(block.reported, Kinds{});
  block.access(2, 0, AccessKind::NarrowAtomic);
  EXPECT_EQ(block.reported, Kinds{FindingKind::Race});
}

TEST(Ordering, AsynchronousReadsNeedAProxyFence) {
  for (bool fences : {false, true}) {
    Block block;
    block.access(0, 0, AccessKind::Write);
    if (fences)
      block.clocks[0].fenceProxy();
    block.barrier();
    Accessor copy = block.accessor(1, 0, AccessKind::ProxyRead);
    copy.proxy = true;
    copy.record.actor = kWarps; // what completes the copy
    block.memory.access(copy, 0, 4, false);
    EXPECT_EQ(block.reported, fences ? Kinds{} : Kinds{FindingKind::Proxy});
    block.access(1, 0, AccessKind::Write); // before the copy is complete
    EXPECT_EQ(block.reported.back(), FindingKind::AsyncRace);
  }
}

// Accesses to global memory by launches of which the second need not have waited for the first.
TEST(Ordering, LaunchesThatOverlapNeedAWait) {
  for (bool hasEnded : {false, true})
    for (bool waits : {false, true}) {
      Block block;
      std::unique_ptr<GlobalRaces> memory = GlobalRaces::ofLaunch();
      memory->access(block.accessor(0, 0, AccessKind::Write), 0x10'0000'0000, 4, false);
      block.context.firstCluster = 1;
      block.context.endedBelow = hasEnded;
      block.clocks[0].reset(1, 0, true);
      block.clocks[0].setBlock(0, kWarps);
      if (waits)
        block.clocks[0].acquireGrids(~0u);
      memory->access(block.accessor(0, 0, AccessKind::Read), 0x10'0000'0000, 4, false);
      EXPECT_EQ(block.reported, hasEnded || waits ? Kinds{} : Kinds{FindingKind::Race});
    }
}

// Happens-before by its definition: each warp has the set of all accesses that are ordered before
// what it does next.
class Definition {
public:
  // Whether an access by the warp's one lane has an unordered one before it. Remembers it.
  bool races(unsigned warp, bool writes, uint32_t offset, uint32_t bytes) {
    bool found = false;
    for (size_t i = 0; i < accesses_.size(); ++i) {
      const Access &other = accesses_[i];
      bool overlaps = other.offset < offset + bytes && offset < other.offset + other.bytes;
      found |= overlaps && (writes || other.writes) && !before_[warp].contains(i);
    }
    before_[warp].insert(accesses_.size());
    accesses_.push_back({writes, offset, bytes});
    return found;
  }
  void order(unsigned earlier, unsigned later) {
    before_[later].insert(before_[earlier].begin(), before_[earlier].end());
  }
  void barrier(uint32_t warps) {
    for (unsigned later = 0; later < kWarps; ++later)
      for (unsigned earlier = 0; earlier < kWarps; ++earlier)
        if (warps >> later & warps >> earlier & 1)
          order(earlier, later);
  }

private:
  struct Access {
    bool writes;
    uint32_t offset, bytes;
  };
  std::vector<Access> accesses_;
  std::set<size_t> before_[kWarps]; // indices
};

// One random step. False once there is a race, which both must have seen.
bool stepAlike(Block &block, Definition &definition, std::mt19937 &random) {
  auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
  unsigned what = below(16), warp = below(kWarps), other = below(kWarps);
  if (what == 0) {
    uint32_t warps = 1 + below((1u << kWarps) - 1);
    block.barrier(warps);
    definition.barrier(warps);
  } else if (what < 5) { // a release by one that another acquires
    ReleasedClocks released = block.clocks[warp].released(~0u);
    block.clocks[warp].advance();
    block.clocks[other].acquire(released, ~0u);
    definition.order(warp, other);
  } else {
    uint32_t bytes = 1u << below(6), offset = below(kBytes / bytes) * bytes;
    bool writes = below(3) == 0;
    block.access(warp, 0, writes ? AccessKind::Write : AccessKind::Read, offset, bytes);
    bool races = definition.races(warp, writes, offset, bytes);
    EXPECT_EQ(!block.reported.empty(), races);
    return !races;
  }
  return true;
}

TEST(Ordering, RandomHistoriesRaceWhereTheDefinitionSaysSo) {
  unsigned races = 0, longOnes = 0;
  for (uint32_t seed = 0; seed < 20000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Block block;
    Definition definition;
    unsigned steps = 0;
    while (steps < 60 && stepAlike(block, definition, random))
      ++steps;
    races += steps < 60;
    longOnes += steps > 15;
  }
  EXPECT_GT(races, 1000u); // the histories are neither all clean nor all over at once
  EXPECT_GT(longOnes, 1000u);
}

} // namespace
} // namespace tile::vgpu
