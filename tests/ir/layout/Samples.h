// The layouts and shapes that the algebra's tests sweep over: small enough to check every element,
// varied enough to meet odd sizes, tiles smaller than a warp, replication, and layouts that are not
// axis-aligned.
#pragma once

#include "ir/layout/Layout.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace tile::layout::test {

/// All shapes of rank 1 to maxRank with sizes from the list.
inline std::vector<Shape> allShapes(int maxRank, const std::vector<int64_t> &sizes) {
  std::vector<Shape> result, last{{}};
  for (int rank = 1; rank <= maxRank; ++rank) {
    std::vector<Shape> next;
    for (const Shape &shape : last)
      for (int64_t size : sizes) {
        next.push_back(shape);
        next.back().push_back(size);
      }
    result.insert(result.end(), next.begin(), next.end());
    last = std::move(next);
  }
  return result;
}

/// Row-major, column-major, and for rank 3 one more order.
inline std::vector<std::vector<int32_t>> someOrders(size_t rank) {
  std::vector<int32_t> rows, columns;
  for (size_t d = 0; d < rank; ++d) {
    columns.push_back(static_cast<int32_t>(d));
    rows.insert(rows.begin(), static_cast<int32_t>(d));
  }
  if (rank == 1)
    return {rows};
  if (rank == 3)
    return {rows, columns, {1, 2, 0}};
  return {rows, columns};
}

inline int64_t elementCount(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

inline int64_t rowMajorIndex(const Shape &shape, const Coords &coords) {
  int64_t index = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    index = index * shape[d] + coords[d];
  return index;
}

inline Coords fromRowMajor(const Shape &shape, int64_t index) {
  Coords coords(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    coords[d] = static_cast<int32_t>(index % shape[d]);
    index /= shape[d];
  }
  return coords;
}

/// Calls visit(reg, lane, warp) for every register of every thread.
inline void forEachPlace(const Layout &layout,
                         const std::function<void(int32_t, int32_t, int32_t)> &visit) {
  for (int32_t warp = 0; warp < layout.numWarps(); ++warp)
    for (int32_t lane = 0; lane < 1 << layout.laneBits(); ++lane)
      for (int32_t reg = 0; reg < layout.numRegisters(); ++reg)
        visit(reg, lane, warp);
}

/// Builder layouts of a shape for the given warps: coalesced in several orders and vector widths,
/// blocked, replicated.
inline std::vector<Layout> sampleLayouts(const Shape &shape, int64_t numWarps) {
  std::vector<Layout> result{Layout::replicated(shape, numWarps)};
  for (const std::vector<int32_t> &order : someOrders(shape.size())) {
    for (int64_t vector : {1, 4})
      result.push_back(Layout::coalesced(shape, order, vector, numWarps));
    BlockedSpec spec{std::vector<int64_t>(shape.size(), 2), std::vector<int64_t>(shape.size(), 1),
                     std::vector<int64_t>(shape.size(), 1), order};
    spec.lanes.front() = shape.size() == 1 ? 32 : 8;
    if (shape.size() > 1)
      spec.lanes.back() = 4;
    spec.warps.back() = numWarps;
    result.push_back(Layout::blocked(shape, spec));
  }
  return result;
}

/// A random surjective layout with 5 lane bits and the given warp bits: an invertible matrix over
/// the tile's bits with replicated bits mixed in. `random(n)` returns a number below n.
inline Layout randomLayout(const Shape &shape, int warpBits,
                           const std::function<uint32_t(uint32_t)> &random) {
  Layout empty = *Layout::create(shape, {});
  int bits = empty.flatBits();
  std::vector<uint64_t> vectors = LinearMap::identity(bits).columns();
  for (int step = 0; step < 3 * bits; ++step) {
    uint32_t a = random(static_cast<uint32_t>(bits)), b = random(static_cast<uint32_t>(bits));
    if (a != b && random(2))
      std::swap(vectors[a], vectors[b]);
    else if (a != b)
      vectors[a] ^= vectors[b];
  }
  Bases bases;
  size_t next = 0;
  auto take = [&](In in, int count) {
    for (int i = 0; i < count; ++i) {
      bool replicate = next >= vectors.size() || random(6) == 0;
      uint64_t flat = replicate ? 0 : vectors[next++];
      bases[static_cast<size_t>(in)].push_back(empty.unflatten(flat));
    }
  };
  take(In::Lane, kLaneBits);
  take(In::Warp, warpBits);
  while (next < vectors.size())
    bases[0].push_back(empty.unflatten(vectors[next++]));
  return *Layout::create(shape, std::move(bases));
}

} // namespace tile::layout::test
