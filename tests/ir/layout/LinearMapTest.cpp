// Claims about GF(2) elimination, on random maps.
#include "ir/layout/LinearMap.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace tile::layout {
namespace {

std::vector<uint64_t> lowColumns(const std::vector<uint8_t> &raw) {
  std::vector<uint64_t> columns;
  for (uint8_t value : raw)
    if (columns.size() < 10)
      columns.push_back(value);
  return columns;
}

std::set<uint64_t> spanOf(const std::vector<uint64_t> &columns) {
  std::set<uint64_t> span;
  LinearMap map(columns);
  for (uint64_t input = 0; input < uint64_t(1) << columns.size(); ++input)
    span.insert(map.apply(input));
  return span;
}

RC_GTEST_PROP(LinearMap, SolveFindsAnInputExactlyForReachedOutputs, (std::vector<uint8_t> raw)) {
  LinearMap map(lowColumns(raw));
  std::set<uint64_t> span = spanOf(map.columns());
  uint64_t redundant = map.redundantInputs();
  for (uint64_t output = 0; output < 256; ++output) {
    std::optional<uint64_t> input = map.solve(output);
    RC_ASSERT(input.has_value() == (span.count(output) == 1));
    if (input) {
      RC_ASSERT(map.apply(*input) == output);
      RC_ASSERT((*input & redundant) == 0u);
    }
  }
  RC_ASSERT((uint64_t(1) << map.rank()) == span.size());
}

RC_GTEST_PROP(LinearMap, KernelIsEverythingThatMapsToZero, (std::vector<uint8_t> raw)) {
  LinearMap map(lowColumns(raw));
  std::set<uint64_t> kernel = spanOf(map.kernel());
  for (uint64_t input = 0; input < uint64_t(1) << map.numInputs(); ++input)
    RC_ASSERT((map.apply(input) == 0) == (kernel.count(input) == 1));
}

RC_GTEST_PROP(LinearMap, IntersectionHoldsExactlyTheCommonVectors,
              (std::vector<uint8_t> rawA, std::vector<uint8_t> rawB)) {
  std::vector<uint64_t> a = lowColumns(rawA), b = lowColumns(rawB);
  std::set<uint64_t> spanA = spanOf(a), spanB = spanOf(b), common = spanOf(intersect(a, b));
  for (uint64_t vector = 0; vector < 256; ++vector)
    RC_ASSERT(common.count(vector) == (spanA.count(vector) & spanB.count(vector)));
}

RC_GTEST_PROP(LinearMap, InverseIsARightInverse, (std::vector<uint8_t> raw)) {
  LinearMap map(lowColumns(raw));
  std::optional<LinearMap> inverse = map.invert(8);
  RC_ASSERT(inverse.has_value() == map.isSurjective(8));
  if (inverse)
    RC_ASSERT(map.compose(*inverse) == LinearMap::identity(8));
}

TEST(LinearMap, ComposeAppliesTheInnerMapFirst) {
  LinearMap shift({2, 4, 8}), fold({1, 1, 2, 3});
  for (uint64_t input = 0; input < 8; ++input)
    EXPECT_EQ(fold.compose(shift).apply(input), fold.apply(shift.apply(input)));
}

} // namespace
} // namespace tile::layout
