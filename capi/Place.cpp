#include "capi/Place.h"

#include "capi/Guard.h"

#include <tile/Shape.h>

#include <algorithm>

namespace tile::capi {

Extents extentsAt(const int64_t *values, int32_t rank, const char *argument) {
  if (rank < 0 || rank > kMaxRank)
    refuse(ErrorCode::InvalidShape, "a tensor has 0 to " + std::to_string(kMaxRank) +
                                        " dimensions, not " + std::to_string(rank));
  return {required(values, static_cast<size_t>(rank), argument), static_cast<size_t>(rank)};
}

std::vector<int64_t> stridesAt(const int64_t *values, Extents shape) {
  if (values)
    return {values, values + shape.size()};
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    strides[dim] = stride;
    if (__builtin_mul_overflow(stride, std::max<int64_t>(shape[dim], 1), &stride))
      stride = 1; // of a shape that is refused, or has no elements
  }
  return strides;
}

static void checkSigns(Extents shape, Extents strides) {
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    std::string where = " of dimension " + std::to_string(dim);
    if (shape[dim] < 0)
      refuse(ErrorCode::InvalidShape,
             "extent " + std::to_string(shape[dim]) + where + " is negative");
    if (strides[dim] < 0)
      refuse(ErrorCode::Unsupported, "stride " + std::to_string(strides[dim]) + where +
                                         " is negative: copy the data in the other order");
  }
}

int64_t spanOf(Extents shape, Extents strides, size_t elementBytes) {
  checkSigns(shape, strides);
  if (std::ranges::find(shape, 0) != shape.end())
    return 0;
  int64_t elements = 1, bytes;
  bool isTooLarge = false;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int64_t term;
    isTooLarge |= __builtin_mul_overflow(shape[dim] - 1, strides[dim], &term) ||
                  __builtin_add_overflow(elements, term, &elements);
  }
  isTooLarge |= __builtin_mul_overflow(elements, static_cast<int64_t>(elementBytes), &bytes);
  if (isTooLarge)
    refuse(ErrorCode::InvalidShape, "the tensor spans more than 2^63 bytes");
  return elements;
}

} // namespace tile::capi
