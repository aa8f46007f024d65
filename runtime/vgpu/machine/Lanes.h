// The view that handlers have of rows: 32 lanes of a C++ type, and the loops that apply a scalar
// function to the active lanes.
//
// Rows of up to 32 bits hold u32 lanes, of which a narrower type uses the low bits; 64-bit types
// have u64 lanes. The loops are written so that the compiler turns them into vector code: rows are
// either the same or disjoint.
#pragma once

#include "runtime/vgpu/machine/Warp.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__clang__)
// Unrolling comes first and would turn short loops into scalar code.
#define TILE_LANE_LOOP                                                                             \
  _Pragma("clang loop vectorize(assume_safety) interleave_count(4) unroll(disable)")
#else
#define TILE_LANE_LOOP _Pragma("GCC ivdep")
#endif

namespace tile::vgpu {

/// f16 and bf16 as stored: distinct from integers, so that a handler cannot mix them up.
struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};

template <class T> using LaneOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T, class Lane> inline T fromLane(Lane lane) {
  static_assert(sizeof(T) <= sizeof(Lane));
  if constexpr (std::is_same_v<T, F16> || std::is_same_v<T, BF16>)
    return T{static_cast<uint16_t>(lane)};
  else if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<T>(lane);
  else
    return static_cast<T>(lane);
}

template <class T> inline LaneOf<T> toLane(T value) {
  if constexpr (std::is_same_v<T, F16> || std::is_same_v<T, BF16>)
    return value.bits;
  else if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<LaneOf<T>>(value);
  else if constexpr (std::is_signed_v<T>)
    return static_cast<LaneOf<T>>(static_cast<std::make_signed_t<LaneOf<T>>>(value));
  else
    return static_cast<LaneOf<T>>(value);
}

template <class R, class... S> struct LaneFunction {
  /// Applies `F{}(sources...)` to each active lane: rows[0] = F(rows[1], ...). A call that is left
  /// in the loop would keep it from being vectorised, so all are inlined.
  template <class F, size_t... I>
  [[gnu::flatten]] static void apply(Warp &warp, const Op &op, std::index_sequence<I...>) {
    LaneOf<R> *target = warp.row<LaneOf<R>>(op.rows[0]);
    std::tuple<const LaneOf<S> *...> sources{warp.row<LaneOf<S>>(op.rows[1 + I])...};
    if (warp.mask == kFullMask) {
      TILE_LANE_LOOP
      for (unsigned lane = 0; lane < kLanes; ++lane)
        target[lane] = toLane<R>(F{}(fromLane<S>(std::get<I>(sources)[lane])...));
      return;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if (warp.mask >> lane & 1)
        target[lane] = toLane<R>(F{}(fromLane<S>(std::get<I>(sources)[lane])...));
  }
};

/// The handler of a lane-wise function: `laneOp<F, R, S...>` computes R F(S...).
template <class F, class R, class... S> void laneOp(Warp &warp, const Op &op) {
  LaneFunction<R, S...>::template apply<F>(warp, op, std::index_sequence_for<S...>());
}

/// Calls `visit` for each set bit.
template <class Visit> inline void forLanes(uint32_t mask, Visit visit) {
  for (; mask; mask &= mask - 1)
    visit(static_cast<unsigned>(std::countr_zero(mask)));
}

/// The active lanes for which the guard of an operation is true.
inline uint32_t guardedLanes(Warp &warp, const Op &op) {
  if (!(op.flags & kHasGuard))
    return warp.mask;
  return warp.mask & (warp.predicate(op.guardRow) ^ (0u - op.guardFlip));
}

/// target = value for the lanes of `mask`.
inline void mergeMask(uint32_t &target, uint32_t value, uint32_t mask) {
  target = (target & ~mask) | (value & mask);
}

} // namespace tile::vgpu
