// The warps and registers of the two roles, producer and consumers.
#pragma once

#include <cstdint>

namespace tile::gpu {

/// A whole warpgroup, since `setmaxnreg` applies to all four warps; only the first one works.
inline constexpr int32_t kProducerWarps = 4;
/// The most warps of a block.
inline constexpr int32_t kMostWarps = 32;

/// The most registers per thread at the launch of a block with this many warps; all threads start
/// with the same number.
int32_t registersAtLaunch(int64_t warps);

/// The most registers per thread: at the launch, and after the producer warps have handed theirs to
/// the consumers.
struct RegisterShares {
  int32_t launched, consumers, producers;

  /// Do consumers gain registers?
  [[nodiscard]] bool differ() const { return consumers > launched; }
};
/// The registers that the producer keeps: the fewest that `setmaxnreg` allows, which hold a loop
/// and the addresses of a few boxes, or more. Kernels measured on an H100 ran equally fast with
/// either, or up to 4 % faster with the fewest.
enum class ProducerRegisters : int32_t { Few = 24, Many = 40 };

/// The shares of the SM's registers in a block with this many consumer warps.
RegisterShares registerShares(int64_t consumerWarps, ProducerRegisters kept);

} // namespace tile::gpu
