// The main loop of a matmul: the accumulators of one program.
#include "ops/matmul/MatmulTiles.h"

#include <tile/Hints.h>

#include <functional>

namespace tile::ops::detail {

namespace {

DType sumsOf(DType dtype, DotOptions how) {
  return how.accumulator == f16 ? f16 : dtype == f64 ? f64 : f32;
}

/// The operands of a program: tiles of a and b by the number of the step along K.
struct Operands {
  Value depth; ///< the extent of K
  std::function<Value(Arg)> rows, columns;
};

// GEMV: each element of a is used once, so that tensor cores would gain nothing. All loads of a
// step are issued before the first is used; a row's products are added up at the end.
Value gemvSums(const Operands &operands, MatmulTiles tiles) {
  hint::occupancy(2); // one block loads while the other adds up
  auto products = var(zeros(f32, {tiles.m, tiles.k}));
  for (auto k : range(cdiv(operands.depth, tiles.k))) {
    Value vector = cast(f32, trans(reshape(operands.columns(k), {tiles.k, 1})));
    products = fma(cast(f32, operands.rows(k)), broadcast_to(vector, {tiles.m, tiles.k}), products);
  }
  return expand_dims(sum(products, 1), 1);
}

// Small N: a dot per part of K, of which every warp has its own. No two threads read the same
// element, and all are loaded straight into MMA fragments; the next step's are in flight during the
// dots of one. The assembler is told to leave registers for a second program per multiprocessor;
// unasked it may take a few more.
Value smallNSums(const Operands &operands, MatmulTiles tiles, DotOptions how) {
  hint::occupancy(2);
  const int64_t parts = kSmallNParts, depth = tiles.k / parts;
  auto next = var(operands.rows(0));
  auto sums = var(zeros(sumsOf(f16, how), {parts, tiles.m, tiles.n}));
  for (auto k : range(cdiv(operands.depth, tiles.k))) {
    Value rows = permute(reshape(next, {tiles.m, parts, depth}), {1, 0, 2});
    next = operands.rows(k + 1);
    sums = dot(rows, reshape(operands.columns(k), {parts, depth, tiles.n}), sums, how);
  }
  return sum(widened(sums), 0);
}

/// A program's steps along K: `last` is the first that is not its own.
struct Steps {
  Value first, last;
};

// All of them; with split-K, the program's part.
Steps stepsOf(const Operands &operands, const Value &part, MatmulTiles tiles) {
  Value steps = cdiv(operands.depth, tiles.k);
  int parts = tiles.row().split.parts;
  if (parts == 1)
    return {zeros(i32, {}), steps};
  return {part * steps / parts, (part + 1) * steps / parts};
}

Value sumsOfTiles(const Operands &operands, const Value &part, MatmulTiles tiles, DotOptions how,
                  DType dtype) {
  if (tiles.n == 1)
    return gemvSums(operands, tiles);
  if (usesSmallNKernel(tiles, dtype))
    return smallNSums(operands, tiles, how);
  auto sums = var(zeros(sumsOf(dtype, how), {tiles.m, tiles.n}));
  Steps steps = stepsOf(operands, part, tiles);
  for (auto k : matmulSteps(range(steps.first, steps.last), tiles, dtype))
    sums = dot(operands.rows(k), operands.columns(k), sums, how);
  return widened(sums);
}

// The small-N kernel's operands bypass shared memory.
AccessOptions accessOf(MatmulTiles tiles, DType dtype) {
  return {.copy = usesSmallNKernel(tiles, dtype) ? CopyBy::vector : CopyBy::any};
}

} // namespace

Value matmulSums(In<any, 2> a, In<any, 2> b, const MatmulCoordinates &at, MatmulTiles tiles,
                 DotOptions how) {
  AccessOptions access = accessOf(tiles, a.dtype());
  auto rows = [&](Arg k) -> Value { return a.tile({tiles.m, tiles.k}).hints(access)(at.m, k); };
  auto columns = [&](Arg k) -> Value { return b.tile({tiles.k, tiles.n}).hints(access)(k, at.n); };
  return sumsOfTiles({a.dim(1), rows, columns}, at.part, tiles, how, a.dtype());
}

Value matmulSums(In<any, 3> a, In<any, 3> b, const MatmulCoordinates &at, MatmulTiles tiles,
                 DotOptions how) {
  AccessOptions access = accessOf(tiles, a.dtype());
  auto rows = [&](Arg k) {
    Value tile = a.tile({1, tiles.m, tiles.k}).hints(access)(at.batch, at.m, k);
    return reshape(tile, {tiles.m, tiles.k});
  };
  auto columns = [&](Arg k) {
    Value tile = b.tile({1, tiles.k, tiles.n}).hints(access)(at.batch, k, at.n);
    return reshape(tile, {tiles.k, tiles.n});
  };
  return sumsOfTiles({a.dim(2), rows, columns}, at.part, tiles, how, a.dtype());
}

} // namespace tile::ops::detail
