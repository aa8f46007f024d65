// Conformance 10: histograms of several sizes, masked, with numbers outside; gathers along either
// axis from smaller and equal sources.
#include "tests/execution/Harness.h"

#include <random>

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(ConformanceHistogram, Targets::One);

TEST_P(ConformanceHistogram, HistogramsOfSeveralSizes) {
  static const auto program =
      kernel("histograms", [](In<i32, 1> x, InOut<i32, 2> y, Const M, Const Bins) {
        Value v = x.tile({M})(0);
        y.tile({1, Bins})(0, 0) = expand_dims(histogram(v, Bins), 0);
        y.tile({1, Bins})(1, 0) = expand_dims(histogram(v, Bins, index(0, {M}) % 2 == 0), 0);
      });
  std::mt19937 random(11);
  for (auto [m, bins] : {std::pair{2048, 2}, {1024, 128}, {32, 512}, {8, 2}, {64, 1}}) {
    SCOPED_TRACE(std::to_string(m) + ", " + std::to_string(bins));
    std::vector<int> x;
    std::vector<int> expected(size_t(2 * bins), 0);
    for (int i = 0; i < m; ++i) {
      // One in eight lies outside, on either side.
      x.push_back(i % 8 == 3 ? (i % 16 == 3 ? -1 - i : bins + i % 5)
                             : int(random() % unsigned(bins)));
      if (x.back() >= 0 && x.back() < bins) {
        ++expected[size_t(x.back())];
        expected[size_t(bins + x.back())] += i % 2 == 0;
      }
    }
    auto y = output<int32_t>({2, bins}, 1); // one bin must not write its neighbour
    program.consts(m, bins).grid(1)(stream, input({m}, x), y.tensor());
    EXPECT_EQ(y.result(), expected);
  }
}

template <int Axis> const auto &gatherAlong() {
  static const auto program =
      kernel("gather_" + std::to_string(Axis),
             [](In<f32, 2> x, In<i32, 2> at, Out<f32, 2> y, Const M, Const N, Const P, Const Q) {
               y.tile({P, Q})(0, 0) = gather(x.tile({M, N})(0, 0), at.tile({P, Q})(0, 0), Axis);
             });
  return program;
}

TEST_P(ConformanceHistogram, GathersAlongEitherAxis) {
  struct Sizes {
    int m, n, p, q, axis;
  };
  std::mt19937 random(13);
  for (auto [m, n, p, q, axis] : {Sizes{4, 4, 4096, 4, 0}, Sizes{128, 64, 128, 128, 1}}) {
    std::vector<float> x = uniform<float>(m * n);
    std::vector<int> at;
    for (int i = 0; i < p * q; ++i)
      at.push_back(int(random() % unsigned(axis ? n : m)));
    auto y = output<float>({p, q});
    auto run = [&](const auto &program) {
      program.consts(m, n, p, q).grid(1)(stream, input({m, n}, x), input({p, q}, at), y.tensor());
    };
    axis ? run(gatherAlong<1>()) : run(gatherAlong<0>());
    expectAll(y.result(), [&, n = n, q = q, axis = axis](int64_t i) {
      int64_t row = i / q, column = i % q, picked = at[size_t(i)];
      return x[size_t(axis ? row * n + picked : picked * n + column)];
    });
  }
}

TEST_P(ConformanceHistogram, GatherInOneDimension) {
  static const auto program = kernel("gather_line", [](In<f32, 1> x, In<i32, 1> at, Out<f32, 1> y) {
    y.tile({64})(0) = gather(x.tile({32})(0), at.tile({64})(0), 0);
  });
  std::vector<float> x = uniform<float>(32);
  std::vector<int> at;
  for (int i = 0; i < 64; ++i)
    at.push_back(i * 7 % 32);
  auto y = output<float>({64});
  program.grid(1)(stream, input({32}, x), input({64}, at), y.tensor());
  expectAll(y.result(), [&](int64_t i) { return x[size_t(at[size_t(i)])]; });
}

} // namespace
