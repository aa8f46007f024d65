// Kernels that ask for the values of their arguments: each value is a program of its own.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Specialized, Targets::One);

/// The number of taps is a bound of a C++ loop.
TEST_P(Specialized, UnrolledFilters) {
  static const auto filter = kernel(
      "filter", [](In<f32, 1> x, In<f32, 1> weights, Out<f32, 1> y, Scalar<u8> taps, Const B) {
        Value i = grid1d(y, {B}), sum = zeros(f32, {B});
        for (int tap = 0, n = specialize(taps); tap < n; ++tap)
          sum += x.tile({B}).offset(i * B - tap) * item(weights.tile({1})(tap));
        y.tile({B})(i) = sum;
      });
  std::vector<float> x = uniform<float>(500), weights = uniform<float>(7);
  for (int taps : {1, 3, 7, 3, 0}) {
    auto y = output<float>({500});
    filter.consts(128)(stream, input({500}, x), input({7}, weights), y.tensor(), taps);
    expectAll(y.result(),
              [&](int64_t i) {
                double sum = 0;
                for (int tap = 0; tap < taps && tap <= i; ++tap)
                  sum += double(x[size_t(i - tap)]) * weights[size_t(tap)];
                return sum;
              },
              {.absolute = 1e-5});
  }
}

/// The extent of a row is the extent of a tile: no masks, whatever it is.
TEST_P(Specialized, RowsOfAnyExtentAsOneTile) {
  static const auto softmax = kernel("rows", [](In<f32, 2> x, Out<f32, 2> y) {
    int columns = specialize(x.dim(1));
    Value row = grid1d(y, {1});
    Value numbers = x.tile({1, columns})(row, 0);
    y.tile({1, columns})(row, 0) = numbers - reduce_max(numbers, 1, {.keep_dims = true});
  });
  for (int64_t columns : {96, 80, 128, 1, 7}) {
    std::vector<float> x = uniform<float>(5 * columns);
    auto y = output<float>({5, columns}, 3);
    softmax(stream, input({5, columns}, x), y.tensor());
    expectAll(y.result(),
              [&](int64_t i) {
                auto row = x.begin() + i / columns * columns;
                return double(x[size_t(i)]) - double(*std::max_element(row, row + columns));
              },
              {.absolute = 1e-6});
  }
}

/// Scalars keep their values beside the constants made of them, in the grid too.
TEST_P(Specialized, GridsAndFloats) {
  static const auto program =
      kernel("grid", [](Out<f32, 1> y, Scalar<i32> count, Scalar<f64> scale) {
        double factor = specialize(scale);
        int size = specialize(count);
        Value i = grid1d(y, {16});
        y.tile({16})(i) = cast(f32, splat(count, {16})) * (factor == 1 ? 1 : factor) + size;
      });
  for (auto [count, scale] : {std::pair(3, 1.0), {4, 0.5}, {-3, 0.5}}) {
    auto y = output<float>({50});
    program(stream, y.tensor(), count, scale);
    expectAll(y.result(), [&](int64_t) { return count * scale + count; });
  }
}

} // namespace
