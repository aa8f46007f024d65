// map: functions of one's own, numbers, positions, several outputs, every way to fold dimensions, refusals.
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Map.h>
#include <tile/ops/Matmul.h>

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Map, Targets::One);

TEST_P(Map, NumbersMayChangeFromCallToCall) {
  auto x = uniform<float>(100);
  auto y = output<float>({100});
  for (auto [factor, offset] : {std::pair(2.0f, 1), {-0.5f, 7}}) {
    ops::map(
        stream, [](Value x, Value a, Value b) { return x * a + cast(f32, b); }, y.tensor(),
        input({100}, x), factor, offset);
    expectAll(y.result(), [&](int64_t i) { return x[size_t(i)] * factor + offset; }, {1});
  }
}

TEST_P(Map, NumbersKeepTheirPrecisionForDoubles) {
  auto y = output<double>({5});
  ops::map(
      stream, [](Value a) { return a; }, y.tensor(), 0.1);
  expectAll(y.result(), [](int64_t) { return 0.1; });
}

TEST_P(Map, PositionsAreRowMajorWhateverTheMemory) {
  auto y = output<int64_t>({6, 5, 7}, 2);
  auto number = [](Value at) { return at; };
  ops::map(stream, number, y.tensor(), ops::Position());
  expectAll(y.result(), [](int64_t i) { return i; });
  auto z = output<int32_t>({7, 30});
  ops::map(stream, number, z.tensor().T(), ops::Position());
  expectAll(z.result(), [](int64_t i) { return i % 30 * 7 + i / 30; });
}

TEST_P(Map, SeveralOutputs) {
  auto x = uniform<half>(3000), y = uniform<half>(3000, -1, 1, 2);
  auto sums = output<float>({3000});
  auto products = output<half>({3000});
  ops::map(
      stream,
      [](Value a, Value b) {
        return std::array{a + b, a * b};
      },
      ops::outputs(sums.tensor(), products.tensor()), input({3000}, x), input({3000}, y));
  expectAll(sums.result(), [&](int64_t i) { return exact(x[size_t(i)]) + exact(y[size_t(i)]); },
            {0.51});
  expectAll(products.result(), [&](int64_t i) { return exact(x[size_t(i)]) * exact(y[size_t(i)]); },
            {0.51});
}

/// An output of these extents and strides over a row of memory, the input likewise: y = x + 1.
TEST_P(Map, FoldsDimensionsThatAllTensorsWalkAlike) {
  std::vector<float> x = uniform<float>(4096);
  TensorOf<float> memory = input({4096}, x);
  struct Case {
    std::vector<int64_t> extents, yStrides, xStrides;
  };
  for (const Case &c : {Case{{8, 8, 8}, {64, 8, 1}, {64, 8, 1}},
                        {{8, 8, 8}, {1, 8, 64}, {1, 8, 64}},
                        {{8, 8, 8}, {64, 8, 1}, {1, 8, 64}},
                        {{8, 8, 8}, {8, 64, 1}, {64, 8, 1}},
                        {{4, 1, 33, 1}, {40, 7, 1, 5}, {33, 99, 1, 3}},
                        {{3, 50, 20}, {1000, 20, 1}, {0, 0, 0}},
                        {{3, 50, 20}, {1000, 20, 1}, {0, 20, 1}},
                        {{3, 50, 20}, {1000, 20, 1}, {20, 0, 1}},
                        {{2, 3, 4, 5, 6}, {720, 1, 3, 12, 60}, {360, 120, 30, 6, 1}},
                        {{2, 2, 2, 2, 2, 2, 2}, {64, 32, 16, 8, 4, 2, 1}, {64, 32, 16, 8, 4, 2, 1}},
                        {{3, 3, 3, 3, 3, 3}, {243, 81, 27, 9, 3, 1}, {1, 27, 3, 243, 9, 81}},
                        {{2, 2, 2, 2, 3, 2}, {48, 24, 12, 6, 2, 1}, {48, 24, 12, 6, 2, 1}}}) {
    SCOPED_TRACE("y strides " + ::testing::PrintToString(c.yStrides) + ", x strides " +
                 ::testing::PrintToString(c.xStrides));
    auto y = output<float>({4096});
    ops::map(
        stream, [](Value x) { return x + 1; }, y.tensor().withStrides(c.extents, c.yStrides),
        memory.withStrides(c.extents, c.xStrides));
    std::vector<float> expected(4096,
                                std::bit_cast<float>(0xA5A5A5A5)); // what the harness fills with
    std::vector<float> results = y.result();
    std::vector<int64_t> index(c.extents.size());
    for (;;) {
      int64_t from = 0, to = 0;
      for (size_t dim = 0; dim < index.size(); ++dim)
        from += index[dim] * c.xStrides[dim], to += index[dim] * c.yStrides[dim];
      expected[size_t(to)] = x[size_t(from)] + 1;
      size_t dim = index.size();
      while (dim-- > 0 && ++index[dim] == c.extents[dim])
        index[dim] = 0;
      if (dim == size_t(-1))
        break;
    }
    EXPECT_EQ(results, expected);
  }
}

TEST_P(Map, InPlaceOfFewerElementsThanThreads) {
  auto x = uniform<float>(15);
  auto y = output<float>({3, 5}, 3);
  y.tensor().upload(x);
  ops::map(
      stream, [](Value x) { return x + 1; }, y.tensor(), y.tensor());
  expectAll(y.result(), [&](int64_t i) { return x[size_t(i)] + 1; });
}

TEST_P(Map, Refusals) {
  auto f = [](Value a, Value b) { return a + b; };
  auto x = device().tensor<float>({4, 5}), row = device().tensor<float>({4});
  expectRefused(ErrorCode::InvalidShape,
                "map: x1 is f32 4, but y is f32 4x5: counted from the last",
                [&] { ops::map(stream, f, x, x, row); });
  expectRefused(ErrorCode::Aliasing, "y overlaps x1", [&] {
    auto square = device().tensor<float>({4, 4});
    ops::map(stream, f, square, 1.0f, square.T());
  });
  expectRefused(ErrorCode::Aliasing, "y overlaps y1", [&] {
    ops::map(
        stream,
        [](Value a) {
          return std::array{a, a};
        },
        ops::outputs(x, x), 1.0f);
  });
  expectRefused(ErrorCode::InvalidArgument,
                "each of its operations is of each element by itself, and tile.reduce is not", [&] {
                  ops::map(
                      stream, [](Value a) { return a / sum(a); }, x, x);
                });
  expectRefused(ErrorCode::InvalidShape, "map: the function returns a tile of 7 for tiles of ",
                [&] {
                  ops::map(
                      stream, [](Value) { return zeros(f32, {7}); }, x, x);
                });
  expectRefused(ErrorCode::InvalidArgument, "and tile.scan is not", [&] {
    ops::map(
        stream, [](Value a) { return cumsum(a, 0); }, x, x);
  });
  expectRefused(ErrorCode::InvalidArgument, "and tile.program_id is not", [&] {
    ops::map(
        stream, [](Value a) { return a + cast(f32, program_id(0)); }, x, x);
  });
  expectRefused(ErrorCode::InvalidArgument, "and tile.arange is not", [&] {
    ops::map(
        stream,
        [](Value a) {
          return a + cast(f32, reshape(arange(4), {4, 1}));
        },
        x, x);
  });
  expectRefused(ErrorCode::InvalidArgument, "matmul's epilogue: the function is called with", [&] {
    auto a = device().tensor<float>({4, 4}), c = device().tensor<float>({4, 4});
    ops::matmul(stream, a, a, c, [](Value sums) { return sums / sum(sums); });
  });
  expectRefused(ErrorCode::Unsupported, "walk 6 dimensions in different ways", [&] {
    std::vector<int64_t> extents(6, 3), one = {243, 81, 27, 9, 3, 1},
                                        other = {1, 27, 3, 243, 9, 81};
    auto a = device().tensor<float>({729}), b = device().tensor<float>({729});
    ops::map(
        stream, [](Value a, Value at) { return a + cast(f32, at); }, a.withStrides(extents, one),
        b.withStrides(extents, other), ops::Position());
  });
}

} // namespace
