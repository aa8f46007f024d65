// Rules, tiles and visibility that attention and its gradient share.
#include "ops/attention/AttentionProgram.h"

#include <cmath>
#include <limits>

namespace tile::ops {

namespace {

constexpr int kWidestHead = 256;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Fewer rows where there are not so many.
int rowsFor(int64_t count, int most) {
  int rows = 16;
  while (rows < count && rows < most)
    rows *= 2;
  return rows;
}

/// The widest padded head that four warps hold in registers; the tensor cores' f32 operands take
/// more.
int widestOfFourWarps(bool isWide, Precision precision) {
  if (!isWide || precision == Precision::ieee)
    return 128;
  return precision == Precision::tf32 ? 96 : 48;
}

} // namespace

int paddedHead(int64_t extent) {
  int head = static_cast<int>((extent + 15) / 16 * 16);
  return head > 192 ? kWidestHead : head > 128 ? (head + 31) / 32 * 32 : head;
}

// Consumer warpgroups have 64 queries each; wide heads leave registers for fewer keys.
static AttentionPlan warpgroupPlan(const AttentionShape &shape, int head, Precision precision) {
  constexpr int kWarpgroup = 64;
  if (head <= kTeamHead && shape.queries >= kTeamQueries)
    return {{kWarpgroup, 128, head, 4, AttentionSchedule::OverlappedThreeTeams}, precision};
  bool isLong = shape.queries > kWarpgroup;
  int keys = head > 128 ? 64 : isLong && head == 128 && shape.keys > kManyKeys ? 176 : 128;
  return {{isLong ? 2 * kWarpgroup : kWarpgroup, keys, head, isLong ? 8 : 4,
           AttentionSchedule::Overlapped},
          precision};
}

/// Bytes of shared memory of a forward kernel whose dots are fused multiply-adds: queries, keys and
/// values, scores, and two numbers per query.
static int64_t forwardBytes(int queries, int keys, int head) {
  return int64_t{4} * ((queries + 2 * keys) * head + queries * keys + 2 * queries);
}

AttentionPlan forwardPlan(const AttentionShape &shape, Precision asked) {
  auto [dtype, count, keyCount, width, gpu] = shape;
  int head = paddedHead(width);
  if (gpu.has_wgmma && dtype != f32 && count >= kWarpgroupQueries)
    return warpgroupPlan(shape, head, asked);
  bool isWide = dtype == f32;
  bool fits = head <= (asked == Precision::tf32x3 ? 96 : 128);
  Precision precision = fits ? asked : Precision::ieee;
  // Each warp has 16 queries, whole rows of scores. With eight warps a thread has half as much of
  // the tiles of k and v in flight, which wide heads leave little room for.
  bool isLong = !isWide && head > 96 && head <= 128;
  int keys = isWide || head > 96 ? 32 : 64;
  int queries = rowsFor(count, isLong ? 128 : head * (isWide ? 2 : 1) > 128 ? 32 : 64);
  if (isWide && forwardBytes(queries, keys, head) > gpu.shared_bytes)
    keys = 16;
  bool isEight = isLong ? queries == 128 : head > widestOfFourWarps(isWide, precision);
  return {{queries, keys, head, isEight ? 8 : 4}, precision};
}

// A warpgroup has 64 rows of what is kept. Two tiles of f32 accumulators and their roundings,
// beside the gradients' accumulators, leave registers for 64 swept rows where heads are wide.
static AttentionPlan warpgroupGradientPlan(int head, Precision precision) {
  return {{head > 64 ? 64 : 128, 128, head, 8, AttentionSchedule::Overlapped}, precision};
}

/// Bytes of shared memory of a gradient kernel of f32: the tiles of q, k, v and dout, two of them
/// by rows and by columns, scores and their gradients, and two numbers per query.
static int64_t backwardBytes(int side, int head) {
  return int64_t{4} * (6 * side * head + 2 * side * side + 2 * side);
}

AttentionPlan backwardPlan(const AttentionShape &shape, Precision asked) {
  auto [dtype, count, keyCount, width, gpu] = shape;
  int head = paddedHead(width);
  bool isWide = dtype == f32;
  if (gpu.has_wgmma && !isWide && count >= kWarpgroupQueries && head <= kWarpgroupGradientHead)
    return warpgroupGradientPlan(head, asked);
  bool fits = asked == Precision::tf32 && head <= 64;
  int side = !isWide && head <= 64 ? 64 : head <= (isWide ? 128 : 192) ? 32 : 16;
  if (isWide && backwardBytes(side, head) > gpu.shared_bytes)
    side = 16;
  return {{side, side, head, 8}, fits ? asked : Precision::ieee};
}

void checkHead(const Arguments &arguments, Named q, Precision precision) {
  arguments.extentWithin(q, q.operand.rank() - 1, 1, kWidestHead);
  if (precision != Precision::ieee && precision != Precision::tf32 &&
      precision != Precision::tf32x3)
    arguments.fail(ErrorCode::InvalidArgument,
                   "options.precision is none of ieee, tf32 and tf32x3");
}

void checkAttention(const Arguments &arguments, Named q, Named k, Named v,
                    std::initializer_list<Named> likeQ, std::initializer_list<Named> likeK,
                    const AttentionOptions &options) {
  for (Named arg : {q, k, v})
    arguments.rankIs(arg, 4);
  arguments.dtypeIn(q, {f16, bf16, f32});
  arguments.sameDtype(q, k), arguments.sameDtype(q, v);
  arguments.equalExtent(q, 0, k, 0), arguments.equalExtent(q, 3, k, 3);
  arguments.sameExtents(k, v);
  for (Named arg : likeQ)
    arguments.sameExtents(q, arg), arguments.sameDtype(q, arg);
  for (Named arg : likeK)
    arguments.sameExtents(k, arg), arguments.sameDtype(k, arg);
  arguments.multipleOf(q, 1, k, 1);
  DType asked = options.accumulator, factors = v.operand.dtype();
  if (asked != any && asked != f32 && !(asked == f16 && factors == f16))
    arguments.fail(ErrorCode::InvalidArgument,
                   std::string("options.accumulator is ") + nameOf(asked) + ", but products of " +
                       nameOf(factors) + " are summed in f32" + (factors == f16 ? " or f16" : ""));
  checkHead(arguments, q, options.precision);
}

void checkLse(const Arguments &arguments, Named lse, Named q) {
  arguments.rankIs(lse, 3);
  arguments.dtypeIn(lse, {f32});
  for (int dim = 0; dim < 3; ++dim)
    arguments.equalExtent(lse, dim, q, dim);
}

double attentionScale(const Operand &q, const AttentionOptions &options) {
  return options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(q.extent(3)));
}

Value finite(Value largest) { return max(largest, std::numeric_limits<float>::lowest()); }

Value visibleScores(Value scores, const ScoreTile &at, bool causal) {
  const Shape shape = scores.shape();
  Value keys = expand_dims(arange(shape[size_t(at.keyAxis)]) + at.firstKey, 1 - at.keyAxis);
  Value visible = keys < at.keyCount;
  if (causal) {
    Value lastKeys = arange(shape[size_t(1 - at.keyAxis)]) + at.lastKeyOfFirst();
    visible = visible & (keys <= expand_dims(lastKeys, at.keyAxis));
  }
  return select(broadcast_to(visible, shape), scores, -kInfinity);
}

void hideScores(Var &scores, const ScoreTile &at, bool causal) {
  auto hide = [&] { scores = visibleScores(scores, at, causal); };
  const Shape shape = scores.shape();
  if (shape[0] * shape[1] < kScoresOfBranch)
    return hide();
  // All of a tile's queries see the keys before this one: the same in all iterations over keys.
  Value end = causal ? min(at.keyCount, at.lastKeyOfFirst() + 1) : at.keyCount;
  if_(at.firstKey + shape[size_t(at.keyAxis)] > end, hide);
}

Value keyTilesSeen(Value queryTile, Value queryCount, Value keyCount, const AttentionTiles &tiles,
                   bool causal) {
  Value end = keyCount;
  if (causal)
    end = min(end, max((queryTile + 1) * tiles.queries + (keyCount - queryCount), 0));
  return cdiv(end, tiles.keys);
}

AttentionGrid::AttentionGrid(Value batches, Value heads, Value tiles, Value headsAtOnce) {
  Value all = batches * heads, program = grid1d(all * tiles, 1);
  Value ofGroup = headsAtOnce * tiles, first = program / ofGroup * headsAtOnce;
  Value inGroup = min(headsAtOnce, all - first), index = program % ofGroup;
  Value number = first + index % inGroup;
  tile = index / inGroup, head = number % heads, batch = number / heads;
}

Value headsInCache(DType dtype, Value rows, int width, int most) {
  constexpr int kCacheBytes = 32 << 20, kTensors = 2;
  int rowsThatFit = kCacheBytes / (kTensors * width * static_cast<int>(sizeOf(dtype)));
  return min(max(rowsThatFit / max(rows, 1), 1), most);
}

} // namespace tile::ops
