// Embeddings. The gradient sorts the indices first, so that each row of the table is the sum of one run of them.
#include <tile/ops/Embedding.h>

#include "ops/NewTensor.h"

#include <tile/ops/Arithmetic.h>
#include <tile/tile.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tile::ops {

namespace {

// --- The kernels ---------------------------------------------------------------------------------

/// Row numbers as i32; what is outside 0 .. rows - 1 becomes `otherwise`.
Value rowNumbers(Value indices, Value rows, int otherwise) {
  Value isRow = (indices >= 0) & (indices < cast(indices.dtype(), rows));
  return select(isRow, cast(i32, indices), otherwise);
}

const auto gatherRows = kernel("embedding", [](In<any, 2> table, In<any, 1> indices, Out<any, 2> y,
                                               Const Rows, Const Columns) {
                          auto [r, c] = grid2d(y, {Rows, Columns});
                          Value from = rowNumbers(indices.tile({Rows})(r), table.dim(0), -1);
                          Value rows = table.tile({Rows, Columns}).pad(NAN).gather(0, from, {c});
                          y.tile({Rows, Columns})(r, c) = cast(y.dtype(), rows);
                        }).named("table", "indices", "y", "Rows", "Columns");

/// Positions of the indices in an order that is sorted by row and, within a row, by position; and where the run of each row
/// that has one begins, and its length. Indices of no row come last.
const auto sortByRow =
    kernel("embedding_sort", [](In<any, 1> indices, Out<i32, 1> order, Out<i32, 1> begins,
                                Out<i32, 1> lengths, Const Own, Const Others) {
      constexpr int kNoRow = std::numeric_limits<int>::max();
      Value program = grid1d(indices, {Own});
      Value own = expand_dims(rowNumbers(indices.tile({Own})(program), begins.dim(0), kNoRow), 1);
      Value at = expand_dims(program * int(Own) + arange(Own), 1);
      Shape pairs = {Own, Others};
      auto below = var(zeros(i32, pairs)), before = var(zeros(i32, pairs)),
           equal = var(zeros(i32, pairs));
      auto others = indices.tile({Others});
      for (auto k : range(cdiv(indices.dim(0), Others))) {
        Value rows = rowNumbers(others(k), begins.dim(0), kNoRow);
        Value other = expand_dims(select(others.inside(k), rows, kNoRow), 0);
        Value otherAt = expand_dims(k * int(Others) + arange(Others), 0);
        Value isEqual = own == other;
        below += cast(i32, other < own);
        equal += cast(i32, isEqual);
        before += cast(i32, isEqual & (otherAt < at));
      }
      Value start = sum(below, 1), rank = sum(before, 1), length = sum(equal, 1);
      Value position = program * int(Own) + arange(Own), row = squeeze(own, 1);
      Value isInside = indices.tile({Own}).inside(program);
      order.tile({Own}).scatter(0, select(isInside, start + rank, -1)) = position;
      // The first of a run speaks for it.
      Value to = select(isInside & (rank == 0) & (row != kNoRow), row, -1);
      begins.tile({Own}).scatter(0, to) = start;
      lengths.tile({Own}).scatter(0, to) = length;
    }).named("indices", "order", "begins", "lengths", "Own", "Others");

const auto sumRuns =
    kernel("embedding_backward", [](In<any, 2> dy, In<i32, 1> order, In<i32, 1> begins,
                                    In<i32, 1> lengths, Out<any, 2> dtable, Const Rows,
                                    Const Columns) {
      auto [r, c] = grid2d(dtable, {1, Columns});
      Value begin = item(begins.tile({1})(r)), length = item(lengths.tile({1})(r));
      bool isDouble = dy.dtype() == f64 || dtable.dtype() == f64;
      DType dtype = isDouble ? f64 : f32;
      auto total = var(zeros(dtype, {Rows, Columns}));
      for (auto k : range(cdiv(length, Rows))) {
        Value from = order.tile({Rows}).offset(begin + k * int(Rows));
        from = select(k * int(Rows) + arange(Rows) < length, from, -1);
        total += cast(dtype, dy.tile({Rows, Columns}).gather(0, from, {c}));
      }
      dtable.tile({1, Columns})(r, c) = cast(dtable.dtype(), sum(total, 0, {.keep_dims = true}));
    }).named("dy", "order", "begins", "lengths", "dtable", "Rows", "Columns");

// --- Arguments -----------------------------------------------------------------------------------

constexpr int kTileElements = 1024;
constexpr int kOwnIndices = 32, kOtherIndices = 128;
constexpr int kSumRows = 16, kSumColumns = 256;

int columnsFor(int64_t width, int largest) {
  auto least = static_cast<uint64_t>(std::clamp<int64_t>(width, 1, largest));
  return static_cast<int>(std::bit_ceil(least));
}

/// The operand with its first `count` dimensions as one, if they can be walked so.
bool folds(const Operand &operand, int count, Operand &folded) {
  int64_t extent = 1, stride = 1;
  for (int dim = count - 1; dim >= 0; --dim) {
    if (operand.extent(dim) == 1)
      continue;
    if (extent == 1)
      stride = operand.stride(dim);
    else if (operand.stride(dim) != stride * extent)
      return false;
    extent *= operand.extent(dim);
  }
  int64_t extents[kMaxRank] = {extent}, strides[kMaxRank] = {stride};
  for (int dim = count; dim < operand.rank(); ++dim)
    extents[dim - count + 1] = operand.extent(dim), strides[dim - count + 1] = operand.stride(dim);
  auto rank = static_cast<size_t>(operand.rank() - count + 1);
  folded = operand.strided({extents, rank}, {strides, rank});
  return true;
}

/// An input with its first dimensions as one, in `copied` memory if they cannot be walked so.
Operand foldedInput(CallSite site, const Operand &operand, int count, Tensor &copied) {
  Operand result;
  if (folds(operand, count, result))
    return result;
  copied = copy(site.stream, operand, any, site.where);
  folds(copied, count, result);
  return result;
}

/// `rows` is the table or its gradient, `picked` the tensor with a row for each index.
void checkEmbedding(const Arguments &arguments, Named rows, Named indices, Named picked,
                    Named output) {
  // The input first: an output may be made to be like it.
  bool isGradient = &output.operand == &rows.operand;
  for (Named arg : {isGradient ? picked : rows, output})
    arguments.dtypeIn(arg, {f16, bf16, f32, f64});
  arguments.dtypeIn(indices, {i32, i64});
  arguments.rankIs(rows, 2);
  arguments.oneDimensionMore(picked, indices);
  arguments.equalExtent(picked, indices.operand.rank(), rows, 1);
  arguments.accessible({rows, indices, picked});
  arguments.elementsDistinct(output);
  for (Named input : {rows, indices, picked})
    if (&input.operand != &output.operand)
      arguments.disjoint(output, input);
}

void launchGather(CallSite site, const Operand &table, const Operand &indices, const Operand &y) {
  int columns = columnsFor(y.extent(1), kTileElements);
  gatherRows.consts(kTileElements / columns, columns)(site, table, indices, y);
}

} // namespace

void embedding(const Stream &stream, const Operand &table, const Operand &indices, const Operand &y,
               Loc loc) {
  checkEmbedding(Arguments("embedding", {stream, loc}), {"table", table}, {"indices", indices},
                 {"y", y}, {"y", y});
  if (y.numel() == 0)
    return;
  CallSite site(stream, loc);
  Tensor copied;
  Operand positions = foldedInput(site, indices, indices.rank(), copied), folded;
  if (folds(y, indices.rank(), folded))
    return launchGather(site, table, positions, folded);
  Tensor result = temporaryLike(stream, y, y.dtype());
  folds(result, indices.rank(), folded);
  launchGather(site, table, positions, folded);
  copy(stream, result, y, loc);
}
Tensor embedding(const Stream &stream, const Operand &table, const Operand &indices, Loc loc) {
  Arguments arguments("embedding", {stream, loc});
  arguments.rankIs({"table", table}, 2);
  arguments.rankAtMost({"indices", indices}, kMaxRank - 1);
  int64_t extents[kMaxRank];
  int rank = indices.rank();
  for (int dim = 0; dim < rank; ++dim)
    extents[dim] = indices.extent(dim);
  extents[rank] = table.extent(1);
  Tensor y = newTensor(arguments, table.dtype(), {extents, static_cast<size_t>(rank) + 1});
  embedding(stream, table, indices, y, loc);
  return y;
}

void embeddingBackward(const Stream &stream, const Operand &indices, const Operand &dy,
                       const Operand &dtable, Loc loc) {
  checkEmbedding(Arguments("embeddingBackward", {stream, loc}), {"dtable", dtable},
                 {"indices", indices}, {"dy", dy}, {"dtable", dtable});
  if (dtable.numel() == 0)
    return;
  if (indices.numel() == 0)
    return fill(stream, 0, dtable, loc);
  CallSite site(stream, loc);
  Tensor copiedIndices, copiedGradients;
  Operand positions = foldedInput(site, indices, indices.rank(), copiedIndices);
  Operand gradients = foldedInput(site, dy, indices.rank(), copiedGradients);
  const int64_t counts[] = {positions.extent(0)}, ends[] = {2, dtable.extent(0)};
  Tensor order = stream.tensor(i32, counts), runs = stream.tensor(i32, ends);
  fill(stream, 0, runs, loc);
  Operand begins = Operand(runs).at(0), lengths = Operand(runs).at(1);
  sortByRow.consts(kOwnIndices, kOtherIndices)(site, positions, order, begins, lengths);
  sumRuns.consts(kSumRows, columnsFor(dtable.extent(1), kSumColumns))(site, gradients, order,
                                                                      begins, lengths, dtable);
}

} // namespace tile::ops
