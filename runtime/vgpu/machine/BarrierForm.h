// The forms of the barriers of a block, and the operations that execute them.
#pragma once

#include <cstdint>

namespace tile::vgpu {

struct Op;
struct Warp;

/// The number of barriers of each block.
constexpr uint32_t kNumBarriers = 16;

enum class BarrierAction : uint8_t { Sync, Arrive, RedPopc, RedAnd, RedOr };

struct BarrierForm {
  BarrierAction action = BarrierAction::Sync;
  bool isAligned = false; ///< all lanes of the warp must come together
  bool hasCount = false;  ///< of threads; without one it is for the whole block

  bool waits() const { return action != BarrierAction::Arrive; }
  bool reduces() const { return action >= BarrierAction::RedPopc; }
};

/// Rows: the result of a reduction, the barrier's number, the count, what is reduced; each if there
/// is one. All lanes of the warp come together.
void runBarrier(Warp &warp, const Op &op);
/// A barrier at which each lane arrives on its own, wherever the others are; the lanes that are
/// here arrive together.
void runFreeBarrier(Warp &warp, const Op &op);
/// bar.warp.sync. Rows: the member mask.
void warpSync(Warp &warp, const Op &op);

} // namespace tile::vgpu
