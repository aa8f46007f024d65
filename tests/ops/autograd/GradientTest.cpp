// The gradients of ops against central differences in f64, and in narrower dtypes against f64.
#include "tests/ops/autograd/Gradients.h"

#include <tile/autograd/Ops.h>
#include <tile/ops/Arithmetic.h>

using namespace tile;
using namespace tile::test;
using namespace tile::autograd;

namespace {

INSTANTIATE_TEST_SUITE_P(Devices, Gradients, ::testing::ValuesIn(deviceNames()),
                         [](const auto &run) { return testName(run.param); });

using Inputs = std::span<const Variable>;

TEST_P(Gradients, Arithmetic) {
  for (auto [a, b] : {std::pair<std::vector<int64_t>, std::vector<int64_t>>{{3, 4}, {3, 4}},
                      {{3, 4}, {4}},
                      {{3, 1}, {2, 1, 4}},
                      {{}, {5}}}) {
    SCOPED_TRACE(::testing::PrintToString(a) + ::testing::PrintToString(b));
    Variable x = leaf(a), y = leaf(b, 2, 0.5, 2);
    EXPECT_EQ(gradcheck([](Inputs v) { return add(v[0], v[1]); }, {x, y}), "");
    EXPECT_EQ(gradcheck([](Inputs v) { return subtract(v[0], v[1]); }, {x, y}), "");
    EXPECT_EQ(gradcheck([](Inputs v) { return multiply(v[0], v[1]); }, {x, y}), "");
    EXPECT_EQ(gradcheck([](Inputs v) { return divide(v[0], v[1]); }, {x, y}), "");
  }
  EXPECT_EQ(gradcheck([](Inputs v) { return affine(v[0], -3, 2); }, {leaf({5})}), "");
}

TEST_P(Gradients, Reductions) {
  Variable x = leaf({2, 3, 4});
  for (bool keeps : {false, true}) {
    tile::ReduceOptions options{.keep_dims = keeps};
    EXPECT_EQ(gradcheck([&](Inputs v) { return sum(v[0], {}, options); }, {x}), "");
    EXPECT_EQ(gradcheck([&](Inputs v) { return sum(v[0], {0, -1}, options); }, {x}), "");
    EXPECT_EQ(gradcheck([&](Inputs v) { return mean(v[0], 1, options); }, {x}), "");
  }
  EXPECT_EQ(
      gradcheck([](Inputs v) { return multiply(v[0], sum(v[0], 1, {.keep_dims = true})); }, {x}),
      "");
}

TEST_P(Gradients, Products) {
  auto product = [](Inputs v) { return matmul(v[0], v[1]); };
  EXPECT_EQ(gradcheck(product, {leaf({3, 5}), leaf({5, 4}, 2)}), "");
  EXPECT_EQ(gradcheck(product, {stridedLeaf(3, 5), stridedLeaf(5, 4, 2)}), "");
  EXPECT_EQ(gradcheck(product, {leaf({2, 3, 5}), leaf({5, 4}, 2)}), "");
  EXPECT_EQ(gradcheck(product, {leaf({3, 5}), leaf({2, 5, 4}, 2)}), "");
  EXPECT_EQ(gradcheck(product, {leaf({2, 1, 3, 2}), leaf({3, 2, 4}, 2)}), "");
  auto layer = [](Inputs v) { return linear(v[0], v[1], v[2]); };
  EXPECT_EQ(gradcheck(layer, {leaf({2, 3, 5}), leaf({4, 5}, 2), leaf({4}, 3)}), "");
  EXPECT_EQ(gradcheck(layer, {leaf({3, 5}), leaf({4, 5}, 2), Variable()}), "");
  EXPECT_EQ(gradcheck(layer, {leaf({5}), leaf({4, 5}, 2), leaf({4}, 3)}), "");
}

TEST_P(Gradients, Views) {
  Variable x = leaf({2, 3, 4});
  EXPECT_EQ(gradcheck(
                [](Inputs v) {
                  return multiply(reshape(v[0], {6, -1}), reshape(v[0], {6, 4}));
                },
                {x}),
            "");
  EXPECT_EQ(gradcheck([](Inputs v) { return permute(v[0], {2, 0, 1}); }, {x}), "");
  EXPECT_EQ(gradcheck([](Inputs v) { return reshape(permute(v[0], {2, 0, 1}), {8, 3}); }, {x}), "");
  expectRefused(ErrorCode::InvalidArgument,
                "permute: x is f64 2x3x4, the order has 3 dimensions: each of the 3 of x is needed",
                [&] {
                  permute(x, {0, 1, 1});
                });
  expectRefused(ErrorCode::InvalidShape,
                "reshape: a tensor of {2, 3, 4} cannot be reshaped to {5, 5}", [&] {
                  reshape(x, {5, 5});
                });
  expectRefused(ErrorCode::InvalidShape, "reshape: the shape {-1, 3, -1} leaves more than one",
                [&] {
                  reshape(x, {-1, 3, -1});
                });
  for (DType dtype : {i32, e4m3, any})
    expectRefused(ErrorCode::InvalidArgument, "cast: x is f64 2x3x4, to become ",
                  [&] { cast(x, dtype); });
}

TEST_P(Gradients, Parts) {
  Variable x = leaf({2, 7, 3});
  auto product = [](Inputs v) {
    auto parts = split(v[0], -2, {2, 3, 2});
    return multiply(parts[0], parts[2]);
  };
  EXPECT_EQ(gradcheck(product, {x}), "") << "the part between has no gradient";
  auto turned = [](Inputs v) {
    auto parts = split(v[0], 1, {3, 0, 4});
    return multiply(concatenate(std::vector{parts[2], parts[1], parts[0]}, 1), v[0]);
  };
  EXPECT_EQ(gradcheck(turned, {x}), "");
  EXPECT_EQ(gradcheck([](Inputs v) { return concatenate(v, 0); }, {leaf({2, 3}), leaf({1, 3}, 2)}),
            "");
  expectRefused(ErrorCode::InvalidShape,
                "split: x is f64 2x7x3, its parts along dimension 1 have extents {2, 4}: they",
                [&] {
                  split(x, 1, {2, 4});
                });
  expectRefused(ErrorCode::InvalidShape, "extents {9, -2}: they must", [&] {
    split(x, 1, {9, -2});
  });
  expectRefused(ErrorCode::InvalidArgument, "split: dimension 3 of f64 2x7x3, which has 3",
                [&] { split(x, 3, {2}); });
  expectRefused(ErrorCode::InvalidShape, "concatenate: part 1 is f64 2x3, the first is f64 2x7x3",
                [&] {
                  concatenate(std::vector{x, leaf({2, 3})}, 1);
                });
  expectRefused(ErrorCode::InvalidShape, "concatenate: part 1 is no variable", [&] {
    concatenate(std::vector{x, Variable()}, 1);
  });
}

TEST_P(Gradients, NarrowDtypesFollowDoubles) {
  Variable x = leaf({8, 16}), w = leaf({4, 16}, 2), b = leaf({4}, 3);
  auto gradientsIn = [&](DType dtype) {
    for (const Variable &v : {x, w, b})
      v.clearGrad();
    Variable y = linear(cast(x, dtype), cast(w, dtype), cast(b, dtype));
    Variable loss = mean(multiply(y, y));
    EXPECT_EQ(loss.dtype(), dtype);
    loss.backward();
    return TensorOf<double>(w.grad()).download();
  };
  auto exactly = gradientsIn(f64);
  for (auto [dtype, tolerance] : {std::pair{f32, 1e-5}, {f16, 2e-2}, {bf16, 1e-1}}) {
    auto narrow = gradientsIn(dtype);
    for (size_t i = 0; i < exactly.size(); ++i)
      ASSERT_NEAR(narrow[i], exactly[i], tolerance) << nameOf(dtype);
  }
}

/// Its backward forgets a factor of 2.
struct WrongSquare {
  static constexpr const char *kName = "wrong_square";
  Tensor forward(Context &context, const Tensor &x) {
    context.save({x});
    return ops::multiply(context.stream(), x, x);
  }
  Tensor backward(Context &context, const Tensor &dy) {
    return ops::multiply(context.stream(), dy, context.saved(0));
  }
};

TEST_P(Gradients, GradcheckFindsAWrongBackward) {
  std::string found = gradcheck([](Inputs v) { return apply(WrongSquare(), Loc::here(), v[0]); },
                                {leaf({3}, 1, 0.5, 1)});
  EXPECT_NE(found.find("input 0, element "), std::string::npos) << found;
}

} // namespace
