// How an access of memory is done: hints that change its speed, and `is_volatile`, which makes it
// happen. Errors: a cache mode of the other direction, a cache mode together with an eviction or
// with is_volatile.
#pragma once

#include <cstdint>

namespace tile {

/// Which caches an access goes through (PTX, cache operators). Loads: `ca` all levels, `cg` the
/// second level alone, `cs` likely used once, `cv` none. Stores: `wb` all levels, `cg`, `cs`, `wt`
/// through to memory.
enum class Cache : uint8_t { any, ca, cg, cs, cv, wb, wt };
/// Which lines a cache drops: these `first`, or these `last`. Loads and stores say it to the first
/// level, atomics to the second.
enum class Evict : uint8_t { normal, first, last };

/// How a tile gets between memory and where it is used. `tma`: by the copy engine of sm_90a to
/// shared memory, for loads that products of the same loop depend on, or from there, for stores of
/// what products by wgmma give in 16 bits; rows start at multiples of 16 bytes. `cp_async`: for the
/// same loads, by threads in vectors of 4, 8 or 16 bytes; `quad`: for the same stores, four lanes
/// exchange what they hold, so that each stores 16 bytes; `vector`: through registers, several
/// neighbours at once; `scalar`: one by one. `any`: the first of these that can. Another way than
/// `any` is taken, or the kernel is an error that says why it cannot be.
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
