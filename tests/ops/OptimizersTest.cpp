// Optimizers against the same formulas in doubles over several steps; norms and clipping.
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Optimizers.h>

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Optimizers, Targets::One);

constexpr int64_t kSize = 1500;

TEST_P(Optimizers, Sgd) {
  auto w = uniform<float>(kSize), g = uniform<float>(kSize, -1, 1, 2);
  for (double momentum : {0.0, 0.9}) {
    ops::SgdOptions options{.rate = 0.1, .momentum = momentum, .weightDecay = 0.01};
    auto weights = output<float>({kSize});
    auto velocity = output<float>({kSize});
    weights.tensor().upload(w);
    velocity.tensor().upload(std::vector<float>(kSize));
    std::vector<double> exactly(w.begin(), w.end()), moving(kSize);
    for (int step = 0; step < 4; ++step) {
      ops::sgd(stream, weights.tensor(), input({kSize}, g),
               momentum ? ops::Operand(velocity.tensor()) : ops::Operand(), options);
      for (size_t i = 0; i < kSize; ++i) {
        moving[i] = momentum * moving[i] + g[i] + options.weightDecay * exactly[i];
        exactly[i] -= options.rate * moving[i];
      }
    }
    expectAll(weights.result(), [&](int64_t i) { return exactly[size_t(i)]; }, {4, 1e-6});
  }
}

TEST_P(Optimizers, AdamW) {
  ops::AdamWOptions options{.rate = 0.02, .weightDecay = 0.1};
  auto check = [&]<class W, class K>(W, K, bool hasMaster, double tolerance) {
    auto w = uniform<W>(kSize), g = uniform<W>(kSize, -1, 1, 2);
    auto weights = output<W>({kSize});
    auto m = output<K>({kSize}), v = output<K>({kSize}), master = output<K>({kSize});
    weights.tensor().upload(w);
    m.tensor().fill(0), v.tensor().fill(0);
    std::vector<K> start(w.begin(), w.end());
    master.tensor().upload(start);
    std::vector<double> exactly(start.begin(), start.end()), mean(kSize), square(kSize);
    auto gradient = input({kSize}, g);
    for (int step = 1; step <= 5; ++step) {
      ops::adamW(stream, weights.tensor(), gradient, m.tensor(), v.tensor(),
                 hasMaster ? ops::Operand(master.tensor()) : ops::Operand(), step, options);
      for (size_t i = 0; i < kSize; ++i) {
        double slope = double(exact(g[i]));
        mean[i] = 0.9 * mean[i] + 0.1 * slope;
        square[i] = 0.999 * square[i] + 0.001 * slope * slope;
        double move = mean[i] / (1 - std::pow(0.9, step)) /
                      (std::sqrt(square[i] / (1 - std::pow(0.999, step))) + options.epsilon);
        exactly[i] -= options.rate * (move + options.weightDecay * exactly[i]);
      }
    }
    auto reference = [&](int64_t i) { return exactly[size_t(i)]; };
    expectAll(weights.result(), reference, {0.51, tolerance});
    if (hasMaster)
      expectAll(master.result(), reference, {1, 1e-6});
    m.result(), v.result(); // nothing around them was written
  };
  check(float(), float(), false, 1e-6);
  check(double(), double(), false, 1e-14);
  check(bfloat16(), float(), true, 1e-6);
  check(half(), float(), true, 1e-6);
  check(bfloat16(), float(), false, 0.02); // rounds at each step
}

TEST_P(Optimizers, NormAndClip) {
  auto x = uniform<float>(3000), y = uniform<float>(70, -1, 1, 2);
  double squares = 0;
  for (float value : x)
    squares += double(value) * value;
  for (float value : y)
    squares += double(value) * value;
  double expected = std::sqrt(squares);
  for (double largest : {2.0, 1000.0}) {
    auto a = output<float>({50, 60}, 2);
    auto b = output<float>({70});
    auto norm = output<float>({1});
    a.tensor().upload(x), b.tensor().upload(y);
    ops::Operand tensors[] = {a.tensor(), b.tensor()};
    ops::globalNorm(stream, tensors, norm.tensor());
    ops::clipByNorm(stream, tensors, norm.tensor(), largest);
    double scale = std::fmin(1, largest / expected);
    expectAll(norm.result(), [&](int64_t) { return expected; }, {8});
    expectAll(a.result(), [&](int64_t i) { return x[size_t(i)] * scale; }, {8});
    expectAll(b.result(), [&](int64_t i) { return y[size_t(i)] * scale; }, {8});
  }
  auto norm = device().tensor<float>({1});
  ops::globalNorm(stream, {}, norm);
  EXPECT_EQ(norm.download()[0], 0);
}

TEST_P(Optimizers, NormOfAllKinds) {
  // Longer than the programs of one sweep, permuted, with gaps, of two other dtypes, and empty.
  auto x = uniform<float>(600'001), y = uniform<float>(6000, -1, 1, 2);
  auto z = uniform<double>(1000, -1, 1, 3);
  auto w = uniform<half>(1000, -1, 1, 4);
  double squares = 0;
  for (float value : x)
    squares += double(value) * value;
  for (float value : y)
    squares += double(value) * value;
  for (double value : z)
    squares += value * value;
  for (half value : w)
    squares += double(value) * double(value);
  auto gaps = device().tensor<float>({60, 100});
  gaps.upload(y);
  Tensor permuted = gaps.slice(1, 50, 50),
         rest = gaps.reshape({6, 10, 100}).permute({2, 0, 1}).slice(0, 0, 50);
  auto doubles = device().tensor<double>({10, 100}), empty = device().tensor<double>({0, 3});
  doubles.upload(z);
  auto longer = input({600'001}, x);
  auto halves = input({1000}, w);
  ops::Operand tensors[] = {longer, permuted, rest, doubles.T(), empty, halves};
  auto norm = output<float>({1});
  ops::globalNorm(stream, tensors, norm.tensor());
  expectAll(norm.result(), [&](int64_t) { return std::sqrt(squares); }, {8});
}

TEST_P(Optimizers, Refusals) {
  auto w = device().tensor<float>({4}), g = device().tensor<float>({4}),
       m = device().tensor<float>({4}), v = device().tensor<float>({4});
  expectRefused(ErrorCode::InvalidArgument, "sgd: momentum is 0.9",
                [&] { ops::sgd(stream, w, g, {}, {.momentum = 0.9}); });
  expectRefused(ErrorCode::InvalidShape, "sgd: gradient is f32 3, but weights is f32 4",
                [&] { ops::sgd(stream, w, g.slice(0, 0, 3), {}); });
  expectRefused(ErrorCode::InvalidArgument, "adamW: step is 0; steps count from 1",
                [&] { ops::adamW(stream, w, g, m, v, 0); });
  expectRefused(ErrorCode::InvalidArgument, "adamW: beta1 is 0.900000, beta2 1.000000; both",
                [&] { ops::adamW(stream, w, g, m, v, 1, {.beta2 = 1}); });
  for (double rate : {-0.1, double(NAN), double(INFINITY)}) {
    expectRefused(ErrorCode::InvalidArgument, "sgd: rate is ",
                  [&] { ops::sgd(stream, w, g, {}, {.rate = rate}); });
    expectRefused(ErrorCode::InvalidArgument, "adamW: epsilon is ",
                  [&] { ops::adamW(stream, w, g, m, v, 1, {.epsilon = rate}); });
  }
  for (double largest : {-1.0, double(NAN)})
    expectRefused(ErrorCode::InvalidArgument, "clipByNorm: largest is ", [&] {
      ops::clipByNorm(stream, std::array{ops::Operand(w)}, g.slice(0, 0, 1), largest);
    });
  expectRefused(ErrorCode::InvalidArgument, "adamW: m is f16 4; supported dtypes: f32",
                [&] { ops::adamW(stream, w, g, device().tensor<half>({4}), v, 1); });
  expectRefused(ErrorCode::Aliasing, "m overlaps v in memory",
                [&] { ops::adamW(stream, w, g, m, m, 1); });
  expectRefused(ErrorCode::InvalidShape, "globalNorm: norm is f32 4; it needs one element",
                [&] { ops::globalNorm(stream, {}, w); });
  // A list is looked through as a whole: columns that lie beside one another are apart.
  auto matrix = device().tensor<float>({4, 4}), norm = device().tensor<float>({1});
  matrix.fill(1), w.fill(1), norm.fill(8);
  ops::Operand columns[] = {matrix.slice(1, 2, 2), w, matrix.slice(1, 0, 2)};
  ops::clipByNorm(stream, columns, norm, 4);
  for (float value : matrix.download())
    EXPECT_NEAR(value, 0.5f, 0x1p-22);
  ops::Operand twice[] = {m, w, matrix, matrix.slice(0, 3, 1)};
  expectRefused(ErrorCode::Aliasing, "clipByNorm: tensors[3] overlaps tensors[2] in memory",
                [&] { ops::clipByNorm(stream, twice, norm, 4); });
}

} // namespace
