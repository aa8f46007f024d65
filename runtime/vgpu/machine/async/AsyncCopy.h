// cp.async: copies that a warp has issued and not yet waited for.
//
// Under the eager schedule the bytes move at issue. Otherwise the destination is poisoned and they
// move when a wait covers them, the last moment a correct program allows, or under the random one
// sometimes before: a missing wait reads poison instead of looking right by luck. To the race
// checker a copy is in flight until it has been waited for.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace tile::vgpu {

struct Warp;
struct Op;

struct AsyncCopies {
  /// One cp.async instruction of a warp.
  struct Record {
    uint32_t mask = 0;  // lanes still pending
    uint32_t moved = 0; // of those, lanes whose bytes have moved
    uint32_t bytes = 0; // cp-size
    // For each lane in `mask`:
    uint32_t group[32]; // the lane's commit count at issue
    uint32_t target[32];
    uint64_t source[32];
    uint8_t sourceBytes[32]; // the rest is zero-filled
    const Op *op = nullptr;
  };
  std::deque<Record> pending;
  uint32_t commits[32] = {}; // groups committed by each lane

  /// Where an instruction read last.
  struct LastSource {
    const Op *op = nullptr;
    uint64_t address = 0;
  };
  LastSource lastSources[32]; // by Op::instruction

  void reset();
  /// The distance of `address` from where `op` read the last time; nothing if it has not. Loops
  /// read their tiles at equal distances, so that what comes next can be fetched ahead.
  std::optional<uint64_t> stepTo(const Op &op, uint64_t address);
};

/// Completes the copies of `lanes` in all but the newest `keep` committed groups.
void completeCopies(Warp &warp, uint32_t lanes, uint32_t keep);
/// Completes everything of `lanes`, committed or not.
void completeAllCopies(Warp &warp, uint32_t lanes);

} // namespace tile::vgpu
