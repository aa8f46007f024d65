// The gradients of attention of variables.
#include "tests/ops/autograd/Gradients.h"

#include <tile/autograd/Attention.h>
#include <tile/autograd/Ops.h>

using namespace tile;
using namespace tile::test;
using namespace tile::autograd;

namespace {

class AttentionGradients : public Gradients {};
INSTANTIATE_TEST_SUITE_P(Devices, AttentionGradients, ::testing::ValuesIn(deviceNames()),
                         [](const auto &run) { return testName(run.param); });

using Inputs = std::span<const Variable>;

/// For functions that compute in f32: wide steps, since a difference has an error of 1e-7 over the step.
constexpr GradCheckOptions kSingle{.step = 1e-2, .relative = 5e-3, .absolute = 1e-3};
Variable single(const Variable &x) { return cast(x, f32); }

TEST_P(AttentionGradients, AgreeWithDifferences) {
  for (bool causal : {false, true}) {
    auto f = [&](Inputs x) {
      return attention(single(x[0]), single(x[1]), single(x[2]),
                       {.causal = causal, .precision = Precision::ieee});
    };
    EXPECT_EQ(gradcheck(f, {leaf({1, 2, 3, 4}, 1), leaf({1, 1, 5, 4}, 2), leaf({1, 1, 5, 4}, 3)},
                        kSingle),
              "");
  }
}

TEST_P(AttentionGradients, OfOneProjectionPermutedAndShared) {
  // As in a model: tokens x (heads x features), seen as heads; keys are the values, too.
  auto heads = [](const Variable &x, std::vector<int64_t> shape) {
    return permute(reshape(single(x), std::move(shape)), {0, 2, 1, 3});
  };
  auto f = [&](Inputs x) {
    Variable keys = heads(x[1], {2, 3, 1, 4});
    Variable out = attention(heads(x[0], {2, 3, 2, 4}), keys, keys,
                             {.scale = 0.4f, .causal = true, .precision = Precision::ieee});
    return reshape(permute(out, {0, 2, 1, 3}), {2, 3, 8});
  };
  EXPECT_EQ(gradcheck(f, {leaf({2, 3, 8}, 1), leaf({2, 3, 4}, 2)}, kSingle), "");
}

TEST_P(AttentionGradients, KeepNoScores) {
  Tensor q = input({1, 1, 512, 8}, uniform<float>(512 * 8, -1, 1, 1));
  auto bytesOf = [&](Role role) {
    Variable x(stream, q, role);
    size_t before = stream.usage().usedBytes;
    Variable y = attention(x, x, x);
    return stream.usage().usedBytes - before;
  };
  EXPECT_EQ(bytesOf(kTrained), bytesOf(kInput) + 512 * sizeof(float));
}

TEST_P(AttentionGradients, RefusalsNameTheCaller) {
  Variable q = leaf({2, 3, 4}), k = leaf({1, 2, 3, 4});
  expectRefused(ErrorCode::InvalidShape, "attention: q is f64 2x3x4, of rank 3",
                [&] { attention(q, k, k); });
}

} // namespace
