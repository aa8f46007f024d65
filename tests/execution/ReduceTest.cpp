// Reductions along each axis, of each dtype, by each function, over tiles with odd factors.
#include "tests/execution/Harness.h"

#include <functional>

using namespace tile;
using namespace tile::test;

namespace {

/// The elements of one slice along the axis, for slice `i` of the result.
template <class T>
std::vector<Exact<T>> slice(const std::vector<T> &x, int64_t rows, int64_t columns, int axis,
                            int64_t i) {
  std::vector<Exact<T>> elements;
  for (int64_t k = 0; k < (axis == 0 ? rows : columns); ++k)
    elements.push_back(exact(x[size_t(axis == 0 ? k * columns + i : i * columns + k)]));
  return elements;
}

/// y = f(x, axis) of one M x N tile, for both axes.
struct Tile {
  int m, n;
};
constexpr Tile kTiles[] = {{16, 32}, {1, 256}, {128, 1}, {96, 16}, {8, 176}, {64, 64}, {3, 5}};

class Reductions : public OnDevice {
protected:
  template <class X, class Y, class F, class Reference>
  void reduceBoth(F, Reference reference, Within within, std::vector<X> (*make)(int64_t)) {
    static const auto program = kernel("reduce", [](In<dtypeOf<X>, 2> x, Out<dtypeOf<Y>, 1> rows,
                                                    Out<dtypeOf<Y>, 1> columns, Const M, Const N) {
      Value tile = x.tile({M, N})(0, 0);
      rows.tile({M})(0) = F()(tile, 1);
      columns.tile({N})(0) = F()(tile, -2);
    });
    int warps = 1;
    for (auto [m, n] : kTiles) {
      SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + " warps " + std::to_string(warps));
      std::vector<X> x = make(m * n);
      auto rows = output<Y>({m}), columns = output<Y>({n});
      program.consts(m, n).warps(warps).grid(1)(stream, input({m, n}, x), rows.tensor(),
                                                columns.tensor());
      expectAll(
          rows.result(), [&](int64_t i) { return reference(slice(x, m, n, 1, i)); }, within);
      expectAll(
          columns.result(), [&](int64_t i) { return reference(slice(x, m, n, 0, i)); }, within);
      warps = warps == 8 ? 1 : warps * 2;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, Reductions, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

template <class T> double total(const std::vector<T> &x) {
  double result = 0;
  for (T value : x)
    result += static_cast<double>(value);
  return result;
}
double largest(const std::vector<double> &x) {
  double result = NAN;
  for (double value : x)
    result = std::fmax(result, value);
  return result;
}
double smallest(const std::vector<double> &x) {
  double result = NAN;
  for (double value : x)
    result = std::fmin(result, value);
  return result;
}
template <class T> int32_t firstLargest(const std::vector<T> &x) {
  return static_cast<int32_t>(std::max_element(x.begin(), x.end()) - x.begin());
}
template <class T> int32_t firstSmallest(const std::vector<T> &x) {
  return static_cast<int32_t>(std::min_element(x.begin(), x.end()) - x.begin());
}

template <class T> std::vector<T> mixed(int64_t count) { return uniform<T>(count, -8, 8, 21); }
template <class T> std::vector<T> few(int64_t count) { return uniform<T>(count, 0, 4, 22); }
/// With NaN, infinities and equal elements among them.
std::vector<float> special(int64_t count) {
  std::vector<float> x = uniform<float>(count, -2, 2, 23);
  Random random(4);
  for (float &value : x)
    if (uint64_t kind = random.bits() % 16; kind < 4)
      value = kind == 0 ? NAN : kind == 1 ? -INFINITY : kind == 2 ? INFINITY : 0;
  return x;
}

TEST_P(Reductions, SumOfFloats) {
  auto f = [](Value x, int axis) { return sum(x, axis); };
  reduceBoth<float, float>(f, total<double>, {8, 1e-4}, mixed<float>);
  reduceBoth<half, half>(f, total<double>, {0.51, 1e-4}, mixed<half>);
  reduceBoth<bfloat16, bfloat16>(f, total<double>, {0.51, 1e-4}, mixed<bfloat16>);
  reduceBoth<double, double>(f, total<double>, {8, 1e-13}, mixed<double>);
}

TEST_P(Reductions, SumOfIntegers) {
  auto f = [](Value x, int axis) { return sum(x, axis); };
  reduceBoth<int8_t, int32_t>(f, total<int8_t>, kExactly, mixed<int8_t>);
  reduceBoth<uint8_t, uint32_t>(f, total<uint8_t>, kExactly, few<uint8_t>);
  reduceBoth<int32_t, int32_t>(f, total<int32_t>, kExactly, mixed<int32_t>);
  reduceBoth<int64_t, int64_t>(f, total<int64_t>, kExactly, mixed<int64_t>);
}

TEST_P(Reductions, Mean) {
  reduceBoth<float, float>([](Value x, int axis) { return mean(x, axis); },
                           [](const auto &x) { return total(x) / double(x.size()); }, {8, 1e-6},
                           mixed<float>);
}

TEST_P(Reductions, MaxAndMin) {
  auto highest = [](Value x, int axis) { return reduce_max(x, axis); };
  auto lowest = [](Value x, int axis) { return reduce_min(x, axis); };
  reduceBoth<float, float>(highest, largest, kExactly, special);
  reduceBoth<float, float>(lowest, smallest, kExactly, special);
  reduceBoth<half, half>(highest, largest, kExactly, mixed<half>);
  reduceBoth<bfloat16, bfloat16>(lowest, smallest, kExactly, mixed<bfloat16>);
  reduceBoth<int8_t, int8_t>(
      highest, [](const auto &x) { return *std::max_element(x.begin(), x.end()); }, kExactly,
      mixed<int8_t>);
  reduceBoth<uint32_t, uint32_t>(
      lowest, [](const auto &x) { return *std::min_element(x.begin(), x.end()); }, kExactly,
      few<uint32_t>);
}

TEST_P(Reductions, IndexOfTheFirstOfEquals) {
  reduceBoth<int32_t, int32_t>([](Value x, int axis) { return argmax(x, axis); },
                               firstLargest<int32_t>, kExactly, few<int32_t>);
  reduceBoth<half, int32_t>([](Value x, int axis) { return argmin(x, axis); },
                            firstSmallest<double>, kExactly, mixed<half>);
}

TEST_P(Reductions, AnyAndAll) {
  reduceBoth<int32_t, bool>([](Value x, int axis) { return any_of(x > 2, axis); },
                            [](const auto &x) { return *std::max_element(x.begin(), x.end()) > 2; },
                            kExactly, few<int32_t>);
  reduceBoth<int32_t, bool>([](Value x, int axis) { return all_of(x < 3, axis); },
                            [](const auto &x) { return *std::max_element(x.begin(), x.end()) < 3; },
                            kExactly, few<int32_t>);
}

TEST_P(Reductions, ProductAndACombinationOfOnesOwn) {
  reduceBoth<int32_t, int32_t>([](Value x, int axis) { return prod(x | 1, axis); },
                               [](const auto &x) {
                                 uint32_t result = 1;
                                 for (int32_t value : x)
                                   result *= static_cast<uint32_t>(value | 1);
                                 return static_cast<int32_t>(result);
                               },
                               kExactly, mixed<int32_t>);
  reduceBoth<int32_t, int32_t>(
      [](Value x, int axis) { return reduce(x, axis, [](Value a, Value b) { return a ^ b; }); },
      [](const auto &x) {
        int32_t result = 0;
        for (int32_t value : x)
          result ^= value;
        return result;
      },
      kExactly, mixed<int32_t>);
}

TEST_P(Reductions, SeveralTilesTogether) {
  // The number of elements and their sum, combined as a pair; the result is 1000 n + sum.
  reduceBoth<int32_t, int32_t>(
      [](Value x, int axis) {
        std::vector<Value> pair =
            reduce({full(i32, x.shape(), 1), x}, axis,
                   [](const std::vector<Value> &a, const std::vector<Value> &b) {
                     return std::vector<Value>{a[0] + b[0], a[1] + b[1]};
                   });
        return pair[0] * 1000 + pair[1];
      },
      [](const auto &x) { return static_cast<int32_t>(double(x.size()) * 1000 + total(x)); },
      kExactly, mixed<int32_t>);
}

TEST_P(Reductions, KeepDims) {
  static const auto program = kernel("centre", [](In<f32, 2> x, Out<f32, 2> y, Const M, Const N) {
    auto [m, n] = grid2d(y, {M, N});
    Value tile = x.tile({M, N})(m, n);
    y.tile({M, N})(m, n) = tile - reduce_max(tile, 1, {.keep_dims = true});
  });
  std::vector<float> x = mixed<float>(50 * 40);
  auto results = output<float>({50, 40}, 4);
  program.consts(16, 64)(stream, input({50, 40}, x), results.tensor());
  // The tile's padding is zero, and takes part in the maximum.
  expectAll(results.result(), [&](int64_t i) {
    double highest = std::max(0.0, largest(slice(x, 50, 40, 1, i / 40)));
    return static_cast<double>(x[size_t(i)] - static_cast<float>(highest));
  });
}

TEST_P(Reductions, ToAScalarAndAlongEachOfThreeAxes) {
  static const auto program = kernel("sum3", [](In<i32, 3> x, Out<i32, 1> all, Out<i32, 2> middle) {
    Value cube = x.tile({4, 16, 8})(0, 0, 0);
    middle.tile({4, 8})(0, 0) = sum(cube, 1);
    all.tile({1})(0) = splat(sum(sum(sum(cube, 2), 1), 0), {1});
  });
  std::vector<int32_t> x = uniform<int32_t>(3 * 13 * 7, -50, 50);
  auto all = output<int32_t>({1});
  auto middle = output<int32_t>({3, 7}, 1);
  program.grid(1)(stream, input({3, 13, 7}, x), all.tensor(), middle.tensor());
  expectAll(all.result(), [&](int64_t) { return total(x); });
  expectAll(middle.result(), [&](int64_t i) {
    int64_t sum = 0;
    for (int64_t k = 0; k < 13; ++k)
      sum += x[size_t((i / 7 * 13 + k) * 7 + i % 7)];
    return sum;
  });
}

TEST_P(Reductions, SoftmaxOfATile) {
  reduceBoth<float, float>([](Value x, int axis) { return reduce_max(softmax(x, axis), axis); },
                           [](const std::vector<double> &x) {
                             double m = largest(x), sum = 0;
                             for (double value : x)
                               sum += std::exp(value - m);
                             return 1 / sum;
                           },
                           {16, 1e-7}, mixed<float>);
}

TEST_P(Reductions, WithoutAnAxisAndWithIndices) {
  static const auto program =
      kernel("whole", [](In<f32, 2> x, Out<f32, 1> values, Out<i32, 1> indices, Const M, Const N) {
        Value tile = x.tile({M, N})(0, 0);
        auto [highest, at] = max_with_index(tile);
        auto [lowest, where] = min_with_index(tile, std::nullopt, {.keep_dims = true});
        Value results[] = {sum(tile), mean(tile), highest, item(lowest), reduce_max(tile, {})};
        for (int i = 0; i < 5; ++i)
          values.tile({1})(i) = splat(results[i], {1});
        indices.tile({1})(0) = splat(at, {1});
        indices.tile({1})(1) = reshape(where, {1});
        indices.tile({1})(2) = splat(argmin(tile), {1});
      });
  int warps = 1;
  for (auto [m, n] : kTiles) {
    SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + " warps " + std::to_string(warps));
    std::vector<float> x;
    for (int value : uniform<int32_t>(m * n, -50, 50, 25)) // equal elements are likely
      x.push_back(static_cast<float>(value));
    std::vector<double> wide(x.begin(), x.end());
    auto values = output<float>({5});
    auto indices = output<int32_t>({3});
    program.consts(m, n).warps(warps).grid(1)(stream, input({m, n}, x), values.tensor(),
                                              indices.tensor());
    double expected[] = {total(wide), total(wide) / (m * n), largest(wide), smallest(wide),
                         largest(wide)};
    expectAll(values.result(), [&](int64_t i) { return expected[i]; }, {1, 0});
    expectAll(indices.result(),
              [&](int64_t i) { return i == 0 ? firstLargest(wide) : firstSmallest(wide); });
    warps = warps == 8 ? 1 : warps * 2;
  }
}

TEST_P(Reductions, IndicesIgnoreNan) {
  static const auto program =
      kernel("nan_rows", [](In<f32, 2> x, Out<f32, 2> values, Out<i32, 2> indices) {
        Value tile = x.tile({8, 4})(0, 0);
        auto [highest, at] = max_with_index(tile, 1);
        auto [lowest, where] = min_with_index(tile, 1);
        values.tile({8, 2})(0, 0) = join(highest, lowest);
        indices.tile({8, 2})(0, 0) = join(at, where);
      });
  float inf = INFINITY;
  std::vector<float> x = {NAN,  -inf, inf, 0,    3,    NAN, 1,   5,   NAN, NAN, NAN,
                          NAN,  2,    2,   2,    2,    NAN, NAN, NAN, 7,   inf, inf,
                          -inf, -inf, NAN, -inf, -inf, NAN, 0,   0,   0,   0};
  int32_t expected[] = {2, 1, 3, 2, 0, 0, 0, 0, 3, 3, 0, 2, 1, 1, 0, 0};
  auto values = output<float>({8, 2});
  auto indices = output<int32_t>({8, 2});
  program.grid(1)(stream, input({8, 4}, x), values.tensor(), indices.tensor());
  expectAll(indices.result(), [&](int64_t i) { return expected[i]; });
  expectAll(values.result(), [&](int64_t i) { return double(x[size_t(i / 2 * 4 + expected[i])]); });
}

TEST_P(Reductions, BitwiseOfIntegers) {
  auto folded = [](auto combine) {
    return [combine](const auto &x) {
      auto result = x[0];
      for (size_t i = 1; i < x.size(); ++i)
        result = static_cast<std::remove_cvref_t<decltype(result)>>(combine(result, x[i]));
      return result;
    };
  };
  auto exclusive = [](Value x, int axis) { return xor_sum(x, axis); };
  auto either = [](Value x, int axis) { return reduce_or(x, axis); };
  reduceBoth<int32_t, int32_t>(exclusive, folded(std::bit_xor<int32_t>()), kExactly,
                               mixed<int32_t>);
  reduceBoth<uint8_t, uint8_t>(exclusive, folded(std::bit_xor<int>()), kExactly, few<uint8_t>);
  reduceBoth<int64_t, int64_t>(either, folded(std::bit_or<int64_t>()), kExactly, few<int64_t>);
}

TEST_P(Reductions, DtypesOfSums) {
  static const auto program =
      kernel("sum_dtypes", [](In<i8, 2> x, Out<i32, 1> y, Out<bf16, 1> ones) {
        Value tile = x.tile({32, 32})(0, 0), truth = tile != 0;
        Value results[] = {sum(truth), sum(truth, {}, {.dtype = i1}), sum(tile, {}, {.dtype = i8}),
                           sum(tile), sum(tile, {}, {.dtype = i64})};
        for (int i = 0; i < 5; ++i)
          y.tile({1})(i) = splat(cast(i32, results[i]), {1});
        ones.tile({1})(0) = splat(sum(cast(bf16, truth)), {1});
      });
  auto y = output<int32_t>({5});
  auto ones = output<bfloat16>({1});
  program.grid(1)(stream, input({32, 32}, std::vector<int8_t>(1024, 7)), y.tensor(), ones.tensor());
  int32_t expected[] = {1024, 0, static_cast<int8_t>(7168 & 255), 7168, 7168};
  expectAll(y.result(), [&](int64_t i) { return expected[i]; });
  expectAll(ones.result(), [](int64_t) { return 1024; });
}

/// Lanes that hold one result must hold the same bits, or the copies of it disagree: a race where it crosses warps. What
/// could make them differ is a product fused into one lane's addition, and a combination that rounds its sides unequally.
TEST_P(Reductions, LanesAgreeOnRoundedResults) {
  static const auto program = kernel("products", [](In<f32, 2> a, In<f32, 2> b, Out<f32, 1> sums,
                                                    Out<f32, 1> means, Const R, Const C) {
    Value x = a.tile({R, C})(0, 0), y = b.tile({R, C})(0, 0);
    sums.tile({R})(0) = sum(x * y, 1);
    auto mean = reduce(std::vector<Value>{x, full(f32, {R, C}, 1.0f)}, 1,
                       [](const std::vector<Value> &p, const std::vector<Value> &q) {
                         Value count = p[1] + q[1];
                         return std::vector<Value>{p[0] + (q[0] - p[0]) * (q[1] / count), count};
                       });
    means.tile({R})(0) = mean[0];
  });
  for (auto [rows, columns] : {std::pair(1, 128), {2, 64}, {4, 32}, {8, 128}, {1, 1024}}) {
    SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(columns));
    int64_t count = int64_t(rows) * columns;
    auto x = uniform<float>(count), y = uniform<float>(count, -1, 1, 2);
    auto sums = output<float>({rows}), means = output<float>({rows});
    program.consts(rows, columns)
        .grid(1)(stream, input({rows, columns}, x), input({rows, columns}, y), sums.tensor(),
                 means.tensor());
    auto over = [&](int64_t row, auto term) {
      double total = 0;
      for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
        total += term(size_t(i));
      return total;
    };
    expectAll(sums.result(),
              [&](int64_t row) { return over(row, [&](size_t i) { return double(x[i]) * y[i]; }); },
              {0, 1e-5});
    expectAll(means.result(),
              [&](int64_t row) { return over(row, [&](size_t i) { return x[i]; }) / columns; },
              {0, 1e-5});
  }
}

} // namespace
