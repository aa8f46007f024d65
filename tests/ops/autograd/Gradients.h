// What tests of gradients share: trained variables of random numbers, and that no node is left.
#pragma once

#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/autograd/GradCheck.h>

namespace tile::test {

using autograd::Variable;

class Gradients : public OnDevice {
protected:
  void TearDown() override { EXPECT_EQ(autograd::liveNodes(), 0u); }
  /// A trained variable with numbers in [lo, hi).
  Variable leaf(std::vector<int64_t> extents, unsigned seed = 1, double lo = -1, double hi = 1) {
    int64_t size = 1;
    for (int64_t extent : extents)
      size *= extent;
    return Variable(stream, input(extents, uniform<double>(size, lo, hi, seed)),
                    autograd::kTrained);
  }
  /// As `leaf`, but the first dimension is the innermost in memory.
  Variable stridedLeaf(int64_t rows, int64_t columns, unsigned seed = 1) {
    auto memory = input({columns, rows}, uniform<double>(rows * columns, -1, 1, seed));
    return Variable(stream, memory.T(), autograd::kTrained);
  }
};

} // namespace tile::test
