// A fixture for tests of the engine: small leaves, and that no graph outlives its test.
#pragma once

#include "tests/execution/Harness.h"
#include "tests/ops/autograd/Functions.h"

namespace tile::test {

class OnGraphs : public OnDevice {
protected:
  using Numbers = std::vector<double>;

  void TearDown() override { EXPECT_EQ(autograd::liveNodes(), 0u); }
  Variable leaf(Numbers values, autograd::Role role = autograd::kTrained) {
    auto tensor = stream.tensor<double>({static_cast<int64_t>(values.size())});
    tensor.upload(values);
    return Variable(stream, tensor, role);
  }
  static Numbers numbers(const Tensor &tensor) { return TensorOf<double>(tensor).download(); }
};

} // namespace tile::test
