// What blocks of a cluster, and programs of a launch, add up in tests: numbers by part and element, their sums in the order of
// the parts, and products whose K they share.
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

/// The tile of a product whose K parts share.
inline constexpr int kRows = 128, kDepth = 64, kColumns = 64;

/// Sums of parts, and products of matrices of small integers: three tiles of rows, the last of which is cut.
class SumsOfParts : public StagedLoops {
protected:
  /// Launches such a product of so many steps along K under every schedule and compares it; its PTX on sm_90a.
  template <class Launcher> std::string multiply(const Launcher &launcher, int steps) {
    constexpr int64_t kAllRows = 3 * kRows - 8;
    const int64_t depth = int64_t{steps} * kDepth;
    auto left = smallIntegers<half>(kAllRows * depth, 1),
         right = smallIntegers<half>(depth * kColumns, 2);
    std::vector<float> before(kAllRows * kColumns);
    auto a = input<half>({kAllRows, depth}, left), b = input<half>({depth, kColumns}, right);
    auto c = input<float>({kAllRows, kColumns}, before);
    auto expected = [&](int64_t i) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum += exact(left[static_cast<size_t>(i / kColumns * depth + k)]) *
               exact(right[static_cast<size_t>(k * kColumns + i % kColumns)]);
      return sum;
    };
    runUnderEverySchedule(
        launcher, steps, {Written(c, before)}, [&] { expectAll(c, expected); }, a, b, c);
    return hopperPtxOf(launcher, a, b, c);
  }
};

} // namespace tile::test
