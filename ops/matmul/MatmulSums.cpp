// The sums of one program of a matrix product.
#include "ops/matmul/MatmulTiles.h"

#include <tile/Hints.h>

#include <functional>

namespace tile::ops::detail {

namespace {

DType sumsOf(DType dtype, DotOptions how) {
  return how.accumulator == f16 ? f16 : dtype == f64 ? f64 : f32;
}

/// The factors of a program's sums: tiles of a and b by the number of the step along K.
struct Factors {
  Value depth; ///< the extent of K
  std::function<Value(Arg)> rows, columns;
};

// By a vector: each element of a is used once, so that nothing is gained by tensor cores. All of a step's loads are issued before the
// first is used; the products of a row are added up at the end.
Value sumsByVector(const Factors &factors, MatmulTiles tiles) {
  hint::occupancy(2); // one block loads while the other adds up
  auto products = var(zeros(f32, {tiles.m, tiles.k}));
  for (auto k : range(cdiv(factors.depth, tiles.k))) {
    Value vector = cast(f32, trans(reshape(factors.columns(k), {tiles.k, 1})));
    products = fma(cast(f32, factors.rows(k)), broadcast_to(vector, {tiles.m, tiles.k}), products);
  }
  return expand_dims(sum(products, 1), 1);
}

// By a few vectors: a product of each part of K, of which every warp has its own, so that no two threads take the same element and
// all are loaded straight into the fragments of instructions. While those of one step are multiplied the next are under way.
// The assembler is told to leave registers for a second program on a multiprocessor: unasked it may take a few more.
Value sumsByVectors(const Factors &factors, MatmulTiles tiles, DotOptions how) {
  hint::occupancy(2);
  const int64_t parts = kPartsByVectors, depth = tiles.k / parts;
  auto next = var(factors.rows(0));
  auto sums = var(zeros(sumsOf(f16, how), {parts, tiles.m, tiles.n}));
  for (auto k : range(cdiv(factors.depth, tiles.k))) {
    Value rows = permute(reshape(next, {tiles.m, parts, depth}), {1, 0, 2});
    next = factors.rows(k + 1);
    sums = dot(rows, reshape(factors.columns(k), {parts, depth, tiles.n}), sums, how);
  }
  return sum(widened(sums), 0);
}

/// The steps along K of a block, from the first to before the last.
struct Steps {
  Value first, last;
};

// All of them, or its part.
Steps stepsOf(const Factors &factors, const Value &part, MatmulTiles tiles) {
  Value steps = cdiv(factors.depth, tiles.k);
  if (tiles.split == 1)
    return {zeros(i32, {}), steps};
  return {part * steps / tiles.split, (part + 1) * steps / tiles.split};
}

Value sumsOfTiles(const Factors &factors, const Value &part, MatmulTiles tiles, DotOptions how,
                  DType dtype) {
  if (tiles.n == 1)
    return sumsByVector(factors, tiles);
  if (areByVectors(tiles, dtype))
    return sumsByVectors(factors, tiles, how);
  auto sums = var(zeros(sumsOf(dtype, how), {tiles.m, tiles.n}));
  Steps steps = stepsOf(factors, part, tiles);
  for (auto k : matmulSteps(range(steps.first, steps.last), tiles, dtype))
    sums = dot(factors.rows(k), factors.columns(k), sums, how);
  return widened(sums);
}

// By a few vectors the factors go through registers alone.
AccessOptions accessOf(MatmulTiles tiles, DType dtype) {
  return {.copy = areByVectors(tiles, dtype) ? CopyBy::vector : CopyBy::any};
}

} // namespace

Value matmulSums(In<any, 2> a, In<any, 2> b, const MatmulPlace &place, MatmulTiles tiles,
                 DotOptions how) {
  AccessOptions access = accessOf(tiles, a.dtype());
  auto rows = [&](Arg k) -> Value { return a.tile({tiles.m, tiles.k}).hints(access)(place.m, k); };
  auto columns = [&](Arg k) -> Value {
    return b.tile({tiles.k, tiles.n}).hints(access)(k, place.n);
  };
  return sumsOfTiles({a.dim(1), rows, columns}, place.part, tiles, how, a.dtype());
}

Value matmulSums(In<any, 3> a, In<any, 3> b, const MatmulPlace &place, MatmulTiles tiles,
                 DotOptions how) {
  AccessOptions access = accessOf(tiles, a.dtype());
  auto rows = [&](Arg k) {
    Value tile = a.tile({1, tiles.m, tiles.k}).hints(access)(place.batch, place.m, k);
    return reshape(tile, {tiles.m, tiles.k});
  };
  auto columns = [&](Arg k) {
    Value tile = b.tile({1, tiles.k, tiles.n}).hints(access)(place.batch, k, place.n);
    return reshape(tile, {tiles.k, tiles.n});
  };
  return sumsOfTiles({a.dim(2), rows, columns}, place.part, tiles, how, a.dtype());
}

} // namespace tile::ops::detail
