// Conformance 7: reductions of every dtype over a row of 1024, of several shapes along each axis and
// all of them, with kept dimensions, ties, NaN and infinities.
#include "tests/execution/Harness.h"

#include <limits>

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(ConformanceReduce, Targets::One);

/// The five results over one row, each where the kernel put it.
template <DType D> const auto &rowKernel() {
  static const auto program =
      kernel("reduce_row", [](In<D, 2> x, Out<D, 1> y, Out<i32, 1> at, InOut<i64, 1> total) {
        Value v = x.tile({1, 1024})(0, 0);
        y.tile({1})(0) = cast(D, reduce_min(v, 1));
        y.tile({1})(1) = cast(D, reduce_max(v, -1));
        at.tile({1})(0) = argmin(v, 1);
        at.tile({1})(1) = argmax(v, -1);
        total.tile({1})(0) = cast(i64, sum(cast(f64, v), 1));
      });
  return program;
}

/// Small whole numbers, so that sums are exact in every type; ties of both extremes at 3 and 9.
template <class T> std::vector<T> rowOf() {
  std::vector<T> x;
  for (int i = 0; i < 1024; ++i)
    x.push_back(T(static_cast<float>(i * 29 % 41 + 1)));
  for (int tie : {3, 9})
    x[size_t(tie)] = T(0.0f), x[size_t(tie + 1)] = T(43.0f);
  return x;
}

template <class T> void reduceRow(OnDevice &, const Device &device, const Stream &stream) {
  SCOPED_TRACE(nameOf(dtypeOf<T>));
  std::vector<T> x = rowOf<T>();
  int64_t total = 0;
  for (T v : x)
    total += static_cast<int64_t>(exact(v));
  auto in = device.tensor<T>({1, 1024});
  in.uploadBytes(x.data(), x.size() * sizeof(T));
  auto y = device.tensor<T>({2});
  auto at = device.tensor<int32_t>({2});
  auto sums = device.tensor<int64_t>({1});
  rowKernel<dtypeOf<T>>().grid(1)(stream, in, y, at, sums);
  std::vector<T> extremes = y.download();
  EXPECT_EQ(exact(extremes[0]), 0);
  EXPECT_EQ(exact(extremes[1]), 43);
  EXPECT_EQ(at.download(), (std::vector<int32_t>{3, 4})) << "the first of equals";
  EXPECT_EQ(sums.download()[0], total);
}

TEST_P(ConformanceReduce, ARowOfEveryDtype) {
  reduceRow<int8_t>(*this, device(), stream);
  reduceRow<int16_t>(*this, device(), stream);
  reduceRow<int32_t>(*this, device(), stream);
  reduceRow<int64_t>(*this, device(), stream);
  reduceRow<uint8_t>(*this, device(), stream);
  reduceRow<uint16_t>(*this, device(), stream);
  reduceRow<uint32_t>(*this, device(), stream);
  reduceRow<uint64_t>(*this, device(), stream);
  reduceRow<half>(*this, device(), stream);
  reduceRow<bfloat16>(*this, device(), stream);
  reduceRow<float>(*this, device(), stream);
  reduceRow<double>(*this, device(), stream);
}

struct Extremes {
  double least = INFINITY, most = -INFINITY, sum = 0;
  int leastAt = 0, mostAt = 0;
  void add(double v, int at) {
    if (v < least)
      least = v, leastAt = at;
    if (v > most)
      most = v, mostAt = at;
    sum += v;
  }
};

/// Results are stored with the axis kept, so that they are told apart from the shape without it.
TEST_P(ConformanceReduce, EachAxisOfTwoDimensions) {
  static const auto program = kernel("reduce_2d", [](In<f32, 2> x, Out<f32, 3> y, Out<i32, 3> at,
                                                     Const M, Const N, Const Axis) {
    Value v = x.tile({M, N})(0, 0);
    int m = Axis == 0 ? 1 : int(M), n = Axis == 1 ? 1 : int(N);
    auto put = [&](int row, Value value) { y.tile({1, m, n})(row, 0, 0) = expand_dims(value, 0); };
    put(0, reduce_min(v, Axis, {.keep_dims = true}));
    put(1, expand_dims(reduce_max(v, Axis), Axis));
    put(2, sum(v, Axis - 2, {.keep_dims = true}));
    at.tile({1, m, n})(0, 0, 0) = expand_dims(argmin(v, Axis, {.keep_dims = true}), 0);
    at.tile({1, m, n})(1, 0, 0) = expand_dims(argmax(v, Axis, {.keep_dims = true}), 0);
  });
  for (auto [m, n] : {std::pair{2, 32}, {4, 32}, {4, 128}})
    for (int axis : {0, 1}) {
      SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + " axis " + std::to_string(axis));
      std::vector<float> x = uniform<float>(m * n);
      x[1] = x[0], x[size_t(n)] = x[0]; // ties
      std::vector<Extremes> expected(size_t(axis ? m : n));
      for (int i = 0; i < m * n; ++i)
        expected[size_t(axis ? i / n : i % n)].add(x[size_t(i)], axis ? i % n : i / n);
      int64_t lines = axis ? m : n;
      auto y = output<float>({3, axis ? m : 1, axis ? 1 : n});
      auto at = output<int32_t>({2, axis ? m : 1, axis ? 1 : n});
      program.consts(m, n, axis).grid(1)(stream, input({m, n}, x), y.tensor(), at.tensor());
      expectAll(y.result(),
                [&](int64_t i) {
                  const Extremes &e = expected[size_t(i % lines)];
                  return i / lines == 0 ? e.least : i / lines == 1 ? e.most : e.sum;
                },
                {.absolute = 1e-4});
      expectAll(at.result(), [&](int64_t i) {
        const Extremes &e = expected[size_t(i % lines)];
        return i / lines == 0 ? e.leastAt : e.mostAt;
      });
    }
}

TEST_P(ConformanceReduce, EachAxisOfThreeDimensions) {
  static const auto program =
      kernel("reduce_3d", [](In<i32, 3> x, Out<i32, 2> sums, Out<i32, 2> most, Const A, Const B,
                             Const C, Const Axis) {
        Value v = x.tile({A, B, C})(0, 0, 0);
        int m = Axis == 0 ? int(B) : int(A), n = Axis == 2 ? int(B) : int(C);
        sums.tile({m, n})(0, 0) = sum(v, Axis);
        most.tile({m, n})(0, 0) = reduce_max(v, Axis);
      });
  for (auto [a, b, c] : {std::array{2, 32, 16}, {32, 2, 16}, {32, 16, 2}})
    for (int axis : {0, 1, 2}) {
      std::vector<int> x;
      for (int i = 0; i < a * b * c; ++i)
        x.push_back(i * 61 % 251 - 100);
      int m = axis == 0 ? b : a, n = axis == 2 ? b : c;
      std::vector<int> sums(size_t(m * n), 0), most(size_t(m * n), -1000);
      for (int i = 0; i < a * b * c; ++i) {
        int at[3] = {i / (b * c), i / c % b, i % c};
        int row = axis == 0 ? at[1] : at[0], column = axis == 2 ? at[1] : at[2];
        sums[size_t(row * n + column)] += x[size_t(i)];
        most[size_t(row * n + column)] = std::max(most[size_t(row * n + column)], x[size_t(i)]);
      }
      auto y = output<int32_t>({m, n}), z = output<int32_t>({m, n});
      program.consts(a, b, c, axis).grid(1)(stream, input({a, b, c}, x), y.tensor(), z.tensor());
      EXPECT_EQ(y.result(), sums);
      EXPECT_EQ(z.result(), most);
    }
}

const auto specials =
    kernel("reduce_specials", [](In<f32, 1> x, Out<f32, 1> y, Out<i32, 1> at, Const B) {
      Value v = x.tile({B}).unchecked()(0);
      y.tile({1})(0) = splat(reduce_min(v), {1}); // all axes
      y.tile({1})(1) = splat(reduce_max(v), {1});
      at.tile({1})(0) = splat(argmin(v), {1});
      at.tile({1})(1) = splat(argmax(v), {1});
    });

TEST_P(ConformanceReduce, NanInfinityAndZeros) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                  kInf = std::numeric_limits<float>::infinity();
  auto run = [&](std::vector<float> x, std::vector<float> extremes, std::vector<int> places) {
    int64_t size = int64_t(x.size());
    auto y = output<float>({2});
    auto at = output<int32_t>({2});
    specials.consts(int(size)).grid(1)(stream, input({size}, x), y.tensor(), at.tensor());
    EXPECT_EQ(y.result(), extremes);
    EXPECT_EQ(at.result(), places);
  };
  run({kNan, -kInf, kInf, 1, 2, kNan, 0, kNan}, {-kInf, kInf}, {1, 2});
  run({3, kNan, 1, 5}, {1, 5}, {2, 3});
  run(std::vector<float>(64, 0.0f), {0, 0}, {0, 0});
}

TEST_P(ConformanceReduce, AnAxisThatIsNotThereIsRefused) {
  static const auto program = kernel("axis_2", [](In<f32, 2> x, Out<f32, 1> y) {
    y.tile({4})(0) = sum(x.tile({4, 8})(0, 0), 2);
  });
  EXPECT_THROW(program.grid(1)(stream, input<float>({4, 8}, std::vector<float>(32)),
                               device().tensor<float>({4})),
               Error);
}

} // namespace
