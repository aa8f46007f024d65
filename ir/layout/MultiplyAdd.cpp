#include "ir/layout/MultiplyAdd.h"

#include "ir/layout/Derived.h"
#include "ir/layout/Shared.h"

#include <algorithm>

namespace tile::layout {

static int64_t powerOfTwoPart(int64_t size) { return size & -size; }

Layout multiplyAddAccumulator(const Shape &shape, WarpGrid warps, int elementBytes) {
  size_t row = shape.size() - 2, column = row + 1;
  int64_t width = std::max<int64_t>(1, powerOfTwoPart(shape[column]) / warps.n),
          height = std::max<int64_t>(1, powerOfTwoPart(shape[row]) / warps.m);
  int64_t perThread = std::clamp<int64_t>(width / 8, 1, kMaxVectorBytes / elementBytes);
  int64_t lanesAlongRows = std::min<int64_t>(4, height);
  int64_t lanesAlongColumns =
      std::min(kLanesPerWarp / lanesAlongRows, std::max<int64_t>(1, width / perThread));
  BlockedSpec spec{{1, perThread},
                   {kLanesPerWarp / lanesAlongColumns, lanesAlongColumns},
                   {warps.m, warps.n},
                   {1, 0}};
  if (row == 1)
    spec = {{1, 1, perThread},
            {1, spec.lanes[0], spec.lanes[1]},
            {warps.b, warps.m, warps.n},
            {2, 1, 0}};
  return Layout::blocked(shape, spec);
}

/// The accumulator's threads along all dimensions but `dim`, which becomes `depth` elements, all in
/// each thread.
static Layout alongOthers(const Layout &accumulator, int dim, int64_t depth) {
  return broadcast(expandDims(reduceAxis(accumulator, dim), dim), dim, depth);
}

Layout multiplyAddRows(const Layout &accumulator, int64_t depth) {
  return alongOthers(accumulator, accumulator.rank() - 1, depth);
}

Layout multiplyAddColumns(const Layout &accumulator, int64_t depth) {
  return alongOthers(accumulator, accumulator.rank() - 2, depth);
}

int64_t multiplyAddDepth(int64_t k, int elementBytes) {
  return std::min<int64_t>(powerOfTwoPart(k), kMaxVectorBytes / std::max(elementBytes, 4));
}

} // namespace tile::layout
