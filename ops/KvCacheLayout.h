// Where positions of a sequence lie in a cache, contiguous or paged, and the rules of its tensors.
#pragma once

#include "ops/Arguments.h"

#include <tile/ops/KvCache.h>
#include <tile/tile.h>

namespace tile::ops {

/// Keys of a page come in tiles of at least so many.
constexpr int kSmallestKeyTile = 16;

/// The rules of a cache of `batch`, a tensor of B x ..., whose dtype it must have.
void checkCache(const Arguments &arguments, const KvCache &cache, Named batch);
/// The number of positions that a sequence may have.
int64_t capacityOf(const KvCache &cache);
/// The table, or one without elements.
Operand tableOf(const KvCache &cache);

/// A cache as kernels see it: `table` has no elements if it is not paged.
template <class Table, class Lengths> struct CacheLayout {
  const Lengths &lengths;
  const Table &table;
  bool isPaged;
  Value pages, pageSize; ///< of a contiguous cache: sequences and positions

  Value capacity() const { return isPaged ? table.dim(1) * pageSize : pageSize; }
  Value length(Value sequence) const {
    return clamp(item(lengths.tile({1})(sequence)), 0, capacity());
  }
  /// The page of a position, -1 if it is not there.
  Value page(Value sequence, Value position) const {
    if (!isPaged)
      return sequence;
    Value page = item(table.tile({1, 1}).pad(-1)(sequence, max(position, 0) / pageSize));
    return select((position >= 0) & (page >= 0) & (page < pages), page, -1);
  }
  /// Where in its page; a negative position is in none.
  Value slot(Value position) const {
    return isPaged ? select(position >= 0, position % pageSize, -1) : position;
  }
};

} // namespace tile::ops
