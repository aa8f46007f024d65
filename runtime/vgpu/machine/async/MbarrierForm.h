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

/// How an operation holds it: OpForm.h.
struct MbarrierForm {
  MbarrierAction action = MbarrierAction::Init;
  bool wide = false;       // the address is 64 bits wide
  bool generic = false;    // and generic
  bool expects = false;    // arrive.expect_tx
  bool noComplete = false; // the phase must not end
  bool relaxed = false;    // orders nothing
  bool parity = false;     // waits for a parity, else for a state
  bool remote = false;     // may be in another block
};

/// Rows: address, operand.
void updateMbarrier(Warp &warp, const Op &op);
/// Rows: state, address, operand.
void arriveAtMbarrier(Warp &warp, const Op &op);
/// Rows: predicate, address, state (64 bits) or parity.
void waitForMbarrier(Warp &warp, const Op &op);

} // namespace tile::vgpu
