// Staged loops, branches and while loops with tiles carried through them, nested in each other.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(ControlFlow, Targets::One);
EXECUTION_SUITE(ControlFlowOfProducts);

TEST_P(ControlFlow, LoopBoundsAndSteps) {
  static const auto program =
      kernel("bounds", [](Out<i32, 1> y, Scalar<i32> lo, Scalar<i32> hi, Scalar<i32> step) {
        auto forwards = var(0), backwards = var(0), rounds = var(0);
        for (auto i : range(lo, hi, step)) {
          forwards = forwards * 3 + i;
          rounds = rounds + 1;
        }
        for (auto i : range(hi, lo, -2))
          backwards = backwards * 3 + i;
        y.tile({1})(0) = splat(forwards, {1});
        y.tile({1})(1) = splat(backwards, {1});
        y.tile({1})(2) = splat(rounds, {1});
      });
  for (auto [lo, hi, step] : {std::array{0, 5, 1}, {0, 0, 1}, {5, 0, 1}, {-3, 8, 4}, {2, 3, 100}}) {
    SCOPED_TRACE(std::to_string(lo) + " .. " + std::to_string(hi));
    int32_t expected[3] = {};
    for (int i = lo; i < hi; i += step)
      expected[0] = expected[0] * 3 + i, ++expected[2];
    for (int i = hi; i > lo; i -= 2)
      expected[1] = expected[1] * 3 + i;
    auto y = output<int32_t>({3});
    program.grid(1)(stream, y.tensor(), lo, hi, step);
    expectAll(y.result(), [&](int64_t i) { return expected[i]; });
  }
}

TEST_P(ControlFlow, CarriedTilesOfSeveralTypes) {
  static const auto program =
      kernel("carried", [](In<f32, 2> x, Out<f32, 1> sums, Out<i32, 1> counts, Const B) {
        auto total = var(zeros(f32, {B}));
        auto positive = var(zeros(i32, {B}));
        for (auto row : range(x.dim(0))) {
          Value part = reshape(x.tile({1, B})(row, program_id(0)), {B});
          total += part;
          positive = positive + select(part > 0.0f, 1, 0);
        }
        sums.tile({B})(program_id(0)) = total;
        counts.tile({B})(program_id(0)) = positive;
      });
  for (int64_t rows : {0, 1, 2, 9})
    for (int64_t columns : {1, 63, 65}) {
      std::vector<float> x = uniform<float>(rows * columns);
      auto sums = output<float>({columns});
      auto counts = output<int32_t>({columns});
      program.consts(64).warps(2).grid((columns + 63) / 64)(stream, input({rows, columns}, x),
                                                            sums.tensor(), counts.tensor());
      expectAll(sums.result(), [&](int64_t c) {
        float total = 0;
        for (int64_t r = 0; r < rows; ++r)
          total += x[size_t(r * columns + c)];
        return total;
      });
      expectAll(counts.result(), [&](int64_t c) {
        int count = 0;
        for (int64_t r = 0; r < rows; ++r)
          count += x[size_t(r * columns + c)] > 0;
        return count;
      });
    }
}

TEST_P(ControlFlow, VariablesExchangedInALoop) {
  static const auto program = kernel("fibonacci", [](Out<i64, 1> y, Scalar<i32> n) {
    auto a = var(full(i64, {32}, 0)), b = var(full(i64, {32}, 1));
    for ([[maybe_unused]] auto i : range(n)) {
      Value next = a + b;
      a = b;
      b = next;
    }
    y.tile({32})(0) = a;
  });
  for (auto [n, expected] : {std::pair<int, int64_t>(0, 0), {1, 1}, {2, 1}, {50, 12586269025}}) {
    auto y = output<int64_t>({32});
    program.grid(1)(stream, y.tensor(), n);
    expectAll(y.result(), [&](int64_t) { return expected; });
  }
}

TEST_P(ControlFlow, BranchesOfEitherAndOfOneSide) {
  static const auto program =
      kernel("branches", [](In<f32, 1> x, Out<f32, 1> y, Scalar<i32> mode, Const B) {
        Value i = grid1d(y, {B});
        auto tile = var(x.tile({B})(i));
        auto scale = var(1.0f);
        if_(mode == 0, [&] { tile = tile * 2.0f; }).else_([&] {
          if_(mode > 5, [&] { scale = 100.0f; });
          tile = tile + scale;
        });
        if_(i == 1, [&] { tile = -tile; });
        y.tile({B})(i) = tile;
      });
  std::vector<float> x = uniform<float>(150);
  for (int mode : {0, 1, 6}) {
    auto y = output<float>({150});
    program.consts(64)(stream, input({150}, x), y.tensor(), mode);
    expectAll(y.result(), [&](int64_t i) {
      float value = x[size_t(i)];
      value = mode == 0 ? value * 2 : value + (mode > 5 ? 100.0f : 1.0f);
      return i / 64 == 1 ? -value : value;
    });
  }
}

TEST_P(ControlFlow, StoresInBranchesAndLoops) {
  static const auto program = kernel("stores", [](Out<i32, 2> y, Scalar<i32> limit) {
    for (auto row : range(y.dim(0)))
      if_(row < limit, [&] {
        y.tile({1, 32})(row, 0) = full(i32, {1, 32}, 7) + row;
      }).else_([&] {
        y.tile({1, 32})(row, 0) = zeros(i32, {1, 32});
      });
  });
  auto y = output<int32_t>({9, 29}, 3);
  program.grid(1)(stream, y.tensor(), 4);
  expectAll(y.result(), [](int64_t i) { return i / 29 < 4 ? 7 + i / 29 : 0; });
}

TEST_P(ControlFlow, WhileWithATileInItsState) {
  // Collatz: rounds until 1, and a tile that counts along.
  static const auto program = kernel("collatz", [](Out<i32, 1> y, Scalar<i32> start) {
    auto n = var(start);
    auto rounds = var(zeros(i32, {64}));
    while_([&] { return n != 1; },
           [&] {
             if_(n % 2 == 0, [&] { n = n / 2; }).else_([&] { n = n * 3 + 1; });
             rounds = rounds + 1;
           });
    y.tile({64})(0) = rounds;
  });
  for (auto [start, expected] : {std::pair(1, 0), {6, 8}, {27, 111}}) {
    auto y = output<int32_t>({64});
    program.grid(1)(stream, y.tensor(), start);
    expectAll(y.result(), [&](int64_t) { return expected; });
  }
}

TEST_P(ControlFlowOfProducts, LoopsInLoopsInBranches) {
  static const auto program = kernel("nest", [](In<f16, 2> x, Out<f32, 2> y, Scalar<i32> depth) {
    auto total = var(zeros(f32, {16, 16}));
    if_(depth > 0, [&] {
      for (auto i : range(depth)) {
        auto inner = var(zeros(f32, {16, 16}));
        for (auto k : range(cdiv(x.dim(1), 16))) {
          Value tile = x.tile({16, 16})(0, k);
          inner = dot(tile, trans(tile), inner);
        }
        if_(i % 2 == 0, [&] { total += inner; }).else_([&] { total -= inner * 0.5f; });
      }
    });
    y.tile({16, 16})(0, 0) = total;
  });
  std::vector<half> x = uniform<half>(16 * 40);
  for (int depth : {0, 1, 4}) {
    auto y = output<float>({16, 16});
    program.grid(1)(stream, input({16, 40}, x), y.tensor(), depth);
    double factor = depth == 0 ? 0 : depth == 1 ? 1 : 1;
    expectAll(y.result(),
              [&](int64_t at) {
                double sum = 0;
                for (int64_t k = 0; k < 40; ++k)
                  sum += exact(x[size_t(at / 16 * 40 + k)]) * exact(x[size_t(at % 16 * 40 + k)]);
                return sum * factor;
              },
              {0, 1e-4});
  }
}

TEST_P(ControlFlow, HostLoopsUnrollAndHostBranchesSpecialise) {
  static const auto program = kernel("host", [](In<f32, 1> x, Out<f32, 1> y, Const N, Const B) {
    Value i = grid1d(y, {B});
    Value tile = x.tile({B})(i);
    for (int k = 0; k < N; ++k)
      tile = k % 2 ? tile * 2.0f : tile + 1.0f;
    y.tile({B})(i) = tile;
  });
  std::vector<float> x = uniform<float>(100);
  for (int n : {0, 1, 6}) {
    auto y = output<float>({100});
    program.consts(n, 32)(stream, input({100}, x), y.tensor());
    expectAll(y.result(), [&](int64_t i) {
      float value = x[size_t(i)];
      for (int k = 0; k < n; ++k)
        value = k % 2 ? value * 2 : value + 1;
      return value;
    });
  }
}

TEST_P(ControlFlow, UnrolledAndStagedLoopsMeanTheSame) {
  static const auto program =
      kernel("hints", [](In<f32, 2> x, Out<f32, 1> y, Const Unroll, Const Stages, Const B) {
        auto total = var(zeros(f32, {B}));
        for (auto row : range(x.dim(0)).unroll(Unroll).stages(Stages))
          total += reshape(x.tile({1, B})(row, 0), {B});
        y.tile({B})(0) = total;
      });
  for (int unroll : {1, 2, 4, 3})
    for (int64_t rows : {0, 1, 4, 11}) {
      SCOPED_TRACE("unroll " + std::to_string(unroll) + ", rows " + std::to_string(rows));
      std::vector<float> x = uniform<float>(rows * 60);
      auto y = output<float>({60});
      program.consts(unroll, unroll, 64).grid(1)(stream, input({rows, 60}, x), y.tensor());
      expectAll(y.result(), [&](int64_t c) {
        float total = 0;
        for (int64_t r = 0; r < rows; ++r)
          total += x[size_t(r * 60 + c)];
        return total;
      });
    }
}

} // namespace
