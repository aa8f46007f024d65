// Rotary embeddings: both styles, parts of a vector, positions by offset and by tensor, far positions, gradients, refusals.
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Rotary.h>

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(RotaryOps, Targets::One);

/// x, rows of `width`, with the row's pairs turned by the angles of its position; backwards for `sign` -1.
template <class T, class PositionOf>
std::vector<double> turned(const std::vector<T> &x, int64_t width, PositionOf positionOf,
                           const ops::RotaryOptions &options, double sign = 1) {
  std::vector<double> y;
  for (T value : x)
    y.push_back(double(exact(value)));
  int64_t dims = options.dims == 0 ? width : options.dims;
  for (size_t row = 0; row < x.size() / size_t(width); ++row)
    for (int64_t pair = 0; pair < dims / 2; ++pair) {
      size_t first = row * size_t(width) + size_t(options.interleaved ? 2 * pair : pair);
      size_t second = first + size_t(options.interleaved ? 1 : dims / 2);
      long double angle =
          static_cast<long double>(positionOf(int64_t(row))) *
          std::pow(static_cast<long double>(options.base),
                   -2.0L * static_cast<long double>(pair) / static_cast<long double>(dims));
      double c = double(std::cos(angle)), s = sign * double(std::sin(angle));
      double a = y[first], b = y[second];
      y[first] = a * c - b * s, y[second] = b * c + a * s;
    }
  return y;
}

template <class T> Within allowed() { return {0.51, std::is_same_v<T, double> ? 1e-9 : 4e-7}; }

TEST_P(RotaryOps, BothStylesPartsAndDtypes) {
  auto check = [&]<class T>(T, int64_t width, ops::RotaryOptions options) {
    SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + " width " + std::to_string(width) + " dims " +
                 std::to_string(options.dims) + (options.interleaved ? " interleaved" : " halves"));
    int64_t heads = 3, count = 9, offset = 1000;
    auto x = uniform<T>(2 * heads * count * width);
    auto tensor = input({2, heads, count, width}, x);
    auto y = output<T>({2, heads, count, width}, 4), dx = output<T>({2, heads, count, width});
    auto positionOf = [&](int64_t row) { return offset + row % count; };
    ops::rotary(stream, tensor, offset, y.tensor(), options);
    ops::rotaryBackward(stream, tensor, offset, dx.tensor(), options);
    std::vector<double> forward = turned(x, width, positionOf, options),
                        backward = turned(x, width, positionOf, options, -1);
    expectAll(
        y.result(), [&](int64_t i) { return forward[size_t(i)]; }, allowed<T>());
    expectAll(
        dx.result(), [&](int64_t i) { return backward[size_t(i)]; }, allowed<T>());
    // In place.
    ops::rotary(stream, tensor, offset, tensor, options);
    EXPECT_EQ(std::memcmp(tensor.download().data(), y.result().data(), x.size() * sizeof(T)), 0);
  };
  for (bool interleaved : {false, true}) {
    check(float(), 64, {.interleaved = interleaved});
    check(float(), 10, {.interleaved = interleaved, .dims = 6, .base = 500});
    check(half(), 128, {.interleaved = interleaved, .dims = 32});
    check(bfloat16(), 2, {.interleaved = interleaved});
    check(double(), 34, {.interleaved = interleaved, .base = 5e5});
  }
}

/// Neighbours that no access can take together: at odd places, in rows of odd length, and of two dtypes.
TEST_P(RotaryOps, PairsWhereverTheyLie) {
  int64_t count = 5, width = 6;
  ops::RotaryOptions options{.interleaved = true};
  auto positionOf = [](int64_t row) { return 3 + row; };
  auto x = uniform<half>(count * 7 + 1);
  auto memory = input({count * 7 + 1}, x);
  auto check = [&](const Tensor &from, auto valueAt, auto element) {
    using T = decltype(element);
    std::vector<half> rows;
    for (int64_t i = 0; i < count * width; ++i)
      rows.push_back(valueAt(i / width, i % width));
    auto y = output<T>({count, width});
    ops::rotary(stream, from, 3, y.tensor(), options);
    std::vector<double> expected = turned(rows, width, positionOf, options);
    expectAll(
        y.result(), [&](int64_t i) { return expected[size_t(i)]; }, allowed<T>());
  };
  // Rows of 7 elements, and rows of 6 from the second element on.
  Tensor odd = memory.slice(0, 0, count * 7).reshape({count, 7}).slice(1, 0, width);
  check(
      odd, [&](int64_t row, int64_t i) { return x[size_t(row * 7 + i)]; }, half());
  Tensor shifted = memory.slice(0, 1, count * width).reshape({count, width});
  check(
      shifted, [&](int64_t row, int64_t i) { return x[size_t(1 + row * width + i)]; }, half());
  Tensor even = memory.slice(0, 0, count * width).reshape({count, width});
  check(
      even, [&](int64_t row, int64_t i) { return x[size_t(row * width + i)]; }, float());
}

TEST_P(RotaryOps, TensorsOfPositions) {
  // batch x positions x heads x width, each batch at its own positions.
  std::vector<int32_t> positions = {5, 0, 7, 7, 900000, -3};
  auto x = uniform<float>(2 * 3 * 4 * 16);
  auto tensor = input({2, 3, 4, 16}, x);
  auto y = output<float>({2, 3, 4, 16});
  auto positionOf = [&](int64_t row) { return positions[size_t(row / 4)]; };
  auto at = input({2, 3}, positions);
  ops::rotary(stream, tensor, at.reshape({2, 3, 1}), y.tensor());
  std::vector<double> expected = turned(x, 16, positionOf, {});
  expectAll(
      y.result(), [&](int64_t i) { return expected[size_t(i)]; }, allowed<float>());
  // Turned back it is what it was.
  ops::rotaryBackward(stream, y.tensor(), at.reshape({2, 3, 1}), y.tensor());
  expectAll(y.result(), [&](int64_t i) { return x[size_t(i)]; }, {0, 1e-6});
  // One position for all, and a permuted x.
  auto z = output<float>({4, 3, 2, 16});
  ops::rotary(stream, tensor.permute({2, 1, 0, 3}), input({1}, std::vector<int32_t>{77}),
              z.tensor());
  expected = turned(x, 16, [](int64_t) { return 77; }, {});
  expectAll(
      z.result(),
      [&](int64_t i) {
        int64_t head = i / 96, position = i / 32 % 3, batch = i / 16 % 2;
        return expected[size_t(((batch * 3 + position) * 4 + head) * 16 + i % 16)];
      },
      allowed<float>());
}

TEST_P(RotaryOps, FarPositionsAreExact) {
  constexpr int64_t kFar = (1 << 20) - 5, kCount = 6, kPairs = 32;
  auto cosines = output<float>({kCount, kPairs}), sines = output<float>({kCount, kPairs}, 2);
  ops::rotaryTables(stream, kFar, cosines.tensor(), sines.tensor());
  auto angle = [&](int64_t i) {
    return static_cast<long double>(kFar + i / kPairs) *
           std::pow(10000.0L, -static_cast<long double>(i % kPairs) / kPairs);
  };
  expectAll(cosines.result(), [&](int64_t i) { return double(std::cos(angle(i))); }, {0.51, 2e-9});
  expectAll(sines.result(), [&](int64_t i) { return double(std::sin(angle(i))); }, {0.51, 2e-9});
}

/// The gradient of sum(w * rotary(x)) is rotaryBackward(w): as central differences of the reference say.
TEST_P(RotaryOps, GradientsAreDifferences) {
  auto x = uniform<double>(4 * 8), w = uniform<double>(4 * 8, -1, 1, 2);
  auto positionOf = [](int64_t row) { return 10 + row; };
  auto dx = output<double>({4, 8});
  ops::RotaryOptions options{.interleaved = true, .dims = 6};
  ops::rotaryBackward(stream, input({4, 8}, w), 10, dx.tensor(), options);
  auto loss = [&](size_t i, double change) {
    std::vector<double> moved = x;
    moved[i] += change;
    moved = turned(moved, 8, positionOf, options);
    double total = 0;
    for (size_t j = 0; j < w.size(); ++j)
      total += w[j] * moved[j];
    return total;
  };
  expectAll(dx.result(),
            [&](int64_t i) { return (loss(size_t(i), 1e-3) - loss(size_t(i), -1e-3)) / 2e-3; },
            {0, 1e-9});
}

TEST_P(RotaryOps, EmptyAndOneVector) {
  auto none = device().tensor<float>({0, 3, 8});
  ops::rotary(stream, none, 0, none);
  ops::rotary(stream, none, input({3}, std::vector<int32_t>{0, 1, 2}), none);
  auto x = uniform<float>(8);
  auto y = output<float>({8});
  ops::rotary(stream, input({8}, x), 3, y.tensor());
  std::vector<double> expected = turned(x, 8, [](int64_t) { return 3; }, {});
  expectAll(
      y.result(), [&](int64_t i) { return expected[size_t(i)]; }, allowed<float>());
}

TEST_P(RotaryOps, Refusals) {
  auto x = device().tensor<float>({4, 6}), table = device().tensor<float>({4, 2});
  auto y = device().tensor<float>({4, 6});
  expectRefused(ErrorCode::InvalidShape, "rotary: dims is 5, but x is f32 4x6",
                [&] { ops::rotary(stream, x, 0, y, {.dims = 5}); });
  expectRefused(ErrorCode::InvalidShape, "rotate: cosines is f32 4x2, but 3 pairs are turned",
                [&] { ops::rotate(stream, x, table, table, y); });
  expectRefused(ErrorCode::InvalidArgument, "base is 0",
                [&] { ops::rotaryTables(stream, 0, table, y.slice(1, 0, 2), 0); });
  expectRefused(ErrorCode::InvalidArgument, "rotary: positions is f32 4x2; supported dtypes: i32",
                [&] { ops::rotary(stream, x, table, y); });
  expectRefused(ErrorCode::Aliasing, "overlaps", [&] {
    auto memory = device().tensor<float>({28});
    ops::rotary(stream, memory.slice(0, 0, 24).reshape({4, 6}), 0,
                memory.slice(0, 2, 24).reshape({4, 6}));
  });
}

} // namespace
