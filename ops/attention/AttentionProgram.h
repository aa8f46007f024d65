// What the kernels of attention and of its gradient share: arguments, tiles, and which query sees
// which key.
#pragma once

#include "ops/Arguments.h"
#include "ops/attention/AttentionThresholds.h"

#include <tile/detail/ops/Knobs.h>
#include <tile/ops/Attention.h>

namespace tile::ops {

constexpr double kLog2E = 1.4426950408889634;

/// How the dots of a program are ordered, and which of its warps load. `Overlapped`, which needs
/// wgmma, has a producer warp, and its dots are in flight during other work: forward, a tile's dot
/// with the values during the next tile's softmax (FlashAttention-3's intra-warpgroup overlap);
/// backward, two dots together. With teams, two or three consumer warpgroups have a tile of queries
/// each and read the same keys.
enum class AttentionSchedule : uint8_t {
  Serial, ///< each dot is waited for where it is issued
  Overlapped,
  OverlappedTwoTeams,
  OverlappedThreeTeams,
};
inline constexpr std::array kAttentionSchedules = {
    AttentionSchedule::Serial, AttentionSchedule::Overlapped, AttentionSchedule::OverlappedTwoTeams,
    AttentionSchedule::OverlappedThreeTeams};
constexpr const char *nameOf(AttentionSchedule schedule) {
  constexpr std::array kNames = {"serial", "overlapped", "overlapped_two_teams",
                                 "overlapped_three_teams"};
  static_assert(kNames.size() == kAttentionSchedules.size());
  return kNames[static_cast<size_t>(schedule)];
}

/// The tile of scores that a program (or team) computes at a time, the head dimension padded to
/// what a tile may have, the warps that share the work, and their schedule.
struct AttentionTiles {
  int queries = 0, keys = 0, head = 0, warps = 0;
  AttentionSchedule schedule = AttentionSchedule::Serial;

  constexpr bool overlaps() const { return schedule != AttentionSchedule::Serial; }
  constexpr int teams() const { return overlaps() ? static_cast<int>(schedule) : 1; }
};
/// All that is tuned of attention, forward.
inline constexpr std::tuple kAttentionKnobs{
    detail::Knob{"Queries", &AttentionTiles::queries, std::array{16, 32, 64, 128}, 128},
    detail::Knob{"Keys", &AttentionTiles::keys,
                 std::array{32, 64, 96, 112, 128, 144, 160, 176, 192}, 128},
    detail::Knob{"schedule", &AttentionTiles::schedule, kAttentionSchedules,
                 AttentionSchedule::Overlapped},
    detail::LaunchKnob{"warps", &AttentionTiles::warps, std::array{4, 8}, 8}};

/// Tiles that keep all of a program in registers, and how f32 is multiplied: as asked for where the
/// tensor cores' operands fit, which tf32x3 splits in two, else with ieee.
struct AttentionPlan {
  AttentionTiles tiles;
  Precision precision;
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
/// The tiles of the kernel that keeps a tile of keys; the one that keeps a tile of queries has the
/// two extents exchanged.
AttentionPlan backwardPlan(const AttentionShape &shape, Precision asked);
/// What the queries of a tile divide, forward or backward.
constexpr int kMostQueries = 128;

/// The rules that forward and gradient have in common: q, k, v, and `likeQ`, `likeK`, which have
/// the extents and dtypes of q and k.
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

/// Exponentials of f32 take three instructions each, one if numbers below 2^-126 may count as zero.
/// For 16-bit tensors they may: no weight as small is left when it is rounded.
template <class View> void flushWhereNarrow(const View &x) {
  if (x.dtype() != f32)
    hint::ftz();
}

/// A maximum of -infinity, which means "nothing seen", counts as the lowest finite number: infinity
/// - infinity is NaN.
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
  /// In groups of `headsAtOnce` heads the first tiles of all heads come first, then the second
  /// ones: with a causal mask the first take longest, and none of them starts last (kHeadsAtOnce).
  AttentionGrid(Value batches, Value heads, Value tiles, Value headsAtOnce);
  Value batch, head, tile;
};

/// Heads whose programs' reads, two tensors of `rows` rows of `width` elements, fit the L2 cache
/// together: 1 to `most`.
Value headsInCache(DType dtype, Value rows, int width, int most);

} // namespace tile::ops
