// layernorm, rmsnorm and their gradients: rows of every length round the tiles, both methods, dtypes, strides, special
// values, refusals.
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Norm.h>

#include <numeric>

using namespace tile;
using namespace tile::test;
using ops::Operand;

namespace {

constexpr double kEpsilon = 1e-3;

using Numbers = std::vector<double>;
template <class T> Numbers exactly(const std::vector<T> &values) {
  Numbers result;
  for (const T &value : values)
    result.push_back(exact(value));
  return result;
}

/// What the formulas of Norm.h say, in f64.
struct Reference {
  bool centred;
  int64_t rows, columns;
  Numbers x, weight, bias;
  Numbers mean, rstd, y;

  Reference(bool centred, int64_t rows, int64_t columns, Numbers values, Numbers w = {},
            Numbers b = {})
      : centred(centred), rows(rows), columns(columns), x(std::move(values)), weight(std::move(w)),
        bias(std::move(b)) {
    weight.resize(size_t(columns), weight.empty() ? 1.0 : 0.0);
    bias.resize(size_t(columns), 0.0);
    for (int64_t r = 0; r < rows; ++r) {
      const double *row = &x[size_t(r * columns)];
      double sum = std::accumulate(row, row + columns, 0.0), squares = 0;
      mean.push_back(centred ? sum / double(columns) : 0.0);
      for (int64_t j = 0; j < columns; ++j)
        squares += (row[j] - mean.back()) * (row[j] - mean.back());
      rstd.push_back(1 / std::sqrt(squares / double(columns) + kEpsilon));
      for (int64_t j = 0; j < columns; ++j)
        y.push_back((row[j] - mean.back()) * rstd.back() * weight[size_t(j)] + bias[size_t(j)]);
    }
  }

  struct Gradients {
    Numbers dx, dweight, dbias;
  };
  Gradients gradients(const Numbers &dy) const {
    Gradients result = {{}, Numbers(size_t(columns)), Numbers(size_t(columns))};
    for (int64_t r = 0; r < rows; ++r) {
      double sumG = 0, sumGH = 0;
      auto at = [&](int64_t j) { return size_t(r * columns + j); };
      auto h = [&](int64_t j) { return (x[at(j)] - mean[size_t(r)]) * rstd[size_t(r)]; };
      auto g = [&](int64_t j) { return dy[at(j)] * weight[size_t(j)]; };
      for (int64_t j = 0; j < columns; ++j) {
        sumG += g(j), sumGH += g(j) * h(j);
        result.dweight[size_t(j)] += dy[at(j)] * h(j), result.dbias[size_t(j)] += dy[at(j)];
      }
      for (int64_t j = 0; j < columns; ++j)
        result.dx.push_back(rstd[size_t(r)] * (g(j) - (centred ? sumG / double(columns) : 0) -
                                               h(j) * sumGH / double(columns)));
    }
    return result;
  }
};

class NormOp : public OnDevice {
protected:
  /// Extents of outputs a test does not look at fit by construction; an empty vector leaves an argument out.
  template <class T> Operand optional(const std::vector<T> &values) {
    if (values.empty())
      return {};
    kept.push_back(input({int64_t(values.size())}, values));
    return kept.back();
  }

  template <class X, class Y, class W = float>
  void check(bool centred, int64_t rows, int64_t columns, const std::vector<X> &x,
             const std::vector<W> &weight, const std::vector<W> &bias, Within within) {
    SCOPED_TRACE((centred ? "layernorm " : "rmsnorm ") + std::to_string(rows) + "x" +
                 std::to_string(columns));
    Reference reference(centred, rows, columns, exactly(x), exactly(weight), exactly(bias));
    auto y = output<Y>({rows, columns}, 5);
    auto mean = output<float>({rows}), rstd = output<float>({rows});
    auto in = input({rows, columns}, x);
    if (centred)
      ops::layernorm(stream, in, optional(weight), optional(bias), kEpsilon, y.tensor(),
                     mean.tensor(), rstd.tensor());
    else
      ops::rmsnorm(stream, in, optional(weight), kEpsilon, y.tensor(), rstd.tensor());
    expectAll(
        y.result(), [&](int64_t i) { return reference.y[size_t(i)]; }, within);
    expectAll(rstd.result(), [&](int64_t i) { return reference.rstd[size_t(i)]; }, {32, 0});
    if (centred)
      expectAll(mean.result(), [&](int64_t i) { return reference.mean[size_t(i)]; }, {8, 1e-6});
  }

  template <class X, class W = float>
  void checkBackward(bool centred, int64_t rows, int64_t columns, bool hasWeight,
                     Within within = {16, 2e-5}) {
    SCOPED_TRACE((centred ? "layernorm " : "rmsnorm ") + std::to_string(rows) + "x" +
                 std::to_string(columns));
    auto x = uniform<X>(rows * columns, -2, 3), dy = uniform<X>(rows * columns, -1, 1, 7);
    auto weight = hasWeight ? uniform<W>(columns, 0.5, 2, 3) : std::vector<W>();
    Reference reference(centred, rows, columns, exactly(x), exactly(weight));
    auto expected = reference.gradients(exactly(dy));
    std::vector<float> mean(reference.mean.begin(), reference.mean.end()),
        rstd(reference.rstd.begin(), reference.rstd.end());
    auto dx = output<X>({rows, columns}, 3);
    auto dweight = output<W>({columns}), dbias = output<W>({columns});
    auto dyIn = input({rows, columns}, dy), xIn = input({rows, columns}, x);
    if (centred)
      ops::layernormBackward(stream, dyIn, xIn, optional(weight), input({rows}, mean),
                             input({rows}, rstd), dx.tensor(), dweight.tensor(), dbias.tensor());
    else
      ops::rmsnormBackward(stream, dyIn, xIn, optional(weight), input({rows}, rstd), dx.tensor(),
                           dweight.tensor());
    expectAll(
        dx.result(), [&](int64_t i) { return expected.dx[size_t(i)]; }, within);
    Within sums = {within.ulps, within.absolute * double(rows)};
    expectAll(
        dweight.result(), [&](int64_t i) { return expected.dweight[size_t(i)]; }, sums);
    if (centred)
      expectAll(
          dbias.result(), [&](int64_t i) { return expected.dbias[size_t(i)]; }, sums);
  }

  std::vector<Tensor> kept;
};
INSTANTIATE_TEST_SUITE_P(Devices, NormOp, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

const std::vector<float> kNone;

TEST_P(NormOp, RowsOfEveryLength) {
  for (int64_t columns : {1, 2, 7, 31, 32, 33, 127, 1000, 1025, 3000, 8191, 8192, 8193, 20011})
    for (bool centred : {true, false})
      check<float, float>(centred, 3, columns, uniform<float>(3 * columns, -1, 3),
                          uniform<float>(columns, 0.5, 2), uniform<float>(centred ? columns : 0),
                          {16, 1e-5});
}

TEST_P(NormOp, ManyRowsShareAProgram) {
  for (int64_t rows : {31, 32, 33, 257})
    check<float, float>(true, rows, 20, uniform<float>(rows * 20), uniform<float>(20),
                        uniform<float>(20), {16, 1e-5});
  // More tiles of rows than programs.
  check<float, float>(true, 33000, 32, uniform<float>(33000 * 32), uniform<float>(32),
                      uniform<float>(32), {16, 1e-5});
}

TEST_P(NormOp, WithoutWeightAndBias) {
  for (int64_t columns : {100, 9001})
    for (bool centred : {true, false}) {
      auto x = uniform<float>(4 * columns, -1, 3);
      check<float, float>(centred, 4, columns, x, kNone, kNone, {16, 1e-5});
      if (centred)
        check<float, float>(centred, 4, columns, x, kNone, uniform<float>(columns), {16, 1e-5});
    }
}

TEST_P(NormOp, Dtypes) {
  for (int64_t columns : {100, 9001}) {
    auto w = uniform<float>(columns, 0.5, 2);
    check<half, half>(true, 3, columns, uniform<half>(3 * columns), w, w, {0.6, 1e-4});
    check<bfloat16, bfloat16>(false, 3, columns, uniform<bfloat16>(3 * columns), w, kNone,
                              {0.6, 1e-4});
    check<half, float, half>(true, 3, columns, uniform<half>(3 * columns),
                             uniform<half>(columns, 0.5, 2), uniform<half>(columns), {16, 1e-5});
    check<float, bfloat16, bfloat16>(true, 3, columns, uniform<float>(3 * columns),
                                     uniform<bfloat16>(columns, 0.5, 2), {}, {0.6, 1e-4});
  }
}

TEST_P(NormOp, ALargeMeanCostsNoDigits) {
  // For numbers near 4096 the mean of squares in f32 has no digit left for a variance of 1e-2.
  for (int64_t columns : {1000, 20000}) {
    auto x = uniform<float>(2 * columns, 4095.8, 4096.2);
    Reference reference(true, 2, columns, exactly(x));
    auto y = output<float>({2, columns});
    ops::layernorm(stream, input({2, columns}, x), {}, {}, kEpsilon, y.tensor());
    expectAll(y.result(), [&](int64_t i) { return reference.y[size_t(i)]; }, {0, 5e-3});
  }
}

TEST_P(NormOp, SpecialValues) {
  for (int64_t columns : {50, 9000}) {
    auto x = uniform<float>(4 * columns, -5, 5);
    x[3] = NAN, x[size_t(columns + 7)] = INFINITY;
    std::fill(x.begin() + 2 * columns, x.begin() + 3 * columns, 0.0f);
    auto y = ops::layernorm(stream, input({4, columns}, x), {}, {}, kEpsilon);
    auto values = TensorOf<float>(y).download();
    Reference reference(true, 4, columns, exactly(x));
    for (int64_t i = 0; i < 4 * columns; ++i)
      expectNear<float>(values[size_t(i)], i < 2 * columns ? NAN : reference.y[size_t(i)],
                        {16, 1e-5}, [&] { return "element " + std::to_string(i); });
    values = TensorOf<float>(ops::rmsnorm(stream, input({4, columns}, x), {}, kEpsilon)).download();
    EXPECT_TRUE(std::isnan(values[0])) << "beside a NaN";
    EXPECT_TRUE(std::isnan(values[size_t(columns + 7)])) << "the infinity";
    EXPECT_EQ(values[size_t(columns)], 0) << "beside an infinity";
    EXPECT_EQ(values[size_t(2 * columns)], 0) << "of zeros";
  }
}

TEST_P(NormOp, RanksStridesAndEmpty) {
  auto x = uniform<float>(600);
  auto w = uniform<float>(60);
  auto weight = input({60}, w).withStrides({20}, {3});
  Numbers strided;
  for (int64_t j = 0; j < 20; ++j)
    strided.push_back(w[size_t(3 * j)]);
  auto compare = [&](const auto &y, const Numbers &values) {
    Reference reference(true, 30, 20, values, strided);
    expectAll(y.result(), [&](int64_t i) { return reference.y[size_t(i)]; }, {16, 1e-5});
  };
  Numbers transposed;
  for (int64_t i = 0; i < 600; ++i)
    transposed.push_back(x[size_t(i % 20 * 30 + i / 20)]);
  auto matrix = output<float>({30, 20}, 2);
  ops::layernorm(stream, input({20, 30}, x).T(), weight, {}, kEpsilon, matrix.tensor());
  compare(matrix, transposed);
  // Leading dimensions that do not merge, of x, y and the statistics.
  auto cube = output<float>({5, 6, 20});
  auto mean = output<float>({5, 6});
  ops::layernorm(stream, input({20, 5, 6}, x).permute({1, 2, 0}), weight, {}, kEpsilon,
                 cube.tensor(), mean.tensor());
  compare(cube, transposed);
  auto exchanged = output<float>({5, 6, 20});
  auto meanExchanged = output<float>({5, 6});
  ops::layernorm(stream, input({5, 6, 20}, x).permute({1, 0, 2}), weight, {}, kEpsilon,
                 exchanged.tensor().permute({1, 0, 2}), meanExchanged.tensor().permute({1, 0}));
  compare(exchanged, exactly(x));
  Reference plain(true, 30, 20, exactly(x));
  expectAll(meanExchanged.result(), [&](int64_t i) { return plain.mean[size_t(i)]; }, {8, 1e-6});
  auto vector = output<float>({600});
  ops::rmsnorm(stream, input({600}, x), {}, kEpsilon, vector.tensor());
  Reference row(false, 1, 600, exactly(x));
  expectAll(vector.result(), [&](int64_t i) { return row.y[size_t(i)]; }, {16, 1e-5});
  ops::layernorm(stream, device().tensor<float>({0, 4}));
  auto none = output<float>({3});
  ops::layernorm(stream, device().tensor<float>({3, 0}), {}, {}, kEpsilon,
                 device().tensor<float>({3, 0}), none.tensor());
  expectAll(none.result(), [](int64_t) { return NAN; });
}

TEST_P(NormOp, Gradients) {
  for (int64_t columns : {1, 7, 33, 1000, 1025, 5000, 8192, 8193, 20011})
    for (bool centred : {true, false})
      checkBackward<float>(centred, 5, columns, true);
}

TEST_P(NormOp, GradientsOfManyRows) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>(600, 40), {9000, 16}, {300, 1000}}) {
    checkBackward<float>(true, rows, columns, true);
    checkBackward<float>(false, rows, columns, false);
  }
  checkBackward<float>(true, 270, 8200, true); // partial sums of long rows too
}

TEST_P(NormOp, GradientsOfDtypes) {
  for (int64_t columns : {100, 9001}) {
    checkBackward<half, float>(true, 4, columns, true, {1, 5e-4});
    checkBackward<bfloat16, bfloat16>(false, 4, columns, true, {1, 5e-4});
    checkBackward<half, half>(true, 4, columns, false, {1, 5e-4});
  }
}

TEST_P(NormOp, GradientsOverNoRowsAreZero) {
  auto dweight = output<float>({4}), dbias = output<float>({4});
  auto none = device().tensor<float>({0, 4}), statistics = device().tensor<float>({0});
  ops::layernormBackward(stream, none, none, {}, statistics, statistics,
                         device().tensor<float>({0, 4}), dweight.tensor(), dbias.tensor());
  expectAll(dweight.result(), [](int64_t) { return 0.0; });
  expectAll(dbias.result(), [](int64_t) { return 0.0; });
}

TEST_P(NormOp, GradientsOfOnlyTheInput) {
  auto x = uniform<float>(6 * 50), dy = uniform<float>(6 * 50, -1, 1, 7);
  Reference reference(true, 2, 150, exactly(x));
  auto expected = reference.gradients(exactly(dy));
  auto dx = output<float>({2, 150});
  auto stats = [&](const Numbers &list) {
    return input({2}, std::vector<float>(list.begin(), list.end()));
  };
  ops::layernormBackward(stream, input({2, 150}, dy), input({2, 150}, x), {}, stats(reference.mean),
                         stats(reference.rstd), dx.tensor());
  expectAll(dx.result(), [&](int64_t i) { return expected.dx[size_t(i)]; }, {16, 2e-5});
}

TEST_P(NormOp, OfASum) {
  for (int64_t columns : {20, 3000, 9001})
    for (bool centred : {true, false}) {
      SCOPED_TRACE(columns);
      int64_t rows = 5;
      auto x = uniform<half>(rows * columns), r = uniform<half>(rows * columns, -1, 3, 9);
      auto w = uniform<float>(columns, 0.5, 2);
      Numbers sums;
      for (size_t i = 0; i < x.size(); ++i)
        sums.push_back(roundedTo<half>(exact(x[i]) + exact(r[i])));
      Reference reference(centred, rows, columns, sums, exactly(w));
      // In place of x, of the residual, or apart.
      for (int place : {0, 1, 2}) {
        auto sum = output<half>({rows, columns}, 8), other = output<half>({rows, columns}, 8);
        auto y = output<float>({rows, columns});
        auto rstd = output<float>({rows});
        Tensor first = input({rows, columns}, x), second = input({rows, columns}, r);
        if (place == 1)
          sum.tensor().upload(x), first = sum.tensor();
        if (place == 2)
          sum.tensor().upload(r), second = sum.tensor();
        if (centred)
          ops::addLayernorm(stream, first, second, optional(w), {}, kEpsilon, sum.tensor(),
                            y.tensor(), {}, rstd.tensor());
        else
          ops::addRmsnorm(stream, first, second, optional(w), kEpsilon, sum.tensor(), y.tensor(),
                          rstd.tensor());
        expectAll(sum.result(), [&](int64_t i) { return sums[size_t(i)]; });
        expectAll(y.result(), [&](int64_t i) { return reference.y[size_t(i)]; }, {16, 1e-5});
        expectAll(rstd.result(), [&](int64_t i) { return reference.rstd[size_t(i)]; }, {32, 0});
      }
    }
}

TEST_P(NormOp, SameBitsTwice) {
  auto x = input({700, 300}, uniform<float>(210000)),
       dy = input({700, 300}, uniform<float>(210000));
  auto statistics = input({700}, uniform<float>(700, 0.5, 1));
  auto bits = [&] {
    auto dx = device().tensor<float>({700, 300}), dweight = device().tensor<float>({300});
    ops::layernormBackward(stream, dy, x, {}, statistics, statistics, dx, dweight);
    auto all = dx.download(), sums = dweight.download();
    all.insert(all.end(), sums.begin(), sums.end());
    return all;
  };
  EXPECT_EQ(bits(), bits());
}

TEST_P(NormOp, Refusals) {
  auto x = device().tensor<float>({4, 8}), y = device().tensor<float>({4, 8});
  auto columns = device().tensor<float>({8}), rows = device().tensor<float>({4});
  expectRefused(
      ErrorCode::InvalidShape,
      "layernorm: weight.extent(0) is 4, but x.extent(1) is 8 (weight is f32 4, x is f32 4x8)",
      [&] { ops::layernorm(stream, x, rows, {}, 1e-5, y); });
  expectRefused(
      ErrorCode::InvalidShape,
      "rmsnorm: rstd is f32 8, but x is f32 4x8: rstd needs the extents of x without the last",
      [&] { ops::rmsnorm(stream, x, {}, 1e-5, y, columns); });
  expectRefused(ErrorCode::InvalidArgument, "epsilon is -1.000000: it must be 0 or more",
                [&] { ops::layernorm(stream, x, {}, {}, -1, y); });
  expectRefused(ErrorCode::Aliasing, "y overlaps x",
                [&] { ops::layernorm(stream, x, {}, {}, 1e-5, x); });
  expectRefused(ErrorCode::Aliasing, "rstd overlaps mean",
                [&] { ops::layernorm(stream, x, {}, {}, 1e-5, y, rows, rows); });
  expectRefused(ErrorCode::InvalidArgument, "mean is f16 4; supported dtypes: f32",
                [&] { ops::layernorm(stream, x, {}, {}, 1e-5, y, device().tensor<half>({4})); });
  expectRefused(ErrorCode::InvalidShape, "addLayernorm: x is f32 4x8, but residual is f32 8", [&] {
    ops::addLayernorm(stream, x, columns, {}, {}, 1e-5, y, device().tensor<float>({4, 8}));
  });
  expectRefused(ErrorCode::InvalidShape, "layernormBackward: x is f32 4x8, but dy is f32 8",
                [&] { ops::layernormBackward(stream, columns, x, {}, rows, rows, y); });
  expectRefused(ErrorCode::InvalidArgument, "mean is ",
                [&] { ops::layernormBackward(stream, x, x, {}, {}, rows, y); });
  expectRefused(ErrorCode::Aliasing, "dx overlaps dy",
                [&] { ops::layernormBackward(stream, y, x, {}, rows, rows, y); });
}

} // namespace
