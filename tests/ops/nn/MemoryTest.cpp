// Training leaves no memory behind.
#include "tests/ops/nn/Models.h"

#include <tile/nn/Optimizers.h>

using namespace tile;
using namespace tile::test;
using namespace tile::nn;

namespace {

class TrainingMemory : public OnModels {};
INSTANTIATE_TEST_SUITE_P(Devices, TrainingMemory, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

TEST_P(TrainingMemory, IsGivenBack) {
  Stream own = device().stream();
  {
    Perceptron model(own, generator);
    AdamW adam(model);
    Tensor numbers = own.tensor<float>({16, 4});
    ops::fill(own, 0.5, numbers);
    for (int step = 0; step < 3; ++step) {
      Variable y = model(Variable(own, numbers));
      autograd::mean(autograd::multiply(y, y)).backward();
      adam.step();
    }
    EXPECT_EQ(autograd::liveNodes(), 0u);
    EXPECT_GT(own.usage().usedBytes, 0u);
  }
  EXPECT_EQ(own.usage().usedBytes, 0u);
  EXPECT_GT(own.usage().keptBytes, 0u);
  own.trim();
  EXPECT_EQ(own.usage().keptBytes, 0u);
}

} // namespace
