// Functions that are called: with all kinds of operations inside, in loops and branches, from each other.
#include "tests/execution/Harness.h"

#include <numeric>

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Callables, Targets::One);

TEST_P(Callables, ElementwiseCalledOften) {
  static const auto step =
      callable("step", [](Value x, Value beta) { return x + beta / (1 + x * x); });
  static const auto program = kernel("often", [](In<f32, 1> x, Out<f32, 1> y, Const B) {
    Value i = grid1d(y, {B}), v = x.tile({B})(i);
    for (int round = 0; round < 50; ++round)
      v = step(v, 0.5f);
    y.tile({B})(i) = v;
  });
  for (int tile : {64, 96, 1024})
    for (int warps : {1, 4}) {
      std::vector<float> x = uniform<float>(1000);
      auto y = output<float>({1000});
      program.consts(tile).warps(warps)(stream, input({1000}, x), y.tensor());
      expectAll(y.result(),
                [&](int64_t i) {
                  double v = x[size_t(i)];
                  for (int round = 0; round < 50; ++round)
                    v += 0.5 / (1 + v * v);
                  return v;
                },
                {.absolute = 1e-3});
    }
}

/// Each dtype and shape of the arguments is a function of its own; several results; narrow types.
TEST_P(Callables, OfEveryTypeAndWithSeveralResults) {
  static const auto both =
      callable("both", [](Value a, Value b) { return std::pair(a + b, a < b); });
  auto check = [&]<class T>(T) {
    static const auto program =
        kernel("types", [](In<dtypeOf<T>, 2> x, Out<dtypeOf<T>, 2> y, Out<i32, 1> z, Const B) {
          Value a = x.tile({4, B})(0, 0);
          auto [sum, less] = both(a, a.dtype() == f64 ? a * 2 : a);
          auto [more, always] = both(sum, 1);
          y.tile({4, B})(0, 0) = cast(x.dtype(), more);
          auto [scalar, isLess] = both(program_id(0), 5);
          z.tile({2})(0) = select(isLess, splat(scalar, {2}), 0) +
                           cast(i32, item(reshape(x.tile({1, 1})(0, 0), {1})) < 0);
        });
    std::vector<T> x = uniform<T>(4 * 32, 0, 9);
    auto y = output<T>({4, 32}, 1);
    auto z = output<int32_t>({2});
    program.consts(32).grid(1)(stream, input({4, 32}, x), y.tensor(), z.tensor());
    double factor = std::is_same_v<T, double> ? 3 : 2;
    expectAll(y.result(), [&](int64_t i) { return exact(x[size_t(i)]) * factor + 1; });
    expectAll(z.result(), [](int64_t) { return 5; });
  };
  check(int8_t()), check(int16_t()), check(uint32_t()), check(int64_t()), check(half()),
      check(float()), check(double());
}

/// Sums and products go through shared memory of the function's own, and those of one that it calls through another's.
TEST_P(Callables, SharedMemoryAndCallsInside) {
  static const auto center =
      callable("center", [](Value x) { return x - mean(x, 1, {.keep_dims = true}); });
  static const auto mixed = callable(
      "mixed", [](Value x, Value w) { return dot(cast(f16, center(x)), w) + flip(center(x), 1); });
  static const auto program = kernel("shared", [](In<f32, 2> x, In<f16, 2> w, Out<f32, 2> y,
                                                  Scalar<i32> rounds, Const M, Const N) {
    Value weights = w.tile({N, N})(0, 0);
    auto v = var(x.tile({M, N})(0, 0));
    for (auto round : range(rounds))
      if_(round % 2 == 0, [&] { v = mixed(v, weights); }).else_([&] {
        v = center(flip(v, 0)) + sum(v, 0, {.keep_dims = true});
      });
    y.tile({M, N})(0, 0) = v;
  });
  constexpr int kM = 32, kN = 64;
  std::vector<float> x = uniform<float>(kM * kN, -1, 1);
  std::vector<half> w(kN * kN);
  for (int i = 0; i < kN; ++i)
    w[size_t(i * kN + (i * 7 + 3) % kN)] = half(0.5f); // a permutation, halved
  for (int rounds : {0, 1, 2, 3})
    for (int warps : {1, 4}) {
      std::vector<double> v(x.begin(), x.end());
      auto centered = [&](const std::vector<double> &from) {
        std::vector<double> to = from;
        for (int i = 0; i < kM; ++i) {
          double mean =
              std::accumulate(&from[size_t(i * kN)], &from[size_t(i * kN)] + kN, 0.0) / kN;
          for (int j = 0; j < kN; ++j)
            to[size_t(i * kN + j)] -= mean;
        }
        return to;
      };
      for (int round = 0; round < rounds; ++round) {
        std::vector<double> next(v.size());
        if (round % 2 == 0) {
          std::vector<double> c = centered(v);
          for (int i = 0; i < kM; ++i)
            for (int j = 0; j < kN; ++j) {
              next[size_t(i * kN + (j * 7 + 3) % kN)] += 0.5 * c[size_t(i * kN + j)];
              next[size_t(i * kN + j)] += c[size_t(i * kN + kN - 1 - j)];
            }
        } else {
          std::vector<double> flipped(v.size());
          for (int i = 0; i < kM; ++i)
            std::copy_n(&v[size_t(i * kN)], kN, &flipped[size_t((kM - 1 - i) * kN)]);
          next = centered(flipped);
          for (int j = 0; j < kN; ++j) {
            double column = 0;
            for (int i = 0; i < kM; ++i)
              column += v[size_t(i * kN + j)];
            for (int i = 0; i < kM; ++i)
              next[size_t(i * kN + j)] += column;
          }
        }
        v = next;
      }
      auto y = output<float>({kM, kN});
      program.consts(kM, kN).warps(warps).grid(1)(stream, input({kM, kN}, x), input({kN, kN}, w),
                                                  y.tensor(), rounds);
      expectAll(y.result(), [&](int64_t i) { return v[size_t(i)]; }, {.absolute = 0.05});
    }
}

/// The library's functions are functions too; loops and branches inside.
TEST_P(Callables, ControlFlowAndTheLibrary) {
  static const auto power = callable("power", [](Value x, Value n) {
    auto result = var(zeros_like(x) + 1);
    for ([[maybe_unused]] auto i : range(n))
      result = result * x;
    if_(n > 2, [&] { result = precise::exp(precise::log(result)); });
    return result.get();
  });
  static const auto program = kernel("powers", [](In<f64, 1> x, Out<f64, 1> y, Scalar<i32> n) {
    Value i = grid1d(y, {64}), v = x.tile({64})(i);
    y.tile({64})(i) = power(v, n) + power(v, 2);
  });
  std::vector<double> x = uniform<double>(100, 0.5, 2);
  for (int n : {0, 1, 3}) {
    auto y = output<double>({100});
    program(stream, input({100}, x), y.tensor(), n);
    expectAll(y.result(),
              [&](int64_t i) { return std::pow(x[size_t(i)], n) + x[size_t(i)] * x[size_t(i)]; },
              {.absolute = 1e-12});
  }
}

} // namespace
