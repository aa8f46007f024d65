// The forms of mbarrier's instructions, and the operations that execute them.
#pragma once

#include <cstdint>

namespace tile::vgpu {

struct Op;
struct Warp;

enum class MbarrierAction : uint8_t {
  Init,
  Invalidate,
  Expect,
  Complete,
  Arrive,
  Drop,
  Test,
  TryWait
};

/// Op::a of an instruction.
struct MbarrierForm {
  MbarrierAction action = MbarrierAction::Init;
  bool wide = false;       // the address is 64 bits wide
  bool generic = false;    // and generic
  bool expects = false;    // arrive.expect_tx
  bool noComplete = false; // the phase must not end
  bool relaxed = false;    // orders nothing
  bool parity = false;     // waits for a parity, else for a state
  bool remote = false;     // may be in another block

  uint32_t pack() const {
    return static_cast<uint32_t>(action) | wide << 8 | generic << 9 | expects << 10 |
           noComplete << 11 | relaxed << 12 | parity << 13 | remote << 14;
  }
  static MbarrierForm unpack(uint32_t bits) {
    auto has = [&](unsigned bit) { return (bits >> bit & 1) != 0; };
    return {static_cast<MbarrierAction>(bits & 0xff),
            has(8),
            has(9),
            has(10),
            has(11),
            has(12),
            has(13),
            has(14)};
  }
};

/// Rows: address, operand.
void updateMbarrier(Warp &warp, const Op &op);
/// Rows: state, address, operand.
void arriveAtMbarrier(Warp &warp, const Op &op);
/// Rows: predicate, address, state (64 bits) or parity.
void waitForMbarrier(Warp &warp, const Op &op);

} // namespace tile::vgpu
