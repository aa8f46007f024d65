// matmul: extents round its tiles and at their ends, dtypes, memory orders, epilogues, refusals.
#include "tests/execution/Assembly.h"
#include "tests/execution/Harness.h"
#include "tests/ops/ProductReference.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Matmul.h>

using namespace tile;
using namespace tile::test;

namespace {

const bool gate = assembleEverything(Spills::Forbidden, Share::Half);

template <class T> std::vector<double> wide(const std::vector<T> &x) {
  std::vector<double> result;
  for (T value : x)
    result.push_back(exact(value));
  return result;
}

class MatmulOp : public OnDevice {
protected:
  /// Tolerance per step of K, for inputs in [-1, 1).
  template <class T, class C = float, class Epilogue = ops::detail::NoEpilogue, class B = T>
  void check(
      int64_t m, int64_t n, int64_t k, double perStep, ops::MatmulOptions options = {},
      bool transposeA = false, bool transposeB = false, Epilogue epilogue = {},
      double (*reference)(double) = [](double sum) { return sum; }) {
    SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) +
                 (transposeA ? " a transposed" : "") + (transposeB ? " b transposed" : ""));
    std::vector<T> a = uniform<T>(m * k, -1, 1, 1);
    std::vector<B> b = uniform<B>(k * n, -1, 1, 2);
    auto deviceA = transposeA ? input({k, m}, a).T() : input({m, k}, a);
    auto deviceB = transposeB ? input({n, k}, b).T() : input({k, n}, b);
    auto c = output<C>({m, n}, 3);
    if constexpr (std::is_same_v<Epilogue, ops::detail::NoEpilogue>)
      ops::matmul(stream, deviceA, deviceB, c.tensor(), options);
    else
      ops::matmul(stream, deviceA, deviceB, c.tensor(), epilogue, options);
    std::vector<double> sums = dotOf({wide(a), transposeA ? 1 : k, transposeA ? m : 1},
                                     {wide(b), transposeB ? 1 : n, transposeB ? k : 1}, m, n, k);
    expectAll(c.result(), [&](int64_t i) { return reference(sums[size_t(i)]); },
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

// Of few rows columns of c are the rows of the tensor core's instructions, where it has such.
TEST_P(MatmulOp, FewRows) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 512, 136},
                         {5, 200, 264},
                         {16, 64, 128},
                         {40, 328, 72},
                         {128, 136, 200},
                         {200, 392, 264}})
    for (bool transposeB : {false, true})
      check<half>(m, n, k, 1e-6, {}, false, transposeB);
  check<half>(24, 264, 80, 1e-6, {}, true, false);
  check<half, half>(24, 264, 80, 1e-3);
}

// Few rows by weights that lie along K: each warp has parts of K of its own, which end anywhere in a step.
TEST_P(MatmulOp, FewRowsByWeightsAlongK) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{2, 64, 256},
                         {3, 100, 1000},
                         {8, 72, 2056},
                         {5, 80, 8},
                         {7, 66, 1004},
                         {9, 64, 256}})
    check<bfloat16>(m, n, k, 1e-6, {}, false, true);
  check<half, half>(4, 168, 1544, 1e-3, {}, false, true);
  check<half>(96, 5, 776, 1e-6, {}, false, true); // the vectors are b's columns
  check<half>(
      6, 90, 336, 1e-6, {}, false, true, [](Value x) { return relu(x * 0.5f + 1.0f); },
      [](double x) { return std::fmax(x * 0.5 + 1, 0.0); });
}

// Of a deep K two blocks of a cluster have a part each; where blocks do not see each other's memory one has all.
TEST_P(MatmulOp, FewRowsOfDeepProducts) {
  check<half>(16, 200, 8200, 1e-6, {}, false, true);
  check<bfloat16>(9, 128, 8192, 1e-6, {}, false, false);
  check<half, half>(12, 72, 8256, 1e-3, {}, false, true);
  check<half>(
      16, 136, 8192, 1e-6, {}, false, true, [](Value x) { return relu(x * 0.5f + 1.0f); },
      [](double x) { return std::fmax(x * 0.5 + 1, 0.0); });
}

// Few tiles with a deep K are shared by programs, of which the one that comes last stores the sum.
TEST_P(MatmulOp, FewTilesOfDeepProducts) {
  check<half>(136, 144, 8192, 1e-6, {}, false, true);
  check<bfloat16, bfloat16>(130, 72, 2100, 1e-2);
  check<half>(
      72, 136, 4104, 1e-6, {}, true, false, [](Value x) { return relu(x * 0.5f + 1.0f); },
      [](double x) { return std::fmax(x * 0.5 + 1, 0.0); });
}

// Of a large result with few steps a tile two teams multiply and store in turn, where groups of warps multiply.
TEST_P(MatmulOp, FewStepsOfLargeResults) {
  constexpr int64_t kRows = 4100, kColumns = 4104, kDepth = 136, kChecked = 3001;
  auto a = uniform<half>(kRows * kDepth, -1, 1, 1), b = uniform<half>(kDepth * kColumns, -1, 1, 2);
  auto deviceA = input({kRows, kDepth}, a), deviceB = input({kDepth, kColumns}, b);
  TensorOf<half> c = stream.tensor<half>({kRows, kColumns});
  ops::matmul(stream, deviceA, deviceB, c);
  std::vector<half> result = c.download();
  for (int64_t i = 0; i < kChecked; ++i) {
    int64_t at = i * (kRows * kColumns - 1) / (kChecked - 1), row = at / kColumns;
    double sum = 0;
    for (int64_t k = 0; k < kDepth; ++k)
      sum += exact(a[size_t(row * kDepth + k)]) * exact(b[size_t(k * kColumns + at % kColumns)]);
    ASSERT_NEAR(exact(result[size_t(at)]), sum, 1e-3 * std::max(1.0, std::abs(sum)))
        << "row " << row << ", column " << at % kColumns;
  }
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

// Every 8 of K the sum is rounded to f16 at most once: by half a unit in the last place, 2^-11 of no more than the sum of |a| |b|.
TEST_P(MatmulOp, SumsOfF16StayWithinTheirBound) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{129, 70, 1040}, {33, 200, 72}, {64, 64, 4096}}) {
    SCOPED_TRACE(k);
    auto a = uniform<half>(m * k, -1, 1, 1), b = uniform<half>(k * n, -1, 1, 2);
    auto c = output<float>({m, n}, 3);
    ops::matmul(stream, input({m, k}, a), input({k, n}, b), c.tensor(), {.accumulator = f16});
    std::vector<double> wideA = wide(a), wideB = wide(b), sizeA, sizeB;
    for (double x : wideA)
      sizeA.push_back(std::fabs(x));
    for (double x : wideB)
      sizeB.push_back(std::fabs(x));
    std::vector<double> sums = dotOf({wideA, k, 1}, {wideB, n, 1}, m, n, k),
                        sizes = dotOf({sizeA, k, 1}, {sizeB, n, 1}, m, n, k);
    std::vector<float> got = c.result();
    int64_t beyond = 0, wider = 0;
    double squares = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      double error = std::fabs(double(got[i]) - sums[i]);
      beyond += error > double(k) / 8 * 0x1p-11 * sizes[i];
      wider += float(half(got[i])) != got[i];
      squares += error * error / (sizes[i] * sizes[i]);
    }
    EXPECT_EQ(beyond, 0) << "further from the sum than the header says";
    if (k < 2048) // programs share a longer K, and add up their sums in f32
      EXPECT_EQ(wider, 0) << "no f16: the sums were not kept in it";
    EXPECT_LE(std::sqrt(squares / double(got.size())), std::sqrt(double(k) / 8) * 0x1p-11);
  }
}

TEST_P(MatmulOp, SumsOfF16OverflowToInfinity) {
  constexpr int64_t kSide = 64, kDepth = 512;
  std::vector<half> factors(size_t(kSide * kDepth), half(16.0f)); // 512 * 256 = 131072
  auto a = input({kSide, kDepth}, factors), b = input({kDepth, kSide}, factors);
  for (DType accumulator : {any, f32, f16}) {
    auto c = output<float>({kSide, kSide}, 3);
    ops::matmul(stream, a, b, c.tensor(), {.accumulator = accumulator});
    float expected = accumulator == f16 ? std::numeric_limits<float>::infinity() : 131072.0f;
    for (float x : c.result())
      ASSERT_EQ(x, expected) << nameOf(accumulator);
  }
}

// An epilogue works in f32, batches and vectors go other ways, and 8-bit floats are widened to f16.
TEST_P(MatmulOp, SumsOfF16InOtherKernels) {
  const ops::MatmulOptions options{.accumulator = f16};
  constexpr double kPerStep = 0x1p-11;
  check<half>(
      70, 90, 64, kPerStep, options, false, true, [](Value x) { return relu(x * 0.5f + 1.0f); },
      [](double x) { return std::fmax(x * 0.5 + 1, 0.0); });
  check<half, half>(5, 80, 264, kPerStep, options, false, true);
  check<half>(300, 1, 20, kPerStep, options);
  check<float8_e4m3>(70, 50, 96, kPerStep, options, false, true);
  check<half>(16, 200, 8200, kPerStep, options, false, true);
}

// Rows of multiples of 16 bytes, for the copy engine, and others; few rows and columns, and b by rows, not by wgmma.
TEST_P(MatmulOp, Float8) {
  using None = ops::detail::NoEpilogue;
  for (bool isFast : {false, true}) {
    const ops::MatmulOptions options{.fastAccumulation = isFast};
    for (auto [m, n, k] : {std::array<int64_t, 3>{70, 50, 96}, {129, 130, 400}, {65, 257, 1033}})
      check<float8_e4m3>(m, n, k, 1e-6, options, false, true);
    check<float8_e5m2, half>(80, 150, 272, 1e-6, options, false, true);
    check<float8_e4m3, bfloat16, None, float8_e5m2>(90, 70, 144, 1e-6, options, false, true);
  }
  check<float8_e5m2, float, None, float8_e4m3>(1, 70, 144, 1e-6, {}, false, true);
  for (bool a : {false, true})
    check<float8_e4m3>(70, 90, 80, 1e-6, {}, a, false);
  check<float8_e4m3, bfloat16>(
      70, 90, 64, 1e-6, {}, false, true, [](Value x) { return relu(x * 0.5f + 1.0f); },
      [](double x) { return std::fmax(x * 0.5 + 1, 0.0); });
}

TEST_P(MatmulOp, ResultsOfFloat8AreFloats) {
  auto a = uniform<float8_e4m3>(3 * 40), b = uniform<float8_e4m3>(5 * 40, -1, 1, 2);
  Tensor c = ops::matmul(stream, input({3, 40}, a), input({5, 40}, b).T());
  ASSERT_EQ(c.dtype(), f32);
  std::vector<float> sums(15);
  c.downloadBytes(sums.data(), sums.size() * sizeof(float));
  expectAll(sums,
            [&](int64_t i) {
              double sum = 0;
              for (int64_t k = 0; k < 40; ++k)
                sum += exact(a[size_t(i / 5 * 40 + k)]) * exact(b[size_t(i % 5 * 40 + k)]);
              return sum;
            },
            {0.51, 4e-5});
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

/// A product in batches: extents and strides of each operand, in elements of memory of their own.
template <class T> struct Batched {
  std::vector<int64_t> extents, strides;
  std::vector<T> memory;
  TensorOf<T> tensor;

  double at(const std::vector<int64_t> &batch, int64_t row, int64_t column) const {
    int64_t offset = row * strides[strides.size() - 2] + column * strides.back();
    int own = int(extents.size()) - 2, all = int(batch.size());
    for (int dim = 0; dim < own; ++dim)
      if (extents[size_t(dim)] > 1)
        offset += batch[size_t(dim + all - own)] * strides[size_t(dim)];
    return double(exact(memory[size_t(offset)]));
  }
};

TEST_P(MatmulOp, BatchesBroadcastInAnyMemoryOrder) {
  struct Case {
    std::vector<int64_t> a, b, c;    // extents
    std::vector<int64_t> sa, sb, sc; // strides
  };
  for (const Case &x : {
           Case{{3, 20, 17}, {3, 17, 30}, {3, 20, 30}, {340, 17, 1}, {510, 30, 1}, {600, 30, 1}},
           // one b for all: a tall matrix, and with gaps between the batches not
           {{3, 20, 17}, {17, 30}, {3, 20, 30}, {340, 17, 1}, {30, 1}, {600, 30, 1}},
           {{3, 20, 17}, {17, 30}, {3, 20, 30}, {400, 17, 1}, {1, 17}, {700, 30, 1}},
           // one a for all
           {{1, 20, 17}, {3, 17, 30}, {3, 20, 30}, {0, 17, 1}, {510, 1, 17}, {600, 30, 1}},
           // heads between rows, as in attention
           {{2, 3, 8, 16},
            {2, 3, 16, 9},
            {2, 3, 8, 9},
            {384, 16, 48, 1},
            {432, 16, 1, 48},
            {216, 9, 27, 1}},
           // each operand broadcast along another dimension
           {{2, 1, 8, 16}, {3, 16, 9}, {2, 3, 8, 9}, {128, 5, 16, 1}, {144, 9, 1}, {216, 72, 9, 1}},
           // three batch dimensions that do not merge
           {{2, 3, 2, 5, 7},
            {2, 3, 2, 7, 4},
            {2, 3, 2, 5, 4},
            {35, 70, 210, 7, 1},
            {168, 56, 28, 4, 1},
            {20, 40, 120, 4, 1}},
       }) {
    SCOPED_TRACE("a " + ::testing::PrintToString(x.a) + " b " + ::testing::PrintToString(x.b));
    auto make = [&](auto extents, auto strides, unsigned seed) {
      Batched<half> operand{extents, strides, uniform<half>(1000, -1, 1, seed), {}};
      operand.memory = uniform<half>(2000, -1, 1, seed);
      operand.tensor = input({2000}, operand.memory).withStrides(extents, strides);
      return operand;
    };
    auto a = make(x.a, x.sa, 1), b = make(x.b, x.sb, 2);
    auto memory = output<float>({2100});
    ops::matmul(stream, a.tensor, b.tensor, memory.tensor().withStrides(x.c, x.sc));
    std::vector<float> expected(2100, std::bit_cast<float>(0xA5A5A5A5)), results = memory.result();
    size_t batchDims = x.c.size() - 2;
    std::vector<int64_t> batch(batchDims);
    for (;;) {
      int64_t from = 0;
      for (size_t dim = 0; dim < batchDims; ++dim)
        from += batch[dim] * x.sc[dim];
      for (int64_t m = 0; m < x.c[batchDims]; ++m)
        for (int64_t n = 0; n < x.c.back(); ++n) {
          double sum = 0;
          for (int64_t k = 0; k < x.a.back(); ++k)
            sum += a.at(batch, m, k) * b.at(batch, k, n);
          expected[size_t(from + m * x.sc[batchDims] + n * x.sc.back())] = float(sum);
        }
      size_t dim = batchDims;
      while (dim-- > 0 && ++batch[dim] == x.c[dim])
        batch[dim] = 0;
      if (dim == size_t(-1))
        break;
    }
    expectAll(results, [&](int64_t i) { return expected[size_t(i)]; }, {2, 2e-5});
  }
}

TEST_P(MatmulOp, EpiloguesTakeTensorsAndNumbers) {
  const int64_t M = 70, N = 50, K = 40, B = 2;
  auto x = uniform<half>(B * M * K), w = uniform<half>(K * N, -1, 1, 2);
  auto bias = uniform<float>(N, -1, 1, 3);
  auto residual = uniform<half>(B * M * N, -1, 1, 4);
  auto scale = uniform<float>(B * M, -1, 1, 5);
  auto c = output<half>({B, M, N});
  auto fused = [](Value sums, Value bias, Value residual, Value scale, Value factor) {
    return relu((sums + bias) * factor) * scale + residual;
  };
  for (float factor : {0.5f, -2.0f}) {
    ops::matmul(stream, input({B, M, K}, x), input({K, N}, w), c.tensor(),
                ops::epilogue(fused, input({N}, bias), input({B, M, N}, residual),
                              input({B, M, 1}, scale), factor));
    expectAll(c.result(),
              [&](int64_t i) {
                double sum = 0;
                for (int64_t k = 0; k < K; ++k)
                  sum += exact(x[size_t(i / N * K + k)]) * exact(w[size_t(k * N + i % N)]);
                return std::fmax((sum + bias[size_t(i % N)]) * factor, 0.0) * scale[size_t(i / N)] +
                       exact(residual[size_t(i)]);
              },
              {0.51, 1e-4});
  }
}

TEST_P(MatmulOp, NewTensorsAndLinearLayers) {
  auto x = uniform<float>(2 * 9 * 20), w = uniform<float>(30 * 20, -1, 1, 2),
       bias = uniform<float>(30, -1, 1, 3);
  auto deviceX = input({2, 9, 20}, x), deviceW = input({30, 20}, w);
  auto reference = [&](int64_t i) {
    double sum = 0;
    for (int64_t k = 0; k < 20; ++k)
      sum += double(x[size_t(i / 30 * 20 + k)]) * w[size_t(i % 30 * 20 + k)];
    return sum;
  };
  Tensor product = ops::matmul(stream, deviceX, deviceW.T());
  EXPECT_EQ(product.rank(), 3);
  expectAll(TensorOf<float>(product).download(), reference, {1, 1e-5});
  Tensor layer = ops::linear(stream, deviceX, deviceW, input({30}, bias));
  expectAll(TensorOf<float>(layer).download(),
            [&](int64_t i) { return reference(i) + bias[size_t(i % 30)]; }, {1, 1e-5});
  Tensor row = ops::linear(stream, deviceX.slice(0, 0, 1).slice(1, 3, 1).reshape({20}), deviceW);
  EXPECT_EQ(row.rank(), 1);
  expectAll(TensorOf<float>(row).download(), [&](int64_t i) { return reference(3 * 30 + i); },
            {1, 1e-5});
}

TEST_P(MatmulOp, DoublesAreExact) {
  check<double, double>(37, 41, 50, 1e-15);
  check<double, double>(70, 20, 33, 1e-15, {}, true, true);
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
  auto wide = device().tensor<bfloat16>({4, 8}), other = device().tensor<bfloat16>({8, 5});
  expectRefused(ErrorCode::InvalidArgument,
                "matmul: options.accumulator is f16, but products of bf16 are summed in f32",
                [&] { ops::matmul(stream, wide, other, c, {.accumulator = f16}); });
  expectRefused(ErrorCode::InvalidArgument,
                "matmul: options.accumulator is bf16, but products of f16 are summed in f32 or f16",
                [&] { ops::matmul(stream, a, good, c, {.accumulator = bf16}); });
  expectRefused(ErrorCode::InvalidShape, "matmul: b.extent(1) is 5, but c.extent(1) is 6", [&] {
    ops::matmul(stream, a, good, device().tensor<half>({4, 6}));
  });
  expectRefused(ErrorCode::InvalidArgument, "matmul: a is f16 4x8, but b is f32 8x5", [&] {
    ops::matmul(stream, a, device().tensor<float>({8, 5}), c);
  });
  expectRefused(ErrorCode::InvalidShape, "matmul: a is f16 8, of rank 1; rank 2 or more is needed",
                [&] { ops::matmul(stream, device().tensor<half>({8}), good, c); });
  expectRefused(ErrorCode::InvalidArgument, "supported dtypes: f16, bf16, f32, f64", [&] {
    ops::matmul(stream, device().tensor<int32_t>({4, 8}), good, c);
  });
  expectRefused(ErrorCode::InvalidShape,
                "a is f16 2x4x8, but c is f16 3x4x5: batch dimensions, counted from the last", [&] {
                  ops::matmul(stream, device().tensor<half>({2, 4, 8}), good,
                              device().tensor<half>({3, 4, 5}));
                });
  expectRefused(ErrorCode::InvalidShape, "x0 is f16 4, but c is f16 4x5", [&] {
    ops::matmul(stream, a, good, c,
                ops::epilogue([](Value x, Value y) { return x + y; }, device().tensor<half>({4})));
  });
  expectRefused(ErrorCode::InvalidShape, "linear: y.extent(1) is 5, but weight.extent(0) is 8",
                [&] {
                  ops::linear(stream, b, good, {}, device().tensor<half>({9, 5}));
                });
  expectRefused(ErrorCode::Aliasing, "c overlaps a", [&] {
    auto square = device().tensor<half>({8, 8});
    ops::matmul(stream, square, good.withStrides({8, 8}, {1, 1}), square);
  });
}

} // namespace
