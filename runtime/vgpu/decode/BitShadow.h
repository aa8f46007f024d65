// Operations that move or combine bits place by place, for which initialised bits are followed one by one.
#pragma once

#include "runtime/vgpu/machine/Lanes.h"

#include <algorithm>

namespace tile::vgpu {

template <class F, unsigned Data, class R, class... S> struct BitShadow {
  /// Bits of the first `Data` sources that are not initialised are taken as zeros and as ones, in all combinations;
  /// where the result differs, it is not initialised. Exact if each bit of the result depends on at most one bit of
  /// each of them. The other sources (counts, selectors) must be initialised.
  template <size_t... I> static void apply(Warp &warp, const Op &op, std::index_sequence<I...>) {
    forLanes(warp.mask, [&](unsigned lane) {
      LaneOf<R> everywhere = static_cast<LaneOf<R>>(-1), anywhere = 0;
      for (unsigned ones = 0; ones < 1u << Data; ++ones) {
        LaneOf<R> result = toLane<R>(
            F{}(fromLane<S>(filled<LaneOf<S>>(warp, op.rows[1 + I], lane, ones >> I & 1))...));
        everywhere &= result, anywhere |= result;
      }
      bool known = ((I < Data || (warp.shadow.whole(op.rows[1 + I]) >> lane & 1)) && ...);
      warp.shadow.setUndefined<LaneOf<R>>(
          op.rows[0], lane, known ? everywhere ^ anywhere : static_cast<LaneOf<R>>(-1));
    });
  }

  template <class Lane> static Lane filled(Warp &warp, uint32_t row, unsigned lane, bool ones) {
    Lane undefined = warp.shadow.undefined<Lane>(row, lane), value = warp.row<Lane>(row)[lane];
    return ones ? value | undefined : value & ~undefined;
  }
};

template <class F, unsigned Data, class R, class... S> void bitShadow(Warp &warp, const Op &op) {
  BitShadow<F, Data, R, S...>::apply(warp, op, std::index_sequence_for<S...>());
}

/// The handlers of the lane-wise function R F(S...) that moves or combines bits of its first `Data` sources.
template <class F, unsigned Data, class R, class... S> Handlers bitOp() {
  return {laneOp<F, R, S...>, bitShadow<F, Data, R, S...>};
}

/// The shadow of an operation on parts of a register, `SourceBits` wide in the sources and `TargetBits` in the result:
/// a part is initialised if it is in all sources.
template <unsigned SourceBits, unsigned TargetBits> void partShadow(Warp &warp, const Op &op) {
  static_assert(SourceBits <= 16 && TargetBits <= 16);
  forLanes(warp.mask, [&](unsigned lane) {
    uint32_t sources = 0, target = 0;
    for (unsigned i = 0; i < op.sources; ++i)
      sources |= warp.shadow.undefined<uint32_t>(op.rows[op.targets + i], lane);
    for (unsigned part = 0; part < 32 / std::max(SourceBits, TargetBits); ++part)
      if (sources >> (part * SourceBits) & ((1u << SourceBits) - 1))
        target |= ((1u << TargetBits) - 1) << (part * TargetBits);
    warp.shadow.setUndefined(op.rows[0], lane, target);
  });
}

/// The shadow of a result of two parts, `Bits` wide each: the first source becomes the upper one, the second the lower.
template <unsigned Bits> void pairShadow(Warp &warp, const Op &op) {
  constexpr uint32_t part = (1u << Bits) - 1;
  forLanes(warp.mask, [&](unsigned lane) {
    auto isWhole = [&](uint32_t row) { return warp.shadow.whole(row) >> lane & 1; };
    warp.shadow.setUndefined(op.rows[0], lane,
                             (isWhole(op.rows[1]) ? 0 : part << Bits) |
                                 (isWhole(op.rows[2]) ? 0 : part));
  });
}

} // namespace tile::vgpu
