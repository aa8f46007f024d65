// softmax: rows of every length round its tiles, both methods, dtypes, strides, special values.
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Softmax.h>

using namespace tile;
using namespace tile::test;

namespace {

class SoftmaxOp : public OnDevice {
protected:
  template <class X, class Y>
  void check(int64_t rows, int64_t columns, const std::vector<X> &x, Within within) {
    SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(columns));
    auto y = output<Y>({rows, columns}, 5);
    ops::softmax(stream, input({rows, columns}, x), y.tensor());
    std::vector<double> m(size_t(rows), -INFINITY), sum(size_t(rows), 0);
    for (int64_t i = 0; i < rows * columns; ++i)
      m[size_t(i / columns)] = std::fmax(m[size_t(i / columns)], exact(x[size_t(i)]));
    for (int64_t i = 0; i < rows * columns; ++i)
      sum[size_t(i / columns)] += std::exp(exact(x[size_t(i)]) - m[size_t(i / columns)]);
    expectAll(
        y.result(),
        [&](int64_t i) {
          return std::exp(exact(x[size_t(i)]) - m[size_t(i / columns)]) / sum[size_t(i / columns)];
        },
        within);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, SoftmaxOp, ::testing::ValuesIn(deviceNames()),
                         [](const auto &run) { return testName(run.param); });

TEST_P(SoftmaxOp, RowsOfEveryLength) {
  for (int64_t columns : {1, 2, 7, 31, 32, 33, 127, 1000, 1025, 3000, 8191, 8192, 8193, 20011})
    for (int64_t rows : {1, 13})
      check<float, float>(rows, columns, uniform<float>(rows * columns, -10, 10), {32, 1e-9});
}

TEST_P(SoftmaxOp, ManyShortRowsShareAProgram) {
  for (int64_t rows : {31, 32, 33, 257})
    check<float, float>(rows, 20, uniform<float>(rows * 20, -10, 10), {32, 1e-9});
}

TEST_P(SoftmaxOp, Dtypes) {
  for (int64_t columns : {100, 9001}) {
    check<half, half>(5, columns, uniform<half>(5 * columns, -10, 10), {0.6, 1e-7});
    check<bfloat16, bfloat16>(5, columns, uniform<bfloat16>(5 * columns, -10, 10), {0.6, 1e-9});
    check<half, float>(5, columns, uniform<half>(5 * columns, -10, 10), {32, 1e-9});
    check<float, half>(5, columns, uniform<float>(5 * columns, -10, 10), {0.6, 1e-7});
  }
}

TEST_P(SoftmaxOp, SpecialValues) {
  for (int64_t columns : {50, 9000}) {
    std::vector<float> x = uniform<float>(6 * columns, -5, 5);
    auto row = [&](int64_t r) { return x.begin() + r * columns; };
    std::fill(row(0), row(1), -INFINITY); // nothing to choose from: NaN
    std::fill(row(1), row(1) + columns / 2, -INFINITY);
    row(2)[7] = NAN;
    row(3)[columns - 1] = INFINITY;
    std::fill(row(4), row(5), 3e38f); // large, but equal
    std::fill(row(5), row(6), -3e38f), row(5)[3] = 0;
    check<float, float>(6, columns, x, {32, 1e-9});
  }
}

TEST_P(SoftmaxOp, RanksStridesAndEmpty) {
  std::vector<float> x = uniform<float>(600, -5, 5);
  auto reference = [&](int64_t from, int64_t step, int64_t count, int64_t i) {
    double sum = 0;
    for (int64_t k = 0; k < count; ++k)
      sum += std::exp(double(x[size_t(from + k * step)]));
    return std::exp(double(x[size_t(from + i * step)])) / sum;
  };
  auto vector = output<float>({300});
  ops::softmax(stream, input({600}, x).withStrides({300}, {2}), vector.tensor());
  expectAll(vector.result(), [&](int64_t i) { return reference(0, 2, 300, i); }, {32, 1e-9});
  auto transposed = output<float>({30, 20}, 2);
  ops::softmax(stream, input({20, 30}, x).T(), transposed.tensor());
  expectAll(transposed.result(), [&](int64_t i) { return reference(i / 20, 30, 20, i % 20); },
            {32, 1e-9});
  auto cube = output<float>({2, 10, 30});
  ops::softmax(stream, input({2, 10, 30}, x), cube.tensor());
  expectAll(cube.result(), [&](int64_t i) { return reference(i / 30 * 30, 1, 30, i % 30); },
            {32, 1e-9});
  auto permuted = output<float>({10, 2, 30});
  ops::softmax(stream, input({2, 10, 30}, x).permute({1, 0, 2}), permuted.tensor());
  expectAll(permuted.result(),
            [&](int64_t i) {
              int64_t row = i / 60 + i / 30 % 2 * 10;
              return reference(row * 30, 1, 30, i % 30);
            },
            {32, 1e-9});
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>(0, 4), {4, 0}}) {
    auto none = device().tensor<float>({rows, columns});
    ops::softmax(stream, none, device().tensor<float>({rows, columns}));
  }
}

TEST_P(SoftmaxOp, Refusals) {
  auto x = device().tensor<float>({4, 8}), y = device().tensor<float>({4, 9});
  expectRefused(ErrorCode::InvalidShape, "softmax: x is f32 4x8, but y is f32 4x9",
                [&] { ops::softmax(stream, x, y); });
  expectRefused(ErrorCode::Aliasing, "y overlaps x", [&] { ops::softmax(stream, x, x); });
  auto integers = device().tensor<int32_t>({4, 8});
  expectRefused(ErrorCode::InvalidArgument, "x is i32 4x8; supported dtypes: f16, bf16, f32",
                [&] { ops::softmax(stream, integers, x); });
}

} // namespace
