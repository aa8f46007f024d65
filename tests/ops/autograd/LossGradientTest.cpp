// The gradients of softmax and of cross-entropy.
#include "tests/ops/autograd/Gradients.h"

#include <tile/autograd/Losses.h>
#include <tile/autograd/Ops.h>

using namespace tile;
using namespace tile::test;
using namespace tile::autograd;

namespace {

class LossGradients : public Gradients {};
INSTANTIATE_TEST_SUITE_P(Devices, LossGradients, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

using Inputs = std::span<const Variable>;

TEST_P(LossGradients, Softmax) {
  for (int dim : {-1, 0, 1}) {
    SCOPED_TRACE(dim);
    EXPECT_EQ(gradcheck([&](Inputs v) { return softmax(v[0], dim); }, {leaf({3, 4, 5})}), "");
    EXPECT_EQ(gradcheck([&](Inputs v) { return logSoftmax(v[0], dim); }, {leaf({3, 4, 5})}), "");
  }
  EXPECT_EQ(gradcheck([](Inputs v) { return softmax(v[0]); }, {stridedLeaf(3, 5)}), "");
  EXPECT_EQ(gradcheck([](Inputs v) { return multiply(logSoftmax(v[0], 0), softmax(v[0])); },
                      {leaf({4, 5})}),
            "");
}

TEST_P(LossGradients, CrossEntropy) {
  Variable logits = leaf({2, 3, 7}, 1, -3, 3);
  auto targets = input({2, 3}, std::vector<int64_t>{0, 6, -100, 3, 3, 5});
  using ops::LossReduction;
  for (auto reduction : {LossReduction::None, LossReduction::Sum, LossReduction::Mean})
    for (double smoothing : {0.0, 0.1})
      for (int64_t classes : {0, 6}) {
        SCOPED_TRACE(std::to_string(int(reduction)) + " " + std::to_string(smoothing));
        ops::CrossEntropyOptions options = {.reduction = reduction,
                                            .ignoreIndex = classes ? 6 : -100,
                                            .classes = classes,
                                            .labelSmoothing = smoothing};
        auto valid = classes ? input({2, 3}, std::vector<int64_t>{0, 6, 1, 3, 3, 5}) : targets;
        EXPECT_EQ(gradcheck([&](Inputs v) { return crossEntropy(v[0], valid, options); }, {logits}),
                  "");
      }
}

TEST_P(LossGradients, CrossEntropyIsThatOfLogSoftmax) {
  // bf16 logits give an f32 loss and bf16 gradients: those of the two steps it fuses, within their rounding.
  constexpr int64_t kRows = 9, kClasses = 50;
  Variable logits = leaf({kRows, kClasses}, 1, -3, 3);
  std::vector<int32_t> classes;
  std::vector<double> picks(kRows * kClasses, 0);
  for (int64_t r = 0; r < kRows; ++r) {
    classes.push_back(int32_t(r * 31 % kClasses));
    picks[size_t(r * kClasses + classes.back())] = -1.0 / kRows;
  }
  Variable loss = crossEntropy(cast(logits, bf16), input({kRows}, classes));
  EXPECT_EQ(loss.dtype(), f32);
  EXPECT_EQ(loss.rank(), 0);
  loss.backward();
  auto fused = TensorOf<double>(logits.grad()).download();
  logits.clearGrad();
  Variable picked(stream, input({kRows, kClasses}, picks));
  Variable apart = sum(multiply(logSoftmax(logits), picked));
  apart.backward();
  auto steps = TensorOf<double>(logits.grad()).download();
  EXPECT_NEAR(TensorOf<float>(loss.value()).download()[0],
              TensorOf<double>(apart.value()).download()[0], 1e-2);
  for (size_t i = 0; i < fused.size(); ++i)
    ASSERT_NEAR(fused[i], steps[i], 2e-3) << i;
}

TEST_P(LossGradients, ChangedTargetsAreNoticed) {
  Variable logits = leaf({3, 4});
  auto targets = input({3}, std::vector<int64_t>{0, 1, 2});
  Variable loss = crossEntropy(logits, targets);
  targets.markChanged();
  expectRefused(ErrorCode::Aliasing, "crossEntropy", [&] { loss.backward(); });
}

} // namespace
