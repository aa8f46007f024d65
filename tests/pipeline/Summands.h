// What blocks of a cluster, and programs of a launch, add up in tests: numbers by part and element, their sums in the order of
// the parts, and the elements of a product whose K they share.
#pragma once

#include "tests/pipeline/StagedLoops.h"

namespace tile::test {

/// Numbers whose sum depends on the order of additions show it.
template <class T> T summand(int64_t part, int64_t element) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>((part + 1) * 1000003 * (element + 7));
  else
    return static_cast<T>((part % 2 ? 1e7 : 1) / static_cast<double>(3 + element + part));
}

/// Tiles of so many elements, one a part.
template <class T> std::vector<T> summands(int64_t parts, int64_t elements) {
  std::vector<T> values;
  for (int64_t part = 0; part < parts; ++part)
    for (int64_t element = 0; element < elements; ++element)
      values.push_back(summand<T>(part, element));
  return values;
}

/// The sum of an element over `count` parts from `first` on.
template <class T> T sumOfParts(int64_t first, int64_t count, int64_t element) {
  T sum = summand<T>(first, element);
  for (int64_t part = first + 1; part < first + count; ++part)
    sum = static_cast<T>(sum + summand<T>(part, element));
  return sum;
}

/// Element `i` of the product of row-major matrices, of which the right one has `columns`.
inline double productAt(const std::vector<half> &left, const std::vector<half> &right,
                        int64_t depth, int64_t columns, int64_t i) {
  double sum = 0;
  for (int64_t k = 0; k < depth; ++k)
    sum += exact(left[static_cast<size_t>(i / columns * depth + k)]) *
           exact(right[static_cast<size_t>(k * columns + i % columns)]);
  return sum;
}

} // namespace tile::test
