// Warps of a block that do different things: one fills rings, the others compute.
#pragma once

#include <cstdint>

namespace tile::gpu {

/// Warps beside those that compute: a whole group, since a group changes its registers together.
/// The first of them works.
inline constexpr int32_t kProducerWarps = 4;
/// The warps of a block at most.
inline constexpr int32_t kMostWarps = 32;

/// The most registers of a thread at the launch of a block of so many warps, all of which start
/// with the same number.
int32_t registersAtLaunch(int64_t warps);

/// The most registers of a thread: at the launch, where all have the same number; of those that
/// compute, and of those that fill rings, who hand theirs over.
struct RegisterShares {
  int32_t launched, consumers, producers;

  /// Does handing over give those that compute more?
  [[nodiscard]] bool differ() const { return consumers > launched; }
};
/// What those that fill rings keep: the least that can be asked for, in which a loop and the places
/// of a few boxes fit, or more. Kernels measured on an H100 ran equally fast with either, or up to
/// 4 % faster with the least.
enum class ProducerRegisters : int32_t { Few = 24, Many = 40 };

/// How a multiprocessor's registers are shared in a block with this many warps that compute.
RegisterShares registerShares(int64_t consumerWarps, ProducerRegisters kept);

} // namespace tile::gpu
