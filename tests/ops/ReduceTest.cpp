// Reductions: every subset of dimensions, memory order, dtype, long and short, empty, and what they refuse.
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Reduce.h>

#include <numeric>

using namespace tile;
using namespace tile::test;

namespace {

class ReduceOp : public OnDevice {
protected:
  enum Kind { Sum, Mean, Max, Min, Squares };

  /// What a reduction of `x`, row-major with these extents, over the dimensions of `mask` must be.
  template <class T>
  static std::vector<double> reference(Kind kind, const std::vector<T> &x,
                                       const std::vector<int64_t> &extents, uint32_t mask) {
    int64_t results = 1, count = 1;
    for (size_t dim = 0; dim < extents.size(); ++dim)
      (mask >> dim & 1 ? count : results) *= extents[dim];
    double first = kind == Max ? -INFINITY : kind == Min ? INFINITY : 0;
    std::vector<double> y(size_t(results), first);
    for (size_t i = 0; i < x.size(); ++i) {
      int64_t rest = int64_t(i), at = 0, step = 1;
      for (size_t dim = extents.size(); dim-- > 0; rest /= extents[dim])
        if (!(mask >> dim & 1))
          at += rest % extents[dim] * step, step *= extents[dim];
      double &to = y[size_t(at)], value = double(exact(x[i]));
      to = kind == Max   ? std::fmax(to, value)
           : kind == Min ? std::fmin(to, value)
                         : to + (kind == Squares ? value * value : value);
    }
    if (kind == Mean)
      for (double &value : y)
        value /= double(count);
    return y;
  }

  static void call(Kind kind, const Stream &stream, const Tensor &x, const ops::Axes &axes,
                   const Tensor &y) {
    switch (kind) {
    case Sum:
      return ops::sum(stream, x, axes, y);
    case Mean:
      return ops::mean(stream, x, axes, y);
    case Max:
      return ops::reduceMax(stream, x, axes, y);
    case Min:
      return ops::reduceMin(stream, x, axes, y);
    case Squares:
      return ops::sumOfSquares(stream, x, axes, y);
    }
  }

  /// `order`: of dimensions in memory, the outermost first.
  template <class T>
  void check(Kind kind, std::vector<int64_t> extents, uint32_t mask, std::vector<int> order = {},
             double tolerance = 1e-6) {
    SCOPED_TRACE("extents " + ::testing::PrintToString(extents) + " mask " + std::to_string(mask) +
                 " order " + ::testing::PrintToString(order) + " kind " + std::to_string(kind));
    int rank = int(extents.size());
    int64_t size = std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
    std::vector<T> x = uniform<T>(size, -1, 1, 5);
    std::vector<int64_t> strides(extents.size());
    if (order.empty())
      for (int dim = 0; dim < rank; ++dim)
        order.push_back(dim);
    int64_t stride = 1;
    for (int i = rank; i-- > 0;)
      strides[size_t(order[size_t(i)])] = stride, stride *= extents[size_t(order[size_t(i)])];
    auto memory = device().tensor<T>({std::max<int64_t>(size, 1)});
    auto view = memory.withStrides(extents, strides);
    view.upload(x);
    std::vector<int> axes;
    int64_t results = 1;
    for (int dim = 0; dim < rank; ++dim)
      if (mask >> dim & 1)
        axes.push_back(dim % 2 ? dim : dim - rank); // negative ones too
      else
        results *= extents[size_t(dim)];
    std::vector<int64_t> kept;
    for (int dim = 0; dim < rank; ++dim)
      if (!(mask >> dim & 1))
        kept.push_back(extents[size_t(dim)]);
    auto y = output<T>({results});
    call(kind, stream, view, std::span<const int>(axes), y.tensor().reshape(kept));
    auto expected = reference(kind, x, extents, mask);
    double terms = double(size) / double(std::max<int64_t>(results, 1));
    double each = kind == Mean ? 1 : kind == Max || kind == Min ? 0 : std::max(terms, 1.0);
    expectAll(y.result(), [&](int64_t i) { return expected[size_t(i)]; }, {0.51, tolerance * each});
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, ReduceOp, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

TEST_P(ReduceOp, EverySubsetOfDimensions) {
  for (uint32_t mask = 0; mask < 16; ++mask)
    check<float>(Sum, {3, 5, 4, 7}, mask);
}

TEST_P(ReduceOp, EveryMemoryOrder) {
  std::vector<int> order = {0, 1, 2, 3};
  do
    check<float>(Sum, {6, 5, 4, 33}, 0b0101, order);
  while (std::next_permutation(order.begin(), order.end()));
}

TEST_P(ReduceOp, DimensionsThatDoNotMerge) {
  check<float>(Sum, {2, 3, 2, 3, 2, 3}, 0b010101);
  check<float>(Mean, {2, 3, 2, 3, 2, 3}, 0b101010, {5, 0, 3, 2, 1, 4});
}

TEST_P(ReduceOp, Kinds) {
  for (Kind kind : {Mean, Max, Min, Squares}) {
    check<float>(kind, {37, 100}, 0b10);
    check<float>(kind, {100, 37}, 0b01);
    check<half>(kind, {9, 300}, 0b11);
  }
}

TEST_P(ReduceOp, LongReductionsInShares) {
  check<float>(Sum, {200000}, 1);
  check<float>(Max, {3, 50000}, 0b10);
  check<float>(Squares, {20000, 3}, 0b01);
  check<half>(Mean, {4000, 40}, 0b01);
}

TEST_P(ReduceOp, Dtypes) {
  check<double>(Sum, {50, 60}, 0b10, {}, 1e-15);
  check<bfloat16>(Sum, {50, 60}, 0b01);
  auto integers = [&]<class T>(T) {
    auto x = uniform<T>(1000, 0, 100);
    auto sums = output<T>({1}), largest = output<T>({1}), smallest = output<T>({1});
    auto tensor = input({1000}, x);
    ops::sum(stream, tensor, {}, sums.tensor());
    ops::reduceMax(stream, tensor, {}, largest.tensor());
    ops::reduceMin(stream, tensor, {}, smallest.tensor());
    expectAll(sums.result(), [&](int64_t) { return std::accumulate(x.begin(), x.end(), T(0)); });
    expectAll(largest.result(), [&](int64_t) { return *std::max_element(x.begin(), x.end()); });
    expectAll(smallest.result(), [&](int64_t) { return *std::min_element(x.begin(), x.end()); });
  };
  integers(int8_t()), integers(int32_t()), integers(int64_t());
  integers(uint8_t()), integers(uint32_t()), integers(uint64_t());
}

TEST_P(ReduceOp, OfNothing) {
  auto none = device().tensor<float>({3, 0});
  auto y = output<float>({3});
  for (auto [kind, expected] : {std::pair<Kind, double>{Sum, 0.0},
                                {Mean, NAN},
                                {Max, -INFINITY},
                                {Min, INFINITY},
                                {Squares, 0.0}}) {
    call(kind, stream, none, 1, y.tensor());
    expectAll(y.result(), [&, e = expected](int64_t) { return e; });
  }
  auto bytes = device().tensor<int8_t>({0});
  EXPECT_EQ(TensorOf<int8_t>(ops::reduceMax(stream, bytes)).download(), std::vector<int8_t>{-128});
  ops::sum(stream, none, 0, device().tensor<float>({0}));
}

TEST_P(ReduceOp, NanAndInfinity) {
  auto x = input({4}, std::vector<float>{1, NAN, -INFINITY, 3});
  auto value = [&](const Tensor &y) { return TensorOf<float>(y).download()[0]; };
  EXPECT_TRUE(std::isnan(value(ops::sum(stream, x))));
  EXPECT_TRUE(std::isnan(value(ops::reduceMax(stream, x))));
  EXPECT_TRUE(std::isnan(value(ops::reduceMin(stream, x))));
  auto finite = input({3}, std::vector<float>{1, -INFINITY, 3});
  EXPECT_EQ(value(ops::reduceMax(stream, finite)), 3);
  EXPECT_EQ(value(ops::reduceMin(stream, finite)), -INFINITY);
}

TEST_P(ReduceOp, NewTensorsHaveTheExtentsAskedFor) {
  auto x = input({2, 3, 4}, uniform<float>(24));
  EXPECT_EQ(ops::sum(stream, x, {0, 2}).extents().size(), 1u);
  Tensor kept = ops::sum(stream, x, {0, 2}, {.keep_dims = true});
  EXPECT_EQ(std::vector<int64_t>(kept.extents().begin(), kept.extents().end()),
            (std::vector<int64_t>{1, 3, 1}));
  EXPECT_EQ(ops::sum(stream, x).rank(), 0);
}

TEST_P(ReduceOp, SumToUndoesBroadcast) {
  auto values = uniform<float>(4 * 5 * 6);
  auto x = input({4, 5, 6}, values);
  for (std::vector<int64_t> extents :
       std::vector<std::vector<int64_t>>{{4, 5, 6}, {5, 6}, {6}, {1}, {4, 1, 6}, {5, 1}, {}}) {
    SCOPED_TRACE(::testing::PrintToString(extents));
    uint32_t mask = 0;
    for (int dim = 0; dim < 3; ++dim) {
      int own = dim - (3 - int(extents.size()));
      mask |= uint32_t(own < 0 || extents[size_t(own)] == 1) << dim;
    }
    auto expected = reference(Sum, values, {4, 5, 6}, mask);
    auto y = output<float>({int64_t(expected.size())});
    ops::sumTo(stream, x, y.tensor().reshape(extents));
    expectAll(y.result(), [&](int64_t i) { return expected[size_t(i)]; }, {1, 1e-4});
  }
}

TEST_P(ReduceOp, SameBitsTwice) {
  auto x = input({5, 30000}, uniform<float>(150000));
  auto bits = [&] { return TensorOf<float>(ops::sum(stream, x, 1)).download(); };
  EXPECT_EQ(bits(), bits());
}

TEST_P(ReduceOp, Refusals) {
  auto x = device().tensor<float>({4, 5}), y = device().tensor<float>({4});
  expectRefused(ErrorCode::InvalidArgument, "sum: axis 2 of x, f32 4x5: it has 2 dimensions",
                [&] { ops::sum(stream, x, 2, y); });
  expectRefused(ErrorCode::InvalidArgument, "axis -1 is named twice", [&] {
    ops::sum(stream, x, {1, -1}, y);
  });
  expectRefused(ErrorCode::InvalidShape, "x is f32 4x5, y is f32 4, but the reduction leaves 5",
                [&] { ops::sum(stream, x, 0, y); });
  expectRefused(ErrorCode::InvalidArgument, "supported dtypes: f16, bf16, f32, f64", [&] {
    auto bytes = device().tensor<int8_t>({4});
    ops::mean(stream, bytes);
  });
  expectRefused(ErrorCode::Aliasing, "y overlaps x",
                [&] { ops::sum(stream, x, 1, x.withStrides({4}, {5})); });
}

} // namespace
