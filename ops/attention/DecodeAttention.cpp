// Attention of one query a sequence over a cache: parts of the keys in one kernel, their results
// combined in another.
#include "ops/KvCacheLayout.h"
#include "ops/NewTensor.h"
#include "ops/attention/AttentionProgram.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace tile::ops {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kQueryHeads = 16; // of a program
constexpr int kMostParts = 64, kPartsAtOnce = 16;

// --- The kernels ---------------------------------------------------------------------------------

struct DecodeInputs {
  In<any, 4> q, k, v; ///< q: B x Hkv x query heads of a key head x D
  CacheLayout<In<i32, 2>, In<i32, 1>> layout;
  Value scaleLog2E;
};
struct DecodeTiles {
  int rows, keys, head, parts;
};

/// The running state of an online softmax in base 2.
struct Partial {
  Value largest, total, sums;
};

/// Which query heads and which part of the keys a program has.
struct DecodeGrid {
  DecodeGrid(const DecodeInputs &in, const DecodeTiles &tiles) {
    Value heads = in.q.dim(1), rowTiles = cdiv(in.q.dim(2), tiles.rows);
    Value program = grid1d(in.q.dim(0) * heads * rowTiles * tiles.parts, 1);
    part = program % tiles.parts, row = program / tiles.parts % rowTiles;
    head = program / tiles.parts / rowTiles % heads;
    sequence = program / tiles.parts / rowTiles / heads;
  }
  Value sequence, head, row, part;
};

/// A tile of keys or values; rows that are not visible are not read and are 0.
Value cachedRows(const In<any, 4> &x, Value page, Value head, Value slots,
                 const DecodeTiles &tiles) {
  return reshape(x.tile({1, 1, tiles.keys, tiles.head}).gather(2, slots, {page, head, 0}),
                 {tiles.keys, tiles.head});
}

Partial sweepKeys(const DecodeInputs &in, const DecodeGrid &at, const DecodeTiles &tiles,
                  Precision precision) {
  Value queries = rowsOf(in.q, at.sequence, at.head, at.row, tiles.rows, tiles.head);
  Value length = in.layout.length(at.sequence), keyTiles = cdiv(length, tiles.keys);
  Value share = cdiv(keyTiles, tiles.parts), first = at.part * share;
  auto largest = var(full(f32, {tiles.rows}, -kInfinity)), total = var(zeros(f32, {tiles.rows}));
  auto sums = var(zeros(f32, {tiles.rows, tiles.head}));
  for (auto n : range(first, min(first + share, keyTiles))) {
    Value begin = n * tiles.keys;
    Value page = in.layout.page(at.sequence, begin);
    Value visible = (arange(tiles.keys) + begin < length) & (page >= 0);
    Value slots = select(visible, arange(tiles.keys) + in.layout.slot(begin), -1);
    Value keys = cachedRows(in.k, page, at.head, slots, tiles);
    Value scores = dot(queries, trans(keys), {.precision = precision}) * in.scaleLog2E;
    scores = select(broadcast_to(expand_dims(visible, 0), scores.shape()), scores, -kInfinity);
    Value now = max(largest, reduce_max(scores, 1)), shift = finite(now);
    Value weights = exp2(scores - expand_dims(shift, 1)), fade = exp2(largest - shift);
    total = total * fade + sum(weights, 1);
    sums = dot(cast(in.v.dtype(), weights), cachedRows(in.v, page, at.head, slots, tiles),
               sums * expand_dims(fade, 1), {.precision = precision});
    largest = now;
  }
  return {largest, total, sums};
}

/// The weighted mean of v; 0 where nothing was seen.
Value meanOf(const Partial &partial, const DecodeTiles &tiles) {
  Value total = expand_dims(partial.total, 1);
  return select(broadcast_to(total == 0.0f, {tiles.rows, tiles.head}), 0.0f, partial.sums / total);
}

const auto decodeKernel =
    kernel("decode_attention",
           [](In<any, 4> q, In<any, 4> k, In<any, 4> v, In<i32, 1> lengths, In<i32, 2> table,
              Out<any, 4> out, Scalar<f32> scale, Const Rows, Const Keys, Const Head,
              ConstOf<bool> paged, ConstOf<Precision> precision) {
             DecodeTiles tiles = {Rows, Keys, Head, 1};
             DecodeInputs in = {q, k, v, {lengths, table, paged, k.dim(0), k.dim(2)}, scale};
             DecodeGrid at(in, tiles);
             Value mean = meanOf(sweepKeys(in, at, tiles, precision), tiles);
             out.tile({1, 1, Rows, Head})(at.sequence, at.head, at.row, 0) =
                 cast(out.dtype(), reshape(mean, {1, 1, Rows, Head}));
           })
        .named("q", "k", "v", "lengths", "table", "out", "scale", "Rows", "Keys", "Head", "paged",
               "precision");

/// means and lse have a slice of q's extents for each part; lse is in base 2.
const auto decodePartKernel =
    kernel("decode_attention_part",
           [](In<any, 4> q, In<any, 4> k, In<any, 4> v, In<i32, 1> lengths, In<i32, 2> table,
              Out<f32, 4> means, Out<f32, 3> lse, Scalar<f32> scale, Const Rows, Const Keys,
              Const Head, Const Parts, ConstOf<bool> paged, ConstOf<Precision> precision) {
             DecodeTiles tiles = {Rows, Keys, Head, Parts};
             DecodeInputs in = {q, k, v, {lengths, table, paged, k.dim(0), k.dim(2)}, scale};
             DecodeGrid at(in, tiles);
             Partial partial = sweepKeys(in, at, tiles, precision);
             Value slice = at.part * q.dim(0) + at.sequence;
             means.tile({1, 1, Rows, Head})(slice, at.head, at.row, 0) =
                 reshape(meanOf(partial, tiles), {1, 1, Rows, Head});
             lse.tile({1, 1, Rows})(slice, at.head, at.row) =
                 reshape(partial.largest + log2(partial.total), {1, 1, Rows});
           })
        .named("q", "k", "v", "lengths", "table", "means", "lse", "scale", "Rows", "Keys", "Head",
               "Parts", "paged", "precision");

/// One row of out a program: the means of its parts, weighted by what each saw.
const auto combineKernel =
    kernel("decode_attention_combine", [](In<f32, 3> means, In<f32, 2> lse, Out<any, 3> out,
                                          Const Parts, Const Head) {
      Value row = grid1d(lse.dim(1), 1), heads = out.dim(1);
      Value largest = finite(reduce_max(ravel(lse.tile({Parts, 1}).pad(-kInfinity)(0, row)), 0));
      auto total = var(zeros(f32, {kPartsAtOnce, 1})), sums = var(zeros(f32, {kPartsAtOnce, Head}));
      for (auto n : range(cdiv(lse.dim(0), kPartsAtOnce))) {
        Value weights = exp2(lse.tile({kPartsAtOnce, 1}).pad(-kInfinity)(n, row) - largest);
        Value part = reshape(means.tile({kPartsAtOnce, 1, Head})(n, row, 0), {kPartsAtOnce, Head});
        total += weights;
        sums += weights * part;
      }
      Value weight = item(sum(total, 0));
      Value result = select(broadcast_to(weight == 0.0f, {Head}), 0.0f, sum(sums, 0) / weight);
      out.tile({1, 1, Head})(row / heads, row % heads, 0) =
          cast(out.dtype(), reshape(result, {1, 1, Head}));
    }).named("means", "lse", "out", "Parts", "Head");

// --- Launches ------------------------------------------------------------------------------------

struct DecodePlan {
  DecodeTiles tiles;
  Precision precision;
};

int powerOfTwo(int64_t count) {
  return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(count, 1))));
}

/// Keys of a tile: some 8 KB of them, what is in flight lies in registers; in a page a part of it.
int keysFor(const KvCache &cache, int head) {
  int64_t bytes = head * static_cast<int64_t>(sizeOf(cache.k.dtype()));
  int keys = bytes <= 128 ? 64 : bytes <= 256 ? 32 : kSmallestKeyTile;
  while (cache.table && cache.k.extent(2) % keys != 0)
    keys /= 2;
  return keys;
}

DecodePlan planOf(const Operand &q, const KvCache &cache, Precision asked) {
  int head = paddedHead(q.extent(2));
  int64_t group = q.extent(1) / cache.k.extent(1);
  int rows = kQueryHeads, keys = keysFor(cache, head);
  int64_t programs = q.extent(0) * cache.k.extent(1) * ((group + rows - 1) / rows);
  int64_t tiles = (capacityOf(cache) + keys - 1) / keys;
  int64_t parts = std::min((kEnoughPrograms + programs - 1) / programs, tiles / kLeastTilesOfPart);
  bool fits = q.extent(2) <= (asked == Precision::tf32x3 ? 96 : 128);
  return {{rows, keys, head, static_cast<int>(std::clamp<int64_t>(parts, 1, kMostParts))},
          fits ? asked : Precision::ieee};
}

/// B x Hq x D as B x Hkv x Hq / Hkv x D.
Operand byKeyHead(const Operand &x, int64_t keyHeads) {
  int64_t group = x.extent(1) / keyHeads;
  return x.strided(std::array{x.extent(0), keyHeads, group, x.extent(2)},
                   std::array{x.stride(0), group * x.stride(1), x.stride(1), x.stride(2)});
}

void checkDecode(const Operand &q, const KvCache &cache, const Operand &out,
                 const DecodeOptions &options, const CallSite &site) {
  Arguments arguments("decodeAttention", site);
  Named queries = {"q", q}, result = {"out", out};
  arguments.rankIs(queries, 3);
  arguments.sameExtents(queries, result), arguments.sameDtype(queries, result);
  checkCache(arguments, cache, queries);
  Named k = {"cache.k", cache.k}, v = {"cache.v", cache.v};
  Named lengths = {"cache.lengths", cache.lengths}, table = {"cache.table", cache.table};
  arguments.equalExtent(queries, 2, k, 3);
  arguments.multipleOf(queries, 1, k, 1);
  checkHead(arguments, queries, options.precision);
  arguments.accessible({queries, k, v, lengths, table, result});
  arguments.outputsApart({result}, {queries, k, v, lengths, table});
}

void launchParts(CallSite site, const DecodePlan &plan, const Operand &q, const KvCache &cache,
                 const Operand &out, float scale) {
  auto [rows, keys, head, parts] = plan.tiles;
  int64_t slices = parts * q.extent(0), perSlice = q.extent(1) * q.extent(2);
  Tensor means = site.stream.tensor(f32, std::array{slices, q.extent(1), q.extent(2), q.extent(3)});
  Tensor lse = site.stream.tensor(f32, std::array{slices, q.extent(1), q.extent(2)});
  decodePartKernel.consts(rows, keys, head, parts, bool(cache.table), plan.precision)
      .warps(4)(site, q, cache.k, cache.v, cache.lengths, tableOf(cache), means, lse, scale);
  int64_t outRows = q.extent(0) * perSlice;
  combineKernel.consts(powerOfTwo(parts), head)
      .warps(4)(site, Operand(means).reshaped({parts, outRows, q.extent(3)}),
                Operand(lse).reshaped({parts, outRows}), out);
}

} // namespace

void decodeAttention(const Stream &stream, const Operand &q, const KvCache &cache,
                     const Operand &out, const DecodeOptions &options, Loc loc) {
  CallSite site(stream, loc);
  checkDecode(q, cache, out, options, site);
  if (out.numel() == 0)
    return;
  DecodePlan plan = planOf(q, cache, options.precision);
  auto [rows, keys, head, parts] = plan.tiles;
  int64_t keyHeads = cache.k.extent(1);
  double factor = options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(q.extent(2)));
  auto scale = static_cast<float>(factor * kLog2E);
  Operand queries = byKeyHead(q, keyHeads);
  if (parts > 1)
    return launchParts(site, plan, queries, cache, out, scale);
  decodeKernel.consts(rows, keys, head, bool(cache.table), plan.precision)
      .warps(4)(site, queries, cache.k, cache.v, cache.lengths, tableOf(cache),
                byKeyHead(out, keyHeads), scale);
}

Tensor decodeAttention(const Stream &stream, const Operand &q, const KvCache &cache,
                       const DecodeOptions &options, Loc loc) {
  Tensor out = newLike(Arguments("decodeAttention", {stream, loc}), {"q", q}, q.dtype());
  decodeAttention(stream, q, cache, out, options, loc);
  return out;
}

} // namespace tile::ops
