// Conformance 12: an early return inside a nest of conditions, while loops with carried tiles, a
// flattened nest, and inner bounds that depend on outer indices.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(ConformanceControlFlow, Targets::One);

/// The kernel returns where the first condition holds and the second does not.
TEST_P(ConformanceControlFlow, AnEarlyReturnInEachOfEightCombinations) {
  static const auto program = kernel("early_return", [](In<i32, 1> conditions, Out<i32, 1> y) {
    auto holds = [&](int i) { return item(conditions.tile({1})(i)) != 0; };
    auto value = var(0), returned = var(full(i1, {}, 0));
    if_(holds(0), [&] {
      if_(holds(1), [&] { value = 10; }).else_([&] { returned = full(i1, {}, 1); });
    }).else_([&] { if_(holds(2), [&] { value = 20; }).else_([&] { value = 30; }); });
    guard(~returned);
    y.tile({1})(0) = splat(value, {1});
  });
  for (int bits = 0; bits < 8; ++bits) {
    SCOPED_TRACE(bits);
    std::vector<int> c = {bits & 1, bits >> 1 & 1, bits >> 2 & 1};
    auto y = input<int32_t>({1}, {-1});
    program.grid(1)(stream, input<int32_t>({3}, c), y);
    int expected = c[0] ? (c[1] ? 10 : -1) : (c[2] ? 20 : 30);
    EXPECT_EQ(y.download()[0], expected);
  }
}

/// Collatz lengths of several numbers at once: the tile loops while any of them is not done.
TEST_P(ConformanceControlFlow, WhileWithCarriedTiles) {
  static const auto program = kernel("collatz", [](In<i32, 1> x, Out<i32, 1> y, Const B) {
    Value i = grid1d(y, {B});
    auto number = var(x.tile({B})(i)), steps = var(zeros(i32, {B}));
    while_([&] { return reduce_or(cast(i32, Arg(number) > 1), 0) != 0; },
           [&] {
             Value next = select((number & 1) == 0, number / 2, number * 3 + 1);
             steps += select(number > 1, 1, 0);
             number = select(number > 1, next, number);
           });
    y.tile({B})(i) = steps;
  });
  std::vector<int> x(100);
  for (int i = 0; i < 100; ++i)
    x[size_t(i)] = i + 1;
  auto y = output<int32_t>({100});
  program.consts(64)(stream, input({100}, x), y.tensor());
  expectAll(y.result(), [&](int64_t i) {
    int steps = 0;
    for (int64_t n = i + 1; n > 1; ++steps)
      n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    return steps;
  });
}

TEST_P(ConformanceControlFlow, NestedWhileWithCarriedTiles) {
  static const auto program =
      kernel("nested_while", [](Out<i32, 1> y, Scalar<i32> rounds, Const B) {
        auto outer = var(0), total = var(index(0, {B}));
        while_([&] { return outer < rounds; },
               [&] {
                 auto inner = var(0);
                 while_([&] { return inner <= outer; },
                        [&] {
                          total = total * 3 + inner;
                          inner += 1;
                        });
                 total += outer;
                 outer += 1;
               });
        y.tile({B})(0) = total;
      });
  for (int rounds : {0, 1, 5}) {
    auto y = output<int32_t>({33});
    program.consts(64).grid(1)(stream, y.tensor(), rounds);
    expectAll(y.result(), [&](int64_t i) {
      int32_t total = int32_t(i);
      for (int outer = 0; outer < rounds; ++outer) {
        for (int inner = 0; inner <= outer; ++inner)
          total = int32_t(uint32_t(total) * 3u + uint32_t(inner));
        total += outer;
      }
      return total;
    });
  }
}

const auto numberCells = kernel("number_cells", [](Out<i32, 2> y) {
  auto count = var(0);
  for (auto row : range(10).flatten())
    for (auto column : range(10)) {
      count += 1;
      y.tile({1, 1})(row, column) = splat(count, {1, 1});
    }
});

TEST_P(ConformanceControlFlow, AFlattenedNestNumbersItsCells) {
  auto y = output<int32_t>({10, 10});
  numberCells.grid(1)(stream, y.tensor());
  expectAll(y.result(), [](int64_t i) { return i + 1; });
}

TEST_P(ConformanceControlFlow, FlattenedNestsOfAnyBoundsAndSteps) {
  static const auto program =
      kernel("flat_sums", [](Out<i32, 1> y, Scalar<i32> m, Scalar<i32> n, Scalar<i32> step) {
        auto sum = var(0), rounds = var(0);
        for (auto i : range(2, m, step).flatten())
          for (auto j : range(-1, n)) {
            sum = sum * 7 + i * 3 + j;
            rounds += 1;
          }
        y.tile({1})(0) = splat(sum, {1});
        y.tile({1})(1) = splat(rounds, {1});
      });
  for (auto [m, n, step] :
       {std::array{6, 4, 1}, {6, 4, 3}, {2, 4, 1}, {0, 3, 1}, {5, -1, 1}, {5, -7, 2}}) {
    SCOPED_TRACE(std::to_string(m) + ", " + std::to_string(n));
    uint32_t sum = 0, rounds = 0;
    for (int i = 2; i < m; i += step)
      for (int j = -1; j < n; ++j)
        sum = sum * 7 + uint32_t(i * 3 + j), ++rounds;
    auto y = output<int32_t>({2});
    program.grid(1)(stream, y.tensor(), m, n, step);
    EXPECT_EQ(y.result(), (std::vector<int32_t>{int32_t(sum), int32_t(rounds)}));
  }
}

/// Row i has i + 1 cells, written from the right, with a step that the row decides.
TEST_P(ConformanceControlFlow, DependentInnerBounds) {
  static const auto program = kernel("triangle", [](Out<i32, 2> y, Scalar<i32> n) {
    for (auto row : range(n)) {
      for (auto column : range(0, row + 1))
        y.tile({1, 1})(row, column) = splat(row * 100 + column, {1, 1});
      for (auto column : range(row + 1, n, row + 1))
        y.tile({1, 1})(row, column) = splat(-column, {1, 1});
    }
  });
  constexpr int kSize = 7;
  auto y = input<int32_t>({kSize, kSize}, std::vector<int32_t>(kSize * kSize, 999));
  program.grid(1)(stream, y, kSize);
  std::vector<int32_t> expected(kSize * kSize, 999);
  for (int row = 0; row < kSize; ++row) {
    for (int column = 0; column <= row; ++column)
      expected[size_t(row * kSize + column)] = row * 100 + column;
    for (int column = row + 1; column < kSize; column += row + 1)
      expected[size_t(row * kSize + column)] = -column;
  }
  EXPECT_EQ(y.download(), expected);
}

} // namespace
