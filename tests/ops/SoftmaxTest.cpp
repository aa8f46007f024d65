// softmax: rows of every length round its tiles, both methods, dtypes, strides, special values.
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Arithmetic.h>
#include <tile/ops/Softmax.h>

using namespace tile;
using namespace tile::test;

namespace {

/// What Softmax.h says of a matrix, in f64.
struct Reference {
  int64_t columns;
  std::vector<double> x, largest, sum;

  template <class X>
  Reference(int64_t rows, int64_t columns, const std::vector<X> &values)
      : columns(columns), largest(size_t(rows), -INFINITY), sum(size_t(rows), 0) {
    for (const X &value : values)
      x.push_back(exact(value));
    for (size_t i = 0; i < x.size(); ++i)
      largest[row(i)] = std::fmax(largest[row(i)], x[i]);
    for (size_t i = 0; i < x.size(); ++i)
      sum[row(i)] += std::exp(x[i] - largest[row(i)]);
  }
  size_t row(size_t i) const { return i / size_t(columns); }
  double softmax(int64_t i) const {
    return std::exp(x[size_t(i)] - largest[row(size_t(i))]) / sum[row(size_t(i))];
  }
  double logSoftmax(int64_t i) const {
    return x[size_t(i)] - largest[row(size_t(i))] - std::log(sum[row(size_t(i))]);
  }
};

class SoftmaxOp : public OnDevice {
protected:
  template <class X, class Y>
  void check(int64_t rows, int64_t columns, const std::vector<X> &x, Within within,
             Within withinLog = {8, 4e-6}) {
    SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(columns));
    Reference reference(rows, columns, x);
    auto y = output<Y>({rows, columns}, 5), logs = output<Y>({rows, columns}, 3);
    auto in = input({rows, columns}, x);
    ops::softmax(stream, in, y.tensor());
    ops::logSoftmax(stream, in, logs.tensor());
    expectAll(
        y.result(), [&](int64_t i) { return reference.softmax(i); }, within);
    expectAll(
        logs.result(), [&](int64_t i) { return reference.logSoftmax(i); }, withinLog);
  }

  /// Both gradients from y as memory holds it.
  template <class T> void checkBackward(int64_t rows, int64_t columns, Within within) {
    SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(columns));
    auto dy = uniform<T>(rows * columns, -1, 1, 5), y = uniform<T>(rows * columns, 0, 1, 6);
    auto dyIn = input({rows, columns}, dy), yIn = input({rows, columns}, y);
    std::vector<double> sums(size_t(rows), 0), products(size_t(rows), 0);
    for (size_t i = 0; i < y.size(); ++i)
      sums[i / size_t(columns)] += exact(dy[i]),
          products[i / size_t(columns)] += exact(dy[i]) * exact(y[i]);
    auto dx = output<T>({rows, columns}, 5), dxOfLog = output<T>({rows, columns}, 3);
    ops::softmaxBackward(stream, dyIn, yIn, dx.tensor());
    ops::logSoftmaxBackward(stream, dyIn, yIn, dxOfLog.tensor());
    auto slope = [&](int64_t i) { return exact(dy[size_t(i)]); };
    auto result = [&](int64_t i) { return exact(y[size_t(i)]); };
    expectAll(
        dx.result(),
        [&](int64_t i) { return result(i) * (slope(i) - products[size_t(i / columns)]); }, within);
    expectAll(
        dxOfLog.result(),
        [&](int64_t i) { return slope(i) - std::exp(result(i)) * sums[size_t(i / columns)]; },
        within);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, SoftmaxOp, ::testing::ValuesIn(deviceNames(Targets::One)),
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
    check<half, half>(5, columns, uniform<half>(5 * columns, -10, 10), {0.6, 1e-7}, {0.6, 4e-6});
    check<bfloat16, bfloat16>(5, columns, uniform<bfloat16>(5 * columns, -10, 10), {0.6, 1e-9},
                              {0.6, 4e-6});
    check<half, float>(5, columns, uniform<half>(5 * columns, -10, 10), {32, 1e-9});
    check<float, half>(5, columns, uniform<float>(5 * columns, -10, 10), {0.6, 1e-7}, {0.6, 4e-6});
    check<double, double>(5, columns, uniform<double>(5 * columns, -10, 10), {128, 1e-18},
                          {16, 1e-15});
    check<float, double>(5, columns, uniform<float>(5 * columns, -10, 10), {128, 1e-18},
                         {16, 1e-15});
  }
}

TEST_P(SoftmaxOp, GradientsOfRowsOfEveryLength) {
  for (int64_t columns : {1, 7, 32, 127, 1000, 3000, 8192, 8193, 20011})
    checkBackward<float>(5, columns, {16, 1e-5 * std::sqrt(double(columns))});
  checkBackward<float>(257, 20, {16, 1e-5});
}

TEST_P(SoftmaxOp, GradientsOfDtypes) {
  for (int64_t columns : {100, 9001}) {
    double slack = 1e-5 * std::sqrt(double(columns));
    checkBackward<half>(3, columns, {0.6, slack});
    checkBackward<bfloat16>(3, columns, {0.6, slack});
    checkBackward<double>(3, columns, {32, 1e-12});
  }
}

TEST_P(SoftmaxOp, ResultsTakeThePlaceOfTheirInputs) {
  for (auto [rows, columns, dim] :
       {std::tuple<int64_t, int64_t, int>{6, 3, -1}, {6, 1000, -1}, {6, 9000, -1}, {2000, 9, 0}}) {
    SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(columns));
    auto x = uniform<half>(rows * columns, -9, 9);
    auto in = input({rows, columns}, x), again = input({rows, columns}, x);
    auto apart = TensorOf<half>(ops::softmax(stream, in, dim)).download();
    auto logs = TensorOf<half>(ops::logSoftmax(stream, in, dim)).download();
    ops::softmax(stream, in, in, dim), ops::logSoftmax(stream, again, again, dim);
    auto inPlace = in.download(), logsInPlace = again.download();
    for (size_t i = 0; i < apart.size(); ++i) {
      ASSERT_EQ(inPlace[i].bits, apart[i].bits) << i;
      ASSERT_EQ(logsInPlace[i].bits, logs[i].bits) << i;
    }
  }
}

TEST_P(SoftmaxOp, GradientsTakeThePlaceOfTheirInputs) {
  for (int64_t columns : {3, 40, 1000, 9000}) {
    SCOPED_TRACE(columns);
    auto dy = uniform<half>(6 * columns, -1, 1, 5), y = uniform<half>(6 * columns, 0, 1, 6);
    auto yIn = input({6, columns}, y), dyIn = input({6, columns}, dy);
    auto apart = TensorOf<half>(ops::softmaxBackward(stream, dyIn, yIn)).download();
    auto onY = input({6, columns}, y), onDy = input({6, columns}, dy);
    ops::softmaxBackward(stream, dyIn, onY, onY);
    ops::softmaxBackward(stream, onDy, yIn, onDy);
    auto inY = onY.download(), inDy = onDy.download();
    for (size_t i = 0; i < apart.size(); ++i) {
      ASSERT_EQ(inY[i].bits, apart[i].bits) << i;
      ASSERT_EQ(inDy[i].bits, apart[i].bits) << i;
    }
  }
}

TEST_P(SoftmaxOp, LongColumnsAreSwept) {
  constexpr int64_t kRows = 40, kLength = 3001;
  auto x = uniform<float>(kRows * kLength, -10, 10), dy = uniform<float>(kRows * kLength, -1, 1, 2);
  x[5] = NAN, x[size_t(kLength + 3)] = -INFINITY;
  auto memory = input({kLength, kRows}, std::vector<float>(size_t(kRows * kLength)));
  ops::copy(stream, input({kRows, kLength}, x).T(), memory);
  auto y = output<float>({kLength, kRows}, 2), dx = output<float>({kLength, kRows}, 1);
  ops::softmax(stream, memory, y.tensor(), 0);
  Reference reference(kRows, kLength, x);
  auto inRows = [&](int64_t i) { return i % kRows * kLength + i / kRows; };
  expectAll(y.result(), [&](int64_t i) { return reference.softmax(inRows(i)); }, {64, 1e-9});
  ops::softmaxBackward(stream, input({kLength, kRows}, dy), y.tensor(), dx.tensor(), 0);
  auto result = y.result();
  std::vector<double> products(kRows, 0);
  for (size_t i = 0; i < dy.size(); ++i)
    products[i % kRows] += double(dy[i]) * result[i];
  expectAll(
      dx.result(),
      [&](int64_t i) { return result[size_t(i)] * (dy[size_t(i)] - products[size_t(i % kRows)]); },
      {64, 1e-7});
}

TEST_P(SoftmaxOp, AlongAnyDimension) {
  int64_t extents[] = {6, 50, 7};
  auto x = uniform<float>(6 * 50 * 7, -5, 5), dy = uniform<float>(6 * 50 * 7, -1, 1, 3);
  auto in = input({6, 50, 7}, x), slope = input({6, 50, 7}, dy);
  int64_t strides[] = {350, 7, 1};
  for (int dim : {0, 1, 2, -2, -3}) {
    SCOPED_TRACE(dim);
    int at = dim < 0 ? dim + 3 : dim;
    auto y = output<float>({6, 50, 7}, 2), dx = output<float>({6, 50, 7}, 2);
    ops::softmax(stream, in, y.tensor(), dim);
    ops::softmaxBackward(stream, slope, y.tensor(), dx.tensor(), dim);
    auto alongRow = [&](int64_t i, auto term) {
      int64_t first = i - i / strides[at] % extents[at] * strides[at];
      double sum = 0;
      for (int64_t k = 0; k < extents[at]; ++k)
        sum += term(size_t(first + k * strides[at]));
      return sum;
    };
    auto softmaxAt = [&](int64_t i) {
      return std::exp(double(x[size_t(i)])) /
             alongRow(i, [&](size_t k) { return std::exp(double(x[k])); });
    };
    expectAll(y.result(), softmaxAt, {32, 1e-9});
    expectAll(dx.result(),
              [&](int64_t i) {
                double products =
                    alongRow(i, [&](size_t k) { return dy[k] * softmaxAt(int64_t(k)); });
                return softmaxAt(i) * (dy[size_t(i)] - products);
              },
              {32, 1e-6});
    auto logs = TensorOf<float>(ops::logSoftmax(stream, in, dim)).download();
    expectAll(logs, [&](int64_t i) { return std::log(softmaxAt(i)); }, {8, 4e-6});
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
  expectRefused(ErrorCode::Aliasing, "y overlaps x", [&] {
    auto rows = device().tensor<float>({5, 8});
    ops::softmax(stream, rows.slice(0, 0, 4), rows.slice(0, 1, 4));
  });
  auto integers = device().tensor<int32_t>({4, 8});
  expectRefused(ErrorCode::InvalidArgument, "x is i32 4x8; supported dtypes: f16, bf16, f32",
                [&] { ops::softmax(stream, integers, x); });
  expectRefused(ErrorCode::InvalidArgument,
                "logSoftmax: dim is 2, but x is f32 4x8: it must be in -2 .. 1",
                [&] { ops::logSoftmax(stream, x, 2); });
  expectRefused(ErrorCode::InvalidShape,
                "softmax: x is f32 scalar; it needs at least one dimension",
                [&] { ops::softmax(stream, device().tensor<float>({})); });
  expectRefused(ErrorCode::InvalidShape, "softmaxBackward: dy is f32 4x9, but y is f32 4x8",
                [&] { ops::softmaxBackward(stream, y, x); });
  expectRefused(ErrorCode::Aliasing, "logSoftmaxBackward: dx overlaps dy", [&] {
    auto rows = device().tensor<float>({5, 8});
    ops::logSoftmaxBackward(stream, rows.slice(0, 1, 4), x, rows.slice(0, 0, 4));
  });
}

} // namespace
