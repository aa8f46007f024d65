// Options of a memory access: hints that change its speed, and `is_volatile`, which guarantees that
// it happens. Errors: a cache mode of the other direction, a cache mode together with an eviction
// priority or with is_volatile.
#pragma once

#include <cstdint>

namespace tile {

/// The caches that an access goes through (PTX, cache operators). Loads: `ca` all levels, `cg` L2
/// only, `cs` likely used once, `cv` none. Stores: `wb` all levels, `cg`, `cs`, `wt` through to
/// memory.
enum class Cache : uint8_t { any, ca, cg, cs, cv, wb, wt };
/// The eviction priority of the lines: evicted `first`, or `last`. It applies to L1 for loads and
/// stores, to L2 for atomics.
enum class Evict : uint8_t { normal, first, last };

/// The instructions that copy a tile. `tma` (sm_90a, rows that start at multiples of 16 bytes):
/// TMA, to shared memory for loads that feed dots of the same loop, from there for stores of 16-bit
/// results of `wgmma`. `cp_async`: the same loads, by threads in vectors of 4, 8 or 16 bytes.
/// `quad`: the same stores; four lanes exchange elements, so that each stores 16 bytes. `vector`:
/// through registers, several adjacent elements at once. `scalar`: one by one. `any` takes the
/// first of these that is possible. Any other value is an error, with the reason, if it is not
/// possible.
enum class CopyBy : uint8_t { any, cp_async, vector, scalar, tma = 7, quad = 8 };

struct AccessOptions {
  Cache cache = Cache::any;
  Evict evict = Evict::normal;
  CopyBy copy = CopyBy::any;
  /// The access happens exactly as often as the program says, in order with other volatile ones.
  bool is_volatile = false;

  bool operator==(const AccessOptions &) const = default;
};

} // namespace tile
