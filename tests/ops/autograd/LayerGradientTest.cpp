// The gradients of what layers are made of: activations, norms, embeddings.
#include "tests/ops/autograd/Gradients.h"

#include <tile/autograd/Activations.h>
#include <tile/autograd/Embedding.h>
#include <tile/autograd/Norm.h>
#include <tile/autograd/Ops.h>

using namespace tile;
using namespace tile::test;
using namespace tile::autograd;

namespace {

class LayerGradients : public Gradients {};
INSTANTIATE_TEST_SUITE_P(Devices, LayerGradients, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

using Inputs = std::span<const Variable>;

/// For functions that compute in f32: wide steps, since a difference has an error of 1e-7 over the step.
constexpr GradCheckOptions kSingle{.step = 1e-2, .relative = 5e-3, .absolute = 1e-3};
/// A trained f64 input, as f32.
Variable single(const Variable &x) { return x ? cast(x, f32) : x; }

TEST_P(LayerGradients, Activations) {
  // Away from the corner of relu by more than a step.
  Variable x = leaf({3, 5}, 1, 0.1, 2), below = leaf({3, 5}, 2, -2, -0.1);
  for (auto f : {relu, gelu, geluTanh, silu, sigmoid, tile::autograd::tanh})
    for (const Variable &v : {x, below})
      EXPECT_EQ(gradcheck([&](Inputs in) { return f(in[0], Loc::here()); }, {v}), "");
}

TEST_P(LayerGradients, GatedActivations) {
  auto gated = [](Inputs v) { return swiglu(v[0], v[1]); };
  EXPECT_EQ(gradcheck(gated, {leaf({3, 4}), leaf({3, 4}, 2)}), "");
  EXPECT_EQ(gradcheck(gated, {leaf({3, 1}), leaf({4}, 2)}), "");
  EXPECT_EQ(gradcheck([](Inputs v) { return swigluHalves(v[0]); }, {leaf({2, 3, 8})}), "");
}

TEST_P(LayerGradients, Norms) {
  Variable x = leaf({2, 3, 7}), w = leaf({7}, 2, 0.5, 2), b = leaf({7}, 3), none;
  auto layer = [](Inputs v) { return layernorm(single(v[0]), single(v[1]), single(v[2])); };
  EXPECT_EQ(gradcheck(layer, {x, w, b}, kSingle), "");
  EXPECT_EQ(gradcheck(layer, {x, w, none}, kSingle), "");
  EXPECT_EQ(gradcheck(layer, {x, none, b}, kSingle), "");
  EXPECT_EQ(gradcheck(layer, {x, none, none}, kSingle), "");
  auto root = [](Inputs v) { return rmsnorm(single(v[0]), single(v[1]), 0.1); };
  EXPECT_EQ(gradcheck(root, {x, w}, kSingle), "");
  EXPECT_EQ(gradcheck(root, {x, none}, kSingle), "");
}

TEST_P(LayerGradients, NormsOfSums) {
  Variable x = leaf({3, 7}), r = leaf({3, 7}, 4), w = leaf({7}, 2, 0.5, 2), b = leaf({7}, 3);
  auto useOf = [](std::array<Variable, 2> pair, int which) {
    return which == 2 ? multiply(pair[0], pair[1]) : pair[static_cast<size_t>(which)];
  };
  for (int which : {0, 1, 2}) { // the sum, its norm, both
    auto layer = [&](Inputs v) {
      return useOf(addLayernorm(single(v[0]), single(v[1]), single(v[2]), single(v[3])), which);
    };
    auto root = [&](Inputs v) {
      return useOf(addRmsnorm(single(v[0]), single(v[1]), single(v[2])), which);
    };
    SCOPED_TRACE(which);
    if (which == 0) { // the weights do not matter then
      EXPECT_EQ(gradcheck([&](Inputs v) { return addLayernorm(single(v[0]), single(v[1]))[0]; },
                          {x, r}, kSingle),
                "");
      continue;
    }
    EXPECT_EQ(gradcheck(layer, {x, r, w, b}, kSingle), "");
    EXPECT_EQ(gradcheck(root, {x, r, w}, kSingle), "");
  }
}

TEST_P(LayerGradients, NormsKeepNothingWithoutGradients) {
  Tensor numbers = input({1024, 8}, uniform<float>(8192, -1, 1, 1));
  auto bytesOf = [&](Role role) {
    Variable x(stream, numbers, role);
    size_t before = stream.usage().usedBytes;
    Variable y = layernorm(x);
    return stream.usage().usedBytes - before;
  };
  EXPECT_EQ(bytesOf(kTrained), bytesOf(kInput) + 2 * 1024 * 4);
}

TEST_P(LayerGradients, Embeddings) {
  Tensor indices = input({2, 3}, std::vector<int32_t>{4, 0, 4, 1, 2, 4});
  auto rows = [&](Inputs v) { return embedding(v[0], indices); };
  EXPECT_EQ(gradcheck(rows, {leaf({5, 3})}), "");
  Variable table = leaf({5, 3});
  Variable loss = sum(embedding(table, indices));
  indices.markChanged();
  expectRefused(ErrorCode::Aliasing, "embedding: tensor 0 that it saved for backward",
                [&] { loss.backward(); });
}

TEST_P(LayerGradients, Rotations) {
  Tensor cosines = stream.tensor<double>({4, 3}), sines = stream.tensor<double>({4, 3});
  ops::rotaryTables(stream, 2, cosines, sines);
  for (bool interleaved : {false, true}) {
    auto turned = [&](Inputs v) { return rotate(v[0], cosines, sines, {interleaved, 6}); };
    EXPECT_EQ(gradcheck(turned, {leaf({2, 4, 8})}), "");
  }
}

} // namespace
