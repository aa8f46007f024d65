// What the race checkers take for what kernels touch.
#include "runtime/vgpu/check/Races.h"

#include <gtest/gtest.h>

namespace tile::vgpu {
namespace {

constexpr uint32_t kSharedBytes = 64 * 1024;
constexpr unsigned kWarps = 8, kLanes = 32;

// Warps of one block that know nothing of each other unless told.
class CheckerMemory : public ::testing::Test {
protected:
  CheckerMemory() {
    for (unsigned warp = 0; warp < kWarps; ++warp) {
      clocks_[warp].reset(0, warp, true);
      clocks_[warp].setBlock(0, kWarps);
    }
    context_.report = [](const RaceConflict &, const Accessor &) {
      ADD_FAILURE() << "these accesses are ordered";
    };
    shared_.reset(kSharedBytes);
  }

  Accessor by(unsigned warp, unsigned lane, AccessKind kind) {
    Accessor accessor;
    accessor.context = &context_;
    accessor.clock = &clocks_[warp].of(lane);
    accessor.record.clock = clocks_[warp].time();
    accessor.record.actor = warp;
    accessor.record.kindBits = static_cast<uint64_t>(kind);
    accessor.setLane(lane);
    return accessor;
  }
  // As of bar.sync by all.
  void meet() {
    ClockSet barrier;
    for (WarpClock &clock : clocks_)
      clock.arrive(barrier, ~0u);
    for (WarpClock &clock : clocks_)
      clock.wait(barrier, ~0u);
  }
  // Each lane of each warp touches its part of all shared memory, `bytes` at a time.
  void touchAll(AccessKind kind, uint32_t bytes) {
    for (uint32_t at = 0; at < kSharedBytes; at += bytes)
      shared_.access(by(at / bytes / kLanes % kWarps, at / bytes % kLanes, kind), at, bytes, false);
  }
  // Of the race checker and of the map of initialised bytes, for each byte of shared memory.
  double bytesPerByte() const {
    return static_cast<double>(shared_.heldBytes()) / kSharedBytes + 1.0 / 8;
  }

  RaceContext context_;
  WarpClock clocks_[kWarps];
  SharedRaces shared_;
};

TEST_F(CheckerMemory, WordsOfSharedMemoryTakeAtMostSixBytesAByte) {
  EXPECT_LE(bytesPerByte(), 6);
  for (int round = 0; round < 4; ++round) {
    touchAll(AccessKind::Write, 4);
    meet();
    for (unsigned reader = 0; reader < kWarps; ++reader) // a tile that all warps read
      for (uint32_t at = 0; at < kSharedBytes; at += 16)
        shared_.access(by(reader, at / 16 % kLanes, AccessKind::Read), at, 16, false);
    meet();
  }
  EXPECT_LE(bytesPerByte(), 6);
}

// Neighbouring halves and bytes belong to different lanes.
TEST_F(CheckerMemory, PartsOfSharedMemoryTakeAtMostSixBytesAByte) {
  for (uint32_t bytes : {2u, 1u})
    for (int round = 0; round < 4; ++round) {
      touchAll(AccessKind::Write, bytes);
      meet();
      EXPECT_LE(bytesPerByte(), 6) << bytes;
      touchAll(AccessKind::Read, 4);
      touchAll(AccessKind::Read, 16);
      meet();
      EXPECT_LE(bytesPerByte(), 6) << bytes;
    }
}

// Chunks are words in one round and parts in the next: what they were gives its memory back.
TEST_F(CheckerMemory, WordsThatBecomePartsAreUsedAgain) {
  auto round = [&] {
    for (uint32_t bytes : {4u, 2u, 16u}) {
      touchAll(AccessKind::Write, bytes);
      meet();
    }
  };
  round();
  double once = bytesPerByte();
  for (int i = 0; i < 8; ++i)
    round();
  EXPECT_EQ(bytesPerByte(), once);
}

// Eight warps that each write a half of every chunk are more than parts remember: cells of bytes, which a chunk written as
// a whole gives back.
TEST_F(CheckerMemory, PartsOfManyWarpsTakeCellsOfBytes) {
  auto round = [&] {
    for (uint32_t at = 0; at < kSharedBytes; at += 2)
      shared_.access(by(at / 2 % kWarps, at / 16 % kLanes, AccessKind::Write), at, 2, false);
    meet();
    touchAll(AccessKind::Write, 16);
    meet();
  };
  round();
  double once = bytesPerByte();
  EXPECT_LE(once, 27);
  for (int i = 0; i < 4; ++i)
    round();
  EXPECT_EQ(bytesPerByte(), once);
}

// Reads of one word by warps at different times are pooled, and the pools are used again.
TEST_F(CheckerMemory, PoolsOfReadsDoNotGrowFromRoundToRound) {
  auto round = [&] {
    touchAll(AccessKind::Write, 4);
    meet();
    for (unsigned reader = 0; reader < kWarps; ++reader) {
      for (unsigned i = 0; i < reader; ++i)
        clocks_[reader].advance();
      for (uint32_t at = 0; at < 1024; at += 4)
        shared_.access(by(reader, at / 4 % kLanes, AccessKind::Read), at, 4, false);
    }
    meet();
  };
  round();
  double once = bytesPerByte();
  EXPECT_LE(once, 6);
  for (int i = 0; i < 16; ++i)
    round();
  EXPECT_LE(bytesPerByte(), once + 0.05); // lists of one time take the places of others
}

TEST_F(CheckerMemory, GlobalMemoryHasCellsWhereItIsWritten) {
  constexpr uint64_t base = kGlobalBase, bytes = 1 << 20;
  std::unique_ptr<GlobalRaces> global = GlobalRaces::ofLaunch();
  for (uint64_t at = 0; at < bytes; at += 4 * kLanes)
    global->access(by(at / 4096 % kWarps, 0, AccessKind::Read), base + at, 4 * kLanes, false);
  size_t ofReads = global->heldBytes();
  EXPECT_LE(ofReads, bytes);
  global->access(by(0, 0, AccessKind::Write), base + 4 * bytes, 4, false);
  size_t ofPage = global->heldBytes() - ofReads;
  EXPECT_LE(ofPage, 32 * 1024u);
  for (uint64_t at = 0; at < 1024; at += 4)
    global->access(by(0, 0, AccessKind::Write), base + 4 * bytes + at, 4, false);
  EXPECT_EQ(global->heldBytes() - ofReads, ofPage);
}

} // namespace
} // namespace tile::vgpu
