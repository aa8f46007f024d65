// The parts that the kernels of attention and of its gradient share: arguments, tiles, and which query sees which key.
#pragma once

#include "ops/Arguments.h"

#include <tile/ops/Attention.h>

namespace tile::ops {

constexpr double kLog2E = 1.4426950408889634;

/// The tile of scores that is in hand at a time, the head dimension padded to what a tile may have,
/// the warps that share the work, and how many such teams of them read the same keys, forward.
struct AttentionTiles {
  int queries, keys, head, warps, teams = 1;
};
/// Sizes that keep all of a program in registers; how f32 is multiplied: as asked for where the
/// tensor cores' operands fit, which tf32x3 splits in two, else with ieee; and whether weights are
/// multiplied with values while the next scores and their weights are computed; backward, whether
/// products are by groups of warps, of which several are under way at once.
struct AttentionPlan {
  AttentionTiles tiles;
  Precision precision;
  bool overlaps = false;
  bool sumsInF16 = false; ///< forward, of the values of a tile
};
/// A multiple of what the tensor cores take at once; of the larger sizes few, which share tiles.
int paddedHead(int64_t extent);
/// What tiles depend on: queries, keys, the width of heads, and the GPU.
struct AttentionShape {
  DType dtype;
  int64_t queries, keys, head;
  TargetInfo gpu;
};
AttentionPlan forwardPlan(const AttentionShape &shape, Precision asked);
/// The tiles of the kernel that keeps a tile of keys; the one that keeps a tile of queries has as many of each as that of the
/// other.
AttentionPlan backwardPlan(const AttentionShape &shape, Precision asked);
/// What the queries of a tile divide, forward or backward.
constexpr int kMostQueries = 128;

/// The rules that forward and gradient have in common: q, k, v, and `likeQ`, `likeK`, which have the
/// extents and dtypes of q and k.
void checkAttention(const Arguments &arguments, Named q, Named k, Named v,
                    std::initializer_list<Named> likeQ, std::initializer_list<Named> likeK,
                    const AttentionOptions &options);
/// The head dimension of q, its last, and the precision are among those supported.
void checkHead(const Arguments &arguments, Named q, Precision precision);
/// lse is f32, B x Hq x Lq.
void checkLse(const Arguments &arguments, Named lse, Named q);

/// `options.scale` or its default.
double attentionScale(const Operand &q, const AttentionOptions &options);

/// Rows of one head as a matrix; rows and columns that the tensor does not have are 0.
template <class View>
Value rowsOf(const View &x, Value batch, Value head, Value tile, int rows, int columns) {
  return reshape(x.tile({1, 1, rows, columns})(batch, head, tile, 0), {rows, columns});
}
/// Rows of one head as the columns of a matrix.
template <class View>
Value columnsOf(const View &x, Value batch, Value head, Value tile, int rows, int columns) {
  return reshape(x.T().tile({1, 1, columns, rows})(batch, head, 0, tile), {columns, rows});
}

/// Exponentials of f32 take three instructions each, one if numbers below 2^-126 may count as zero. Of
/// 16-bit tensors they may: no weight as small is left when it is rounded.
template <class View> void flushWhereNarrow(const View &x) {
  if (x.dtype() != f32)
    hint::ftz();
}

/// A maximum of -infinity, which means "nothing seen", counts as the lowest finite number: infinity - infinity is NaN.
Value finite(Value largest);
/// Where a tile of scores lies among all.
struct ScoreTile {
  Value firstQuery, firstKey;
  int keyAxis; ///< 1, or 0 if the scores are keys x queries
  Value queryCount, keyCount;

  /// The last key that causality lets the tile's first query see; each further one sees one more.
  Value lastKeyOfFirst() const { return firstQuery + (keyCount - queryCount); }
};
/// Scores where the query sees the key, else -infinity.
Value visibleScores(Value scores, const ScoreTile &at, bool causal);
/// The same, but most tiles, which neither the diagonal nor the last key cuts, are not looked at.
void hideScores(Var &scores, const ScoreTile &at, bool causal);
/// The number of tiles of keys that the queries of a tile see, at least in part.
Value keyTilesSeen(Value queryTile, Value queryCount, Value keyCount, const AttentionTiles &tiles,
                   bool causal);

/// One program for each tile of each head of each batch: the tiles of a head follow each other.
struct AttentionGrid {
  AttentionGrid(Value batches, Value heads, Value tiles) {
    Value program = grid1d(batches * heads * tiles, 1);
    tile = program % tiles, head = program / tiles % heads, batch = program / tiles / heads;
  }
  /// In groups of `headsAtOnce` heads the first tiles of all of them come first, then the second ones: where they take longest,
  /// as causality has it, none of them begins last. On an H100 causal attention is 7 % faster by it, its gradient 5 to 8 %.
  AttentionGrid(Value batches, Value heads, Value tiles, Value headsAtOnce);
  Value batch, head, tile;
};

/// Heads of which all that their programs read, two tensors of `rows` rows of `width` elements, lies in the L2 cache at once:
/// 1 to `most`.
Value headsInCache(DType dtype, Value rows, int width, int most);

} // namespace tile::ops
