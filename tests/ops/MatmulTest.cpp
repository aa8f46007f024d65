// matmul: extents round its tiles and at their ends, dtypes, memory orders, epilogues, refusals.
#include "tests/execution/Assembly.h"
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Matmul.h>

using namespace tile;
using namespace tile::test;

namespace {

const bool gate = assembleEverything(Spills::Forbidden);

class MatmulOp : public OnDevice {
protected:
  /// Tolerance per step of K, for inputs in [-1, 1).
  template <class T, class C = float, class Epilogue = ops::detail::NoEpilogue>
  void check(
      int64_t m, int64_t n, int64_t k, double perStep, ops::MatmulOptions options = {},
      bool transposeA = false, bool transposeB = false, Epilogue epilogue = {},
      double (*reference)(double) = [](double sum) { return sum; }) {
    SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) +
                 (transposeA ? " a transposed" : "") + (transposeB ? " b transposed" : ""));
    std::vector<T> a = uniform<T>(m * k, -1, 1, 1), b = uniform<T>(k * n, -1, 1, 2);
    auto deviceA = transposeA ? input({k, m}, a).T() : input({m, k}, a);
    auto deviceB = transposeB ? input({n, k}, b).T() : input({k, n}, b);
    auto c = output<C>({m, n}, 3);
    ops::matmul(stream, deviceA, deviceB, c.tensor(), epilogue, options);
    expectAll(c.result(),
              [&](int64_t i) {
                double sum = 0;
                for (int64_t j = 0; j < k; ++j)
                  sum += exact(a[size_t(transposeA ? j * m + i / n : i / n * k + j)]) *
                         exact(b[size_t(transposeB ? i % n * k + j : j * n + i % n)]);
                return reference(sum);
              },
              {0.51, perStep * double(std::max<int64_t>(k, 1))});
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, MatmulOp, ::testing::ValuesIn(deviceNames()),
                         [](const auto &run) { return testName(run.param); });

TEST_P(MatmulOp, ExtentsRoundTheTiles) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                         {1, 7, 3},
                         {16, 16, 32},
                         {17, 15, 33},
                         {31, 33, 31},
                         {64, 65, 64},
                         {97, 61, 127},
                         {129, 257, 65},
                         {300, 1, 20},
                         {1, 300, 100},
                         {2, 2, 1000}})
    check<half>(m, n, k, 1e-6);
}

TEST_P(MatmulOp, EmptyExtents) {
  check<half>(5, 7, 0, 0);
  check<half>(0, 7, 5, 0);
  check<half>(5, 0, 7, 0);
  check<half>(0, 0, 0, 0);
  check<float>(
      20, 30, 0, 0, {}, false, false, [](Value x) { return x + 3.0f; }, [](double) { return 3.0; });
}

TEST_P(MatmulOp, DtypesAndPrecisions) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{70, 50, 90}, {129, 130, 40}}) {
    check<half, half>(m, n, k, 1e-6);
    check<half, bfloat16>(m, n, k, 1e-6);
    check<bfloat16, bfloat16>(m, n, k, 1e-6);
    check<bfloat16, float>(m, n, k, 1e-6);
    check<float, float>(m, n, k, 2e-7, {.precision = Precision::ieee});
    check<float, float>(m, n, k, 1.1e-3, {.precision = Precision::tf32});
    check<float, float>(m, n, k, 2e-6, {.precision = Precision::tf32x3});
    check<float, half>(m, n, k, 2e-6);
  }
}

TEST_P(MatmulOp, MemoryOrders) {
  for (bool a : {false, true})
    for (bool b : {false, true})
      for (int64_t n : {64, 51}) {
        check<half>(80, n, 72, 1e-6, {}, a, b);
        check<float>(80, n, 72, 1.1e-3, {.precision = Precision::tf32}, a, b);
      }
}

TEST_P(MatmulOp, StridedOperandsAndOutput) {
  auto x = uniform<half>(200 * 100), y = uniform<half>(50 * 80, -1, 1, 2);
  auto a = input({200, 100}, x).withStrides({40, 25}, {300, 2});
  auto b = input({50, 80}, y).slice(0, 5, 25).slice(1, 3, 30);
  auto c = output<float>({30, 40});
  ops::matmul(stream, a, b, c.tensor().T());
  expectAll(c.result(),
            [&](int64_t i) {
              double sum = 0;
              for (int64_t j = 0; j < 25; ++j)
                sum += exact(x[size_t(i % 40 * 300 + j * 2)]) *
                       exact(y[size_t((j + 5) * 80 + 3 + i / 40)]);
              return sum;
            },
            {0, 2.5e-5});
}

TEST_P(MatmulOp, Epilogues) {
  check<half>(
      70, 90, 64, 1e-6, {}, false, false, [](Value x) { return relu(x * 0.5f + 1.0f); },
      [](double x) { return std::fmax(x * 0.5 + 1, 0.0); });
  check<half, half>(
      70, 90, 64, 1e-6, {}, false, true, [](Value x) { return gelu(x); },
      [](double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; });
}

TEST_P(MatmulOp, OverflowOfF16IsInfinity) {
  auto a = input({16, 16}, std::vector<half>(256, half(200))), b = a;
  auto c = output<half>({16, 16});
  ops::matmul(stream, a, b, c.tensor());
  expectAll(c.result(), [](int64_t) { return INFINITY; });
}

TEST_P(MatmulOp, Refusals) {
  auto a = device().tensor<half>({4, 8}), b = device().tensor<half>({9, 5});
  auto good = device().tensor<half>({8, 5}), c = device().tensor<half>({4, 5});
  expectRefused(ErrorCode::InvalidShape, "matmul: a.extent(1) is 8, but b.extent(0) is 9",
                [&] { ops::matmul(stream, a, b, c); });
  expectRefused(ErrorCode::InvalidShape, "matmul: b.extent(1) is 5, but c.extent(1) is 6", [&] {
    ops::matmul(stream, a, good, device().tensor<half>({4, 6}));
  });
  expectRefused(ErrorCode::InvalidArgument, "matmul: a is f16 4x8, but b is f32 8x5", [&] {
    ops::matmul(stream, a, device().tensor<float>({8, 5}), c);
  });
  expectRefused(ErrorCode::InvalidShape, "matmul: a is f16 4x8x1, of rank 3", [&] {
    ops::matmul(stream, device().tensor<half>({4, 8, 1}), good, c);
  });
  expectRefused(ErrorCode::InvalidArgument, "supported dtypes: f16, bf16, f32", [&] {
    ops::matmul(stream, device().tensor<double>({4, 8}), good, c);
  });
  expectRefused(ErrorCode::Aliasing, "c overlaps a", [&] {
    auto square = device().tensor<half>({8, 8});
    ops::matmul(stream, square, good.withStrides({8, 8}, {1, 1}), square);
  });
}

} // namespace
