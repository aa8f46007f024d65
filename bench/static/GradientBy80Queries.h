// The gradient of attention without roles of warps, by tiles of 128 keys that are swept by 80 queries at a time: the counterpart
// of a kernel by hand. ops/ has the one with roles and 64 queries: of kernels by hand neither was faster on an H100.
#pragma once

#include <tile/tile.h>

#include <limits>

namespace tile::bench {

struct GradientTile {
  Value batch, head, tile;

  Value rows(const In<any, 4> &x, int rows, int columns) const {
    return reshape(x.tile({1, 1, rows, columns})(batch, head, tile, 0), {rows, columns});
  }
  /// The same with rows for columns.
  Value columns(const In<any, 4> &x, int rows, int columns) const {
    return reshape(x.T().tile({1, 1, columns, rows})(batch, head, 0, tile), {columns, rows});
  }
  /// What belongs to each of the tile's rows, as a row.
  Value perRow(const In<f32, 3> &x, int rows) const {
    return expand_dims(reshape(x.tile({1, 1, rows})(batch, head, tile), {rows}), 0);
  }
  void store(const Out<any, 4> &y, const Value &x) const {
    int rows = x.shape()[0], columns = x.shape()[1];
    y.tile({1, 1, rows, columns})(batch, head, tile, 0) =
        cast(y.dtype(), reshape(x, {1, 1, rows, columns}));
  }
};

/// Blocks of eight rows by sixteen columns, one after the other. Row r, column 8 h + 2 t + e of a block is element
/// 16 r + 4 t + 2 h + e of it: four that a thread holds lie beside each other.
inline Value asThreadsHold(const Value &x) {
  int rows = x.shape()[0], columns = x.shape()[1];
  Value parts = reshape(x, {rows / 8, 8, columns / 16, 2, 4, 2});
  return reshape(permute(parts, {0, 2, 1, 4, 3, 5}), {rows / 8, 8 * columns});
}

/// Heads of 128. `shift` is minus the logarithm, in base 2, of the sum of a row's weights, `delta` the sum of out * dout; both
/// have rows for whole tiles of queries, minus infinity and 0 where there is no query. All tiles of keys add to `dq`, which has
/// the transpose of each head's in blocks of asThreadsHold, B x H x 16 x 8 queries, still to be multiplied by `scale`.
inline const auto gradientBy80Queries =
    kernel("gradient", [](In<any, 4> q, In<any, 4> k, In<any, 4> v, In<any, 4> dout,
                          In<f32, 3> shift, In<f32, 3> delta, InOut<f32, 4> dq, Out<any, 4> dk,
                          Out<any, 4> dv, Scalar<f32> scale) {
      constexpr int kQueries = 80, kKeys = 128, kHead = 128;
      constexpr float kLog2E = 1.44269504F;
      hint::warps(8), hint::ftz();
      for (int dim = 0; dim < 4; ++dim) {
        assume(k.dim(dim) == v.dim(dim)), assume(q.dim(dim) == dout.dim(dim));
        assume(k.dim(dim) == dk.dim(dim)), assume(k.dim(dim) == dv.dim(dim));
      }
      Value keyCount = k.dim(2), tiles = cdiv(keyCount, kKeys), heads = k.dim(1);
      Value program = grid1d(k.dim(0) * heads * tiles, 1);
      const GradientTile at{program / tiles / heads, program / tiles % heads, program % tiles};
      Value firstKey = at.tile * kKeys;
      Value keys = at.rows(k, kKeys, kHead), values = at.rows(v, kKeys, kHead);
      // Products begin in the order of their sums: with those of dk first a thread needs eleven registers more.
      auto dvSums = var(zeros(f32, {kKeys, kHead}));
      auto dkSums = var(zeros(f32, {kKeys, kHead}));
      for (auto m : range(cdiv(q.dim(2), kQueries)).stages(2)) {
        const GradientTile of{at.batch, at.head, m};
        Value scores = dot(keys, of.columns(q, kQueries, kHead));
        Value byWeight = dot(values, of.columns(dout, kQueries, kHead));
        auto exponents = var(fma(scores, scale * kLog2E, of.perRow(shift, kQueries)));
        if_(firstKey + kKeys > keyCount, [&] {
          Value isKey = expand_dims(arange(kKeys) + firstKey, 1) < keyCount;
          exponents = select(broadcast_to(isKey, {kKeys, kQueries}), exponents,
                             -std::numeric_limits<double>::infinity());
        });
        Value weights = exp2(exponents);
        dvSums = dot(cast(dout.dtype(), weights), of.rows(dout, kQueries, kHead), dvSums);
        Value slopes = cast(q.dtype(), weights * (byWeight - of.perRow(delta, kQueries)));
        Value dqOfTile = dot(trans(keys), slopes);
        dkSums = dot(slopes, of.rows(q, kQueries, kHead), dkSums);
        constexpr int kBlocks = kHead / 8, kOfBlocks = 8 * kQueries;
        atomic_add(dq.tile({1, 1, kBlocks, kOfBlocks}).unchecked()(at.batch, at.head, 0, m),
                   reshape(asThreadsHold(dqOfTile), {1, 1, kBlocks, kOfBlocks}));
      }
      at.store(dk, dkSums * scale);
      at.store(dv, dvSums);
    }).named("q", "k", "v", "dout", "shift", "delta", "dq", "dk", "dv", "scale");

} // namespace tile::bench
