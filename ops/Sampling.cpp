// argmax, topK and sampling by keys: an element's value and index in one integer, whose order is that of
// the results. Each stage keeps the largest keys of a tile; the last k are sorted.
#include <tile/ops/Sampling.h>

#include "ops/ChosenCount.h"
#include "ops/NewTensor.h"
#include "ops/Rows.h"

#include <tile/tile.h>

#include <algorithm>
#include <array>
#include <bit>

namespace tile::ops {

namespace {

constexpr int64_t kMostChosen = 1024;
constexpr int kLongestPart = 4096, kUnpacked = 64;

// --- Keys ----------------------------------------------------------------------------------------
// The upper half orders values as unsigned numbers, 0 for NaN; the lower half is the complement of the
// index. 0 is no element.

Value keysOf(Value values, Value indices) {
  Value wide = cast(f32, values) + 0.0f; // of -0, 0
  Value bits = bitcast(u32, wide);
  Value ordered = select((bits >> 31) == 1, ~bits, bits | 0x80000000u);
  ordered = select(isnan(wide), 0, ordered);
  return cast(u64, ordered) << 32 | cast(u64, ~cast(u32, indices));
}
Value indexOf(Value keys) { return cast(i32, ~cast(u32, keys)); }

/// The `count`-th largest key, found from its highest bits on, two a round: how many keys are not below each of the four
/// numbers that these bits make? The three counts that matter are one sum.
Value thresholdOf(Value keys, Value count) {
  auto found = var(full(u64, {}, 0));
  for (auto round : range(32)) {
    Value unit = full(u64, {}, 1) << cast(u64, 62 - 2 * round);
    auto isReached = [&](int bits) { return cast(u64, keys >= found + unit * bits); };
    Value counts = sum(isReached(1) | isReached(2) << 16 | isReached(3) << 32);
    auto counted = [&](int shift) { return cast(i32, counts >> shift & 0xffff); };
    Value bits = cast(i32, counted(0) >= count) + cast(i32, counted(16) >= count) +
                 cast(i32, counted(32) >= count);
    found = found + unit * cast(u64, bits);
  }
  return found;
}

/// One part of a row a program.
struct PartGrid {
  PartGrid(Value rows, Value length, int columns) {
    Value parts = cdiv(length, columns), program = grid1d(rows * parts, 1);
    row = program / parts, part = program % parts;
  }
  Value row, part;
};

// --- The kernels ---------------------------------------------------------------------------------

/// Stores the `count` largest of a part's keys, in the order of indices, in the part's place among all.
void storeLargest(const Out<u64, 2> &to, const PartGrid &at, Value keys, Value count, bool isOne) {
  int columns = static_cast<int>(keys.shape()[0]);
  if (isOne) {
    to.tile({1, 1})(at.row, at.part) = reshape(reduce_max(keys, 0), {1, 1});
    return;
  }
  Value isChosen = keys >= thresholdOf(keys, count);
  Value place = cumsum(cast(i32, isChosen), 0) - 1;
  // There are more than `count` only of keys that are no elements.
  place = select(isChosen & (place < count), at.part * count + place, -1);
  to.tile({1, columns}).scatter(1, place, {at.row}) = reshape(keys, {1, columns});
}

const auto selectKernel =
    kernel("topk_of_values", [](In<any, 2> x, Out<u64, 2> keys, Scalar<i32> count, Const Columns,
                                ConstOf<bool> isOne) {
      PartGrid at(x.dim(0), x.dim(1), Columns);
      Value indices = arange(Columns) + at.part * int(Columns);
      Value all = keysOf(ravel(x.tile({1, Columns})(at.row, at.part)), indices);
      all = select(indices < x.dim(1), all, 0);
      storeLargest(keys, at, all, count, isOne);
    }).named("x", "keys", "count", "Columns", "isOne");

const auto mergeKernel =
    kernel("topk_of_keys", [](In<u64, 2> from, Out<u64, 2> keys, Scalar<i32> count, Const Columns,
                              ConstOf<bool> isOne) {
      PartGrid at(from.dim(0), from.dim(1), Columns);
      storeLargest(keys, at, ravel(from.tile({1, Columns})(at.row, at.part)), count, isOne);
    }).named("from", "keys", "count", "Columns", "isOne");

/// A key's place is the number of those above it.
const auto sortKernel =
    kernel("topk_sort", [](In<u64, 2> from, Out<u64, 2> keys) {
      constexpr int kOwn = 64, kOthers = 32;
      PartGrid at(from.dim(0), from.dim(1), kOwn);
      Value own = ravel(from.tile({1, kOwn})(at.row, at.part));
      auto above = var(zeros(i32, {kOwn, kOthers}));
      for (auto n : range(cdiv(from.dim(1), kOthers)))
        above += cast(i32, from.tile({1, kOthers})(at.row, n) > expand_dims(own, 1));
      Value isInside = arange(kOwn) + at.part * kOwn < from.dim(1);
      keys.tile({1, kOwn}).scatter(1, select(isInside, sum(above, 1), -1), {at.row}) =
          reshape(own, {1, kOwn});
    }).named("from", "keys");

const auto indexKernel = kernel("argmax_unpack", [](In<u64, 1> keys, Out<any, 1> indices) {
                           Value tile = grid1d(indices, {kUnpacked});
                           Value index = indexOf(keys.tile({kUnpacked})(tile));
                           indices.tile({kUnpacked})(tile) = cast(indices.dtype(), index);
                         }).named("keys", "indices");

const auto unpackKernel =
    kernel("topk_unpack", [](In<any, 2> x, In<u64, 2> keys, Out<any, 2> values, Out<any, 2> indices,
                             Const Count) {
      Value r = grid1d(values, {1});
      Value index = indexOf(keys.tile({1, Count})(r, 0));
      Value found = x.tile({1, Count}).gather(1, reshape(index, {Count}), {r});
      values.tile({1, Count})(r, 0) = cast(values.dtype(), found);
      indices.tile({1, Count})(r, 0) = cast(indices.dtype(), index);
    }).named("x", "keys", "values", "indices", "Count");

/// The number of `ops::rand` for this element.
Value uniformNumber(Value at, Value seed, Value offset) {
  return cast(f32, randint(seed, cast(i64, at) + offset) >> 8) * 0x1p-24f;
}

const auto drawKernel =
    kernel("sample_topk", [](In<any, 2> x, In<u64, 2> keys, Out<any, 1> tokens,
                             Scalar<f32> coldness, Scalar<i32> count, Scalar<i64> seed,
                             Scalar<i64> offset, Const Count) {
      Value r = grid1d(tokens, {1});
      Value index = indexOf(ravel(keys.tile({1, Count})(r, 0)));
      Value logits = ravel(cast(f32, x.tile({1, Count}).gather(1, index, {r})));
      Value position = arange(Count);
      Value first = sum(select(position == 0, logits, 0.0f), 0);
      // Equal infinities have no difference.
      Value weights = select(logits == first, 1.0f, exp((logits - first) * coldness));
      weights = select((position < count) & (weights > 0.0f), weights, 0.0f);
      Value sums = cumsum(weights, 0);
      Value threshold = uniformNumber(r, seed, offset) * reduce_max(sums, 0);
      // The product may round up to the whole sum: then the last that has a weight.
      Value last = max(sum(cast(i32, weights > 0.0f), 0) - 1, 0);
      Value chosen = min(sum(cast(i32, sums <= threshold), 0), last);
      Value token = sum(select(position == chosen, index, 0), 0);
      tokens.tile({1})(r) = cast(tokens.dtype(), reshape(token, {1}));
    }).named("x", "keys", "tokens", "coldness", "count", "seed", "offset", "Count");

// --- Launches ------------------------------------------------------------------------------------

int powerOfTwo(int64_t count) {
  return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(count)));
}

/// Columns of a program's tile of rows of this length.
int partOf(int64_t length) { return powerOfTwo(std::min<int64_t>(length, kLongestPart)); }
int warpsOf(int columns) { return std::clamp(columns / 512, 1, 8); }

/// The keys of the k largest elements of each row of x, the largest first.
Tensor largestOf(CallSite site, const Operand &x, int64_t k) {
  auto count = static_cast<int32_t>(k);
  int columns = partOf(x.extent(1));
  bool isOne = k == 1;
  auto room = [&](int64_t length) {
    return site.stream.tensor(u64, std::array{x.extent(0), (length + columns - 1) / columns * k});
  };
  Tensor keys = room(x.extent(1));
  selectKernel.consts(columns, isOne).warps(warpsOf(columns))(site, x, keys, count);
  while (keys.extent(1) > k) {
    columns = partOf(keys.extent(1));
    Tensor fewer = room(keys.extent(1));
    mergeKernel.consts(columns, isOne).warps(warpsOf(columns))(site, keys, fewer, count);
    keys = fewer;
  }
  if (k == 1)
    return keys;
  Tensor sorted = site.stream.tensor(u64, std::array{x.extent(0), k});
  sortKernel.warps(4)(site, keys, sorted);
  return sorted;
}

void launchArgmax(CallSite site, const Operand &x, const Operand &indices) {
  if (indices.numel() == 0)
    return;
  InputRows rows(site, x);
  Tensor keys = largestOf(site, rows, 1);
  OutputRows out(site, indices, 0);
  const Operand &to = out;
  indexKernel.warps(1)(site, Operand(keys).reshaped({keys.extent(0)}), to);
  out.finish(site);
}

// --- Arguments -----------------------------------------------------------------------------------

void checkRows(const Arguments &arguments, Named x, Named indices) {
  arguments.dtypeIn(x, {f16, bf16, f32}), arguments.dtypeIn(indices, {i32, i64});
  arguments.hasRows(x);
}

/// An output of an index a row.
void checkOnePerRow(const Arguments &arguments, Named x, Named indices) {
  arguments.onePerRow(indices, x);
  arguments.accessible({x, indices});
  arguments.outputsApart({indices}, {x});
}

void checkTopK(const Arguments &arguments, const Operand &x, const Operand &values,
               const Operand &indices) {
  Named from = {"x", x}, out = {"values", values}, at = {"indices", indices};
  checkRows(arguments, from, at);
  arguments.dtypeIn(out, {f16, bf16, f32});
  arguments.sameRows(out, from);
  arguments.sameExtents(out, at);
  checkChosenCount(arguments, from, values.extent(values.rank() - 1));
  arguments.accessible({from, out, at});
  arguments.outputsApart({out, at}, {from});
}

Tensor newOnePerRow(const Arguments &arguments, Named x) {
  arguments.hasRows(x);
  Extents extents(x.operand);
  return newTensor(arguments, i32, extents.span().first(static_cast<size_t>(x.operand.rank() - 1)));
}

} // namespace

void checkChosenCount(const Arguments &arguments, Named x, int64_t k) {
  arguments.hasRows(x);
  int64_t most = std::min(kMostChosen, x.operand.extent(x.operand.rank() - 1));
  if (most == 0)
    arguments.fail(ErrorCode::InvalidShape, std::string(x.name) + " is " + x.operand.str() +
                                                ": of rows without elements none can be chosen");
  if (k < 1 || k > most)
    arguments.fail(ErrorCode::InvalidShape, "k is " + std::to_string(k) + "; of " + x.name + ", " +
                                                x.operand.str() + ", 1 to " + std::to_string(most) +
                                                " can be chosen a row");
}

void argmax(const Stream &stream, const Operand &x, const Operand &indices, Loc loc) {
  Arguments arguments("argmax", {stream, loc});
  Named from = {"x", x}, at = {"indices", indices};
  checkRows(arguments, from, at), checkChosenCount(arguments, from, 1);
  checkOnePerRow(arguments, from, at);
  launchArgmax(CallSite(stream, loc), x, indices);
}

Tensor argmax(const Stream &stream, const Operand &x, Loc loc) {
  Tensor indices = newOnePerRow(Arguments("argmax", {stream, loc}), {"x", x});
  argmax(stream, x, indices, loc);
  return indices;
}

void topK(const Stream &stream, const Operand &x, const Operand &values, const Operand &indices,
          Loc loc) {
  checkTopK(Arguments("topK", {stream, loc}), x, values, indices);
  if (values.numel() == 0)
    return;
  CallSite site(stream, loc);
  InputRows rows(site, x);
  Tensor keys = largestOf(site, rows, values.extent(values.rank() - 1));
  OutputRows out(site, values), at(site, indices);
  const Operand &from = rows, &to = out, &positions = at;
  int count = powerOfTwo(keys.extent(1));
  unpackKernel.consts(count).warps(warpsOf(count))(site, from, keys, to, positions);
  out.finish(site), at.finish(site);
}

TopK topK(const Stream &stream, const Operand &x, int64_t k, Loc loc) {
  Arguments arguments("topK", {stream, loc});
  arguments.hasRows({"x", x}), checkChosenCount(arguments, {"x", x}, k);
  Extents extents(x);
  extents[x.rank() - 1] = k;
  TopK result = {newTensor(arguments, x.dtype(), extents.span()),
                 newTensor(arguments, i32, extents.span())};
  topK(stream, x, result.values, result.indices, loc);
  return result;
}

void sampleTopK(const Stream &stream, Generator &generator, const Operand &logits, int64_t k,
                double temperature, const Operand &tokens, Loc loc) {
  Arguments arguments("sampleTopK", {stream, loc});
  Named from = {"logits", logits}, at = {"tokens", tokens};
  checkRows(arguments, from, at), checkChosenCount(arguments, from, k);
  checkOnePerRow(arguments, from, at);
  if (!(temperature >= 0))
    arguments.fail(ErrorCode::InvalidArgument,
                   "temperature is " + std::to_string(temperature) + "; it is 0 or above");
  CallSite site(stream, loc);
  if (tokens.numel() == 0)
    return;
  if (temperature == 0) {
    launchArgmax(site, logits, tokens);
  } else {
    InputRows rows(site, logits);
    Tensor keys = largestOf(site, rows, k);
    OutputRows out(site, tokens, 0);
    const Operand &x = rows, &to = out;
    int count = powerOfTwo(keys.extent(1));
    drawKernel.consts(count).warps(warpsOf(count))(
        site, x, keys, to, static_cast<float>(1 / temperature), static_cast<int32_t>(k),
        static_cast<int64_t>(generator.seed), static_cast<int64_t>(generator.offset));
    out.finish(site);
  }
  generator.take(static_cast<uint64_t>(tokens.numel()));
}

Tensor sampleTopK(const Stream &stream, Generator &generator, const Operand &logits, int64_t k,
                  double temperature, Loc loc) {
  Tensor tokens = newOnePerRow(Arguments("sampleTopK", {stream, loc}), {"logits", logits});
  sampleTopK(stream, generator, logits, k, temperature, tokens, loc);
  return tokens;
}

} // namespace tile::ops
