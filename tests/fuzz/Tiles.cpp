#include "tests/fuzz/Tiles.h"

#include <algorithm>
#include <cmath>

namespace tile::fuzz {

int64_t wrapped(DType dtype, int64_t value) {
  int unused = 64 - bitsOf(dtype);
  uint64_t high = static_cast<uint64_t>(value) << unused;
  return isUnsigned(dtype) ? static_cast<int64_t>(high >> unused)
                           : static_cast<int64_t>(high) >> unused;
}

Format formatOf(DType dtype) {
  switch (dtype) {
  case DType::E4M3:
    return {4, -9, 8};
  case DType::E5M2:
    return {3, -16, 15};
  case DType::F16:
    return {11, -14, 15};
  case DType::BF16:
    return {8, -60, 60};
  case DType::F32:
    return {24, -60, 60};
  default:
    return {53, -60, 60};
  }
}

/// The place of the lowest bit set.
static int lowestBit(double value) {
  int exponent;
  double fraction = std::frexp(std::abs(value), &exponent);
  auto digits = static_cast<uint64_t>(std::ldexp(fraction, 53));
  return exponent - 53 + (digits ? __builtin_ctzll(digits) : 0);
}

double exactly(DType dtype, double value) {
  if (value == 0)
    return value;
  Format format = formatOf(dtype);
  int top = std::isfinite(value) ? std::ilogb(value) + 1 : 1 << 20, lowest = lowestBit(value);
  if (top > format.highest || lowest < format.lowest || top - lowest > format.significand)
    throw NotComparable("a float that its dtype does not hold");
  return value;
}

void requireExactSum(DType dtype, const std::vector<double> &terms) {
  double sum = 0;
  int lowest = 1 << 20;
  for (double term : terms) {
    sum += std::abs(term);
    if (term != 0)
      lowest = std::min(lowest, lowestBit(term));
  }
  if (sum != 0 && std::ilogb(sum) + 1 - lowest > formatOf(dtype).significand)
    throw NotComparable("a sum that depends on the order");
}

int64_t flatten(const Shape &shape, const Index &index) {
  int64_t position = 0;
  for (int dim = 0; dim < shape.rank(); ++dim)
    position = position * shape[dim] + index[static_cast<size_t>(dim)];
  return position;
}

void forEach(const Shape &shape, const std::function<void(const Index &, size_t)> &visit) {
  Index index(static_cast<size_t>(shape.rank()), 0);
  for (size_t position = 0, end = static_cast<size_t>(shape.elements()); position < end;
       ++position) {
    visit(index, position);
    for (int dim = shape.rank() - 1; dim >= 0; --dim) {
      if (++index[static_cast<size_t>(dim)] < shape[dim])
        break;
      index[static_cast<size_t>(dim)] = 0;
    }
  }
}

Tile rearranged(const Tile &x, const Shape &shape, const std::function<Index(const Index &)> &map) {
  Tile result({x.type.dtype, shape});
  forEach(shape, [&](const Index &index, size_t position) {
    result.elements[position] = x.elements[static_cast<size_t>(flatten(x.type.shape, map(index)))];
  });
  return result;
}

Number broadcastAt(const Tile &x, const Index &index) {
  const Shape &shape = x.type.shape;
  size_t missing = index.size() - static_cast<size_t>(shape.rank());
  int64_t position = 0;
  for (int dim = 0; dim < shape.rank(); ++dim)
    position =
        position * shape[dim] + (shape[dim] == 1 ? 0 : index[missing + static_cast<size_t>(dim)]);
  return x.elements[static_cast<size_t>(position)];
}

bool broadcasts(const Shape &a, const Shape &b, Shape &result) {
  int rank = std::max(a.rank(), b.rank());
  result = Shape();
  for (int dim = 0; dim < rank; ++dim) {
    int inA = dim - (rank - a.rank()), inB = dim - (rank - b.rank());
    int64_t extentA = inA < 0 ? 1 : a[inA], extentB = inB < 0 ? 1 : b[inB];
    if (extentA != extentB && extentA != 1 && extentB != 1)
      return false;
    result.append(std::max(extentA, extentB));
  }
  return true;
}

Shape without(const Shape &shape, int axis) {
  Shape result;
  for (int dim = 0; dim < shape.rank(); ++dim)
    if (dim != axis)
      result.append(shape[dim]);
  return result;
}

Shape with(const Shape &shape, int axis, int64_t extent) {
  Shape result;
  for (int dim = 0; dim <= shape.rank(); ++dim) {
    if (dim == axis)
      result.append(extent);
    if (dim < shape.rank())
      result.append(shape[dim]);
  }
  return result;
}

} // namespace tile::fuzz
