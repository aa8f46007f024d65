// Appending to caches of keys and values.
#include "ops/KvCacheLayout.h"
#include "ops/Rows.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace tile::ops {

int64_t capacityOf(const KvCache &cache) {
  return cache.table ? cache.table.extent(1) * cache.k.extent(2) : cache.k.extent(2);
}

Operand tableOf(const KvCache &cache) {
  return cache.table ? cache.table : nothing(i32, 2, cache.lengths);
}

void checkCache(const Arguments &arguments, const KvCache &cache, Named batch) {
  Named k = {"cache.k", cache.k}, v = {"cache.v", cache.v};
  Named lengths = {"cache.lengths", cache.lengths}, table = {"cache.table", cache.table};
  arguments.dtypeIn(batch, {f16, bf16, f32});
  arguments.sameDtype(batch, k), arguments.sameDtype(batch, v);
  arguments.rankIs(k, 4), arguments.sameExtents(k, v);
  arguments.dtypeIn(lengths, {i32}), arguments.rankIs(lengths, 1);
  arguments.equalExtent(lengths, 0, batch, 0);
  if (!cache.table)
    return arguments.equalExtent(k, 0, batch, 0);
  arguments.dtypeIn(table, {i32}), arguments.rankIs(table, 2);
  arguments.equalExtent(table, 0, batch, 0);
  int64_t pageSize = cache.k.extent(2);
  if (pageSize % kSmallestKeyTile != 0 || pageSize == 0)
    arguments.fail(ErrorCode::InvalidShape,
                   "cache.k.extent(2), the size of a page, is " + std::to_string(pageSize) +
                       ": it must be a multiple of " + std::to_string(kSmallestKeyTile));
  if (capacityOf(cache) > std::numeric_limits<int32_t>::max())
    arguments.fail(ErrorCode::InvalidShape, "the pages of a sequence have " +
                                                std::to_string(capacityOf(cache)) +
                                                " positions; at most 2^31 - 1 are supported");
}

namespace {

constexpr int kTokenElements = 4096; // of a program

/// One token of several heads a program.
const auto appendKernel =
    kernel("kv_cache_append", [](In<any, 4> k, In<any, 4> v, In<i32, 1> lengths, In<i32, 2> table,
                                 Out<any, 4> kCache, Out<any, 4> vCache, Const Heads, Const Head,
                                 ConstOf<bool> paged) {
      CacheLayout<In<i32, 2>, In<i32, 1>> layout = {lengths, table, paged, kCache.dim(0),
                                                    kCache.dim(2)};
      Value headTiles = cdiv(k.dim(1), Heads), tokens = k.dim(2);
      Value program = grid1d(k.dim(0) * tokens * headTiles, 1);
      Value heads = program % headTiles, token = program / headTiles % tokens,
            sequence = program / headTiles / tokens;
      Value position = item(lengths.tile({1})(sequence)) - tokens + token;
      Value page = layout.page(sequence, position), slot = layout.slot(position);
      Shape tile = {1, Heads, 1, Head};
      kCache.tile(tile)(page, heads, slot, 0) = k.tile(tile)(sequence, heads, token, 0);
      vCache.tile(tile)(page, heads, slot, 0) = v.tile(tile)(sequence, heads, token, 0);
    }).named("k", "v", "lengths", "table", "kCache", "vCache", "Heads", "Head", "paged");

void checkAppend(const Operand &k, const Operand &v, const KvCache &cache, const CallSite &site) {
  Arguments arguments("kvCacheAppend", site);
  Named names[] = {{"k", k}, {"v", v}};
  arguments.rankIs(names[0], 4), arguments.sameExtents(names[0], names[1]);
  arguments.sameDtype(names[0], names[1]);
  checkCache(arguments, cache, names[0]);
  Named kCache = {"cache.k", cache.k}, vCache = {"cache.v", cache.v};
  Named lengths = {"cache.lengths", cache.lengths}, table = {"cache.table", cache.table};
  arguments.equalExtent(names[0], 1, kCache, 1), arguments.equalExtent(names[0], 3, kCache, 3);
  arguments.accessible({names[0], names[1], kCache, vCache, lengths, table});
  arguments.outputsApart({kCache, vCache}, {names[0], names[1], lengths, table});
}

} // namespace

void kvCacheAppend(const Stream &stream, const Operand &k, const Operand &v, const KvCache &cache,
                   Loc loc) {
  CallSite site(stream, loc);
  checkAppend(k, v, cache, site);
  if (k.numel() == 0 || cache.k.numel() == 0)
    return;
  auto widthOf = [](int64_t extent) {
    return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(extent)));
  };
  int head = widthOf(k.extent(3));
  int heads = std::min(widthOf(k.extent(1)), std::max(1, kTokenElements / head));
  appendKernel.consts(heads, head, bool(cache.table))
      .warps(heads * head >= 1024 ? 4 : 1)(site, k, v, cache.lengths, tableOf(cache), cache.k,
                                           cache.v);
}

} // namespace tile::ops
