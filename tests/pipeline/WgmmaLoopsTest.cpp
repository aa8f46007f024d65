// Products that sm_90a computes by wgmma: sizes whose instructions differ, both orders in memory of the operands, tiles that
// reach over the edges, and operands that come from before the loop. The same kernels run as sm_80 too, by other ways.
#include "tests/pipeline/ReferenceProduct.h"
#include "tests/pipeline/StagedLoops.h"

#include <regex>

namespace tile::test {
namespace {

const auto &product() {
  static const auto program =
      kernel("wgmma_product", [](In<any, 2> a, In<any, 2> b, Out<any, 2> d, Const rows,
                                 Const columns, Const depth, Const warps, ConstOf<bool> isFast) {
        hint::warps(warps);
        auto [m, n] = grid2d(d, {rows, columns});
        auto sums = var(zeros(d.dtype(), {rows, columns}));
        for (auto k : range(cdiv(a.dim(1), depth)))
          sums = dot(a.tile({rows, depth})(m, k), b.tile({depth, columns})(k, n), sums,
                     {.precision = Precision::tf32, .fast_accumulation = isFast});
        d.tile({rows, columns})(m, n) = sums;
      });
  return program;
}

struct Size {
  int m, n, k, warps;
};

/// How rows or columns of an operand lie in memory.
struct Order {
  bool byColumns = false;
  int64_t padding = 0; ///< elements between one's end and the next's begin
};

class WgmmaLoops : public StagedLoops {
protected:
  template <class T>
  TensorOf<T> matrix(const std::vector<T> &values, int64_t rows, int64_t columns, Order order) {
    int64_t pitch = (order.byColumns ? rows : columns) + order.padding;
    std::vector<T> memory(static_cast<size_t>(pitch * (order.byColumns ? columns : rows)));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        memory[static_cast<size_t>(order.byColumns ? j * pitch + i : i * pitch + j)] =
            values[static_cast<size_t>(i * columns + j)];
    return input<T>({static_cast<int64_t>(memory.size())}, memory)
        .withStrides({rows, columns}, {order.byColumns ? 1 : pitch, order.byColumns ? pitch : 1});
  }

  /// The product of matrices of more than one tile each way, the last of which are cut by `cut` elements.
  template <class T, class Sum, class Right = T>
  void multiply(Size size, Order orderA, Order orderB, int cut, bool isFast = false) {
    SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + " " + nameOf(dtypeOf<Right>) + " " +
                 std::to_string(size.m) + "x" + std::to_string(size.n) + "x" +
                 std::to_string(size.k) + ", " + std::to_string(size.warps) +
                 " warps, by columns " + std::to_string(orderA.byColumns) +
                 std::to_string(orderB.byColumns) + ", padding " + std::to_string(orderB.padding) +
                 ", cut " + std::to_string(cut));
    int64_t m = size.m - cut, n = 2 * size.n - cut, k = 3 * size.k - cut;
    auto a = smallIntegers<T>(m * k, 1);
    auto b = smallIntegers<Right>(k * n, 2);
    auto left = matrix(a, m, k, orderA);
    auto right = matrix(b, k, n, orderB);
    std::vector<Sum> zeros(static_cast<size_t>(m * n));
    auto sums = input<Sum>({m, n}, zeros);
    ReferenceProduct expected(a, b, k, n);
    auto program = product().consts(size.m, size.n, size.k, size.warps, isFast);
    if (isHopper())
      EXPECT_TRUE(has(hopperPtxOf(program, left, right, sums), "wgmma.mma_async"));
    runUnderEverySchedule(
        program, 3, {Written(sums, zeros)}, [&] { expectAll(sums, expected); }, left, right, sums);
  }
};

// Cut by whole vectors, which are copied asynchronously. Two blocks of rows a group, groups side by side, an odd number of
// columns; at last more columns than an instruction has.
TEST_P(WgmmaLoops, EverySize) {
  for (Size size :
       {Size{64, 16, 16, 4}, Size{128, 32, 32, 4}, Size{128, 64, 64, 8}, Size{64, 64, 128, 8},
        Size{64, 48, 32, 4}, Size{192, 32, 48, 4}, Size{64, 96, 32, 8}, Size{256, 32, 64, 16}})
    multiply<half, float>(size, {}, {}, 8);
  // By mma.sync its sums and factors are more than a thread has registers.
  if (GetParam() == "sm_90a")
    multiply<half, float>({64, 320, 16, 4}, {}, {true}, 8);
}

TEST_P(WgmmaLoops, EveryOrderInMemory) {
  for (bool a : {false, true})
    for (bool b : {false, true})
      for (int64_t padding : {0, 5, 8})
        multiply<bfloat16, float>({64, 32, 64, 4}, {a, padding}, {b, padding}, 0);
}

// The instructions take them along K alone, whatever the width of the copies.
TEST_P(WgmmaLoops, Integers) {
  for (int64_t padding : {0, 5, 16})
    for (Size size : {Size{64, 16, 32, 4}, Size{128, 32, 64, 8}, Size{64, 32, 64, 4}})
      for (int cut : {0, 3})
        multiply<int8_t, int32_t>(size, {false, padding}, {true, padding}, cut);
}

// As the integers. A step has one run of K, which is added up in f32, or several.
TEST_P(WgmmaLoops, Float8) {
  for (Size size :
       {Size{64, 16, 32, 4}, Size{128, 32, 128, 8}, Size{64, 32, 160, 4}, Size{64, 16, 384, 4}})
    multiply<float8_e4m3, float>(size, {false, 16}, {true, 0}, 16);
  multiply<float8_e5m2, float>({64, 32, 64, 4}, {false, 5}, {true, 3}, 3);
  multiply<float8_e4m3, float, float8_e5m2>({64, 32, 128, 4}, {}, {true, 16}, 0);
  multiply<float8_e5m2, float, float8_e4m3>({64, 32, 256, 8}, {}, {true, 16}, 0);
}

TEST_P(WgmmaLoops, Float8WithFastAccumulation) {
  for (Size size : {Size{128, 32, 128, 8}, Size{64, 16, 256, 4}})
    multiply<float8_e4m3, float>(size, {false, 16}, {true, 0}, 16, /*isFast=*/true);
  multiply<float8_e5m2, float, float8_e4m3>({64, 32, 64, 4}, {}, {true, 5}, 3, /*isFast=*/true);
}

// Tiles one after the other in one loop, which begins each with new sums, with a warp that loads and without.
TEST_P(WgmmaLoops, Float8OfSeveralTiles) {
  static const auto program = kernel("float8_tiles", [](In<e4m3, 2> a, In<e4m3, 2> b, Out<f32, 2> d,
                                                        Const depth, ConstOf<bool> isSpecialized) {
    constexpr int kRows = 64, kColumns = 16;
    hint::warps(4);
    Value columns = cdiv(d.dim(1), kColumns);
    for (auto number : range(cdiv(d.dim(0), kRows) * columns).flatten()) {
      Value m = number / columns, n = number % columns;
      auto sums = var(zeros(f32, {kRows, kColumns}));
      auto steps = range(cdiv(a.dim(1), depth)).stages(3);
      for (auto k : isSpecialized ? steps.warp_specialize() : steps)
        sums = dot(a.tile({kRows, depth})(m, k), b.tile({depth, kColumns})(k, n), sums);
      d.tile({kRows, kColumns})(m, n) = sums;
    }
  });
  constexpr int64_t kM = 128, kN = 48, kK = 512;
  auto a = smallIntegers<float8_e4m3>(kM * kK, 1), b = smallIntegers<float8_e4m3>(kK * kN, 2);
  auto left = input<float8_e4m3>({kM, kK}, a);
  auto right = matrix(b, kK, kN, {.byColumns = true});
  std::vector<float> zeros(kM * kN);
  auto sums = input<float>({kM, kN}, zeros);
  ReferenceProduct expected(a, b, kK, kN);
  for (int depth : {128, 256})
    for (bool isSpecialized : {false, true})
      runUnderEverySchedule(
          program.consts(depth, isSpecialized).grid(1), 3, {Written(sums, zeros)},
          [&] { expectAll(sums, expected); }, left, right, sums);
}

// As the tensor core sums them: of K equal numbers, what it cuts off of a long sum is lost, unless runs are added up in f32.
TEST_P(WgmmaLoops, Float8SumsKeepTheirBits) {
  constexpr int64_t kRows = 64, kColumns = 16, kDepth = 2048;
  Random random(1);
  auto numbers = [&](int64_t count) {
    std::vector<float8_e4m3> values(static_cast<size_t>(count));
    for (float8_e4m3 &value : values)
      value = float8_e4m3(static_cast<float>(random.uniform(0.5, 1.5)));
    return values;
  };
  auto a = numbers(kRows * kDepth), b = numbers(kDepth * kColumns);
  auto left = input<float8_e4m3>({kRows, kDepth}, a);
  auto right = matrix(b, kDepth, kColumns, {true});
  // The mean of the sums over that of the exact ones.
  auto share = [&](bool isFast) {
    std::vector<float> zeros(kRows * kColumns);
    auto sums = input<float>({kRows, kColumns}, zeros);
    runInModel("sums", product().consts(kRows, kColumns, 128, 4, isFast), left, right, sums);
    double found = 0, exactly = 0;
    std::vector<float> results = sums.download();
    for (int64_t i = 0; i < kRows * kColumns; ++i) {
      found += results[static_cast<size_t>(i)];
      for (int64_t k = 0; k < kDepth; ++k)
        exactly += exact(a[static_cast<size_t>(i / kColumns * kDepth + k)]) *
                   exact(b[static_cast<size_t>(k * kColumns + i % kColumns)]);
    }
    return found / exactly;
  };
  EXPECT_NEAR(share(false), 1, 1.5e-3);
  if (GetParam() == "sm_90a")
    EXPECT_NEAR(share(true), 0.97, 0.015); // 3 % are lost
}

// The copy engine rounds them, along K alone, and one group of warps or several multiply.
TEST_P(WgmmaLoops, Tf32) {
  for (Size size : {Size{64, 16, 32, 4}, Size{128, 32, 16, 8}, Size{64, 64, 8, 8}})
    for (int cut : {0, 4})
      multiply<float, float>(size, {false, 4}, {true, 0}, cut);
}

// To nearest: to cut them off would lose 3 * 2^-12 of a factor. The sums are exact.
TEST_P(WgmmaLoops, Tf32IsRounded) {
  constexpr int64_t kRows = 64, kColumns = 16, kDepth = 96;
  constexpr float kBetween = 1 + 0x3p-12f;
  for (auto [x, y] : {std::pair(kBetween, 1.0f), {-1.0f, kBetween}}) {
    std::vector<float> zeros(kRows * kColumns);
    auto left = input<float>({kRows, kDepth}, std::vector<float>(kRows * kDepth, x));
    auto right =
        matrix(std::vector<float>(kDepth * kColumns, y), kDepth, kColumns, {.byColumns = true});
    auto sums = input<float>({kRows, kColumns}, zeros);
    double expected = (x > 0 ? 1 : -1) * double(kDepth) * (1 + 0x1p-10);
    runUnderEverySchedule(
        product().consts(kRows, kColumns, 32, 4, false), 3, {Written(sums, zeros)},
        [&] { expectAll(sums, [&](int64_t) { return expected; }); }, left, right, sums);
  }
}

// The left factor is computed: in the loop, so that it stays in registers, and before it, so that it is put to shared
// memory once.
TEST_P(WgmmaLoops, ComputedLeftFactors) {
  static const auto program =
      kernel("computed_factors", [](In<any, 2> a, In<any, 2> b, Out<any, 2> d, Const rows,
                                    Const columns, Const depth, Const warps) {
        hint::warps(warps);
        auto [m, n] = grid2d(d, {rows, columns});
        auto sums = var(zeros(d.dtype(), {rows, columns}));
        Value first = a.tile({rows, depth})(m, 0) * 2;
        for (auto k : range(cdiv(a.dim(1), depth)).stages(3)) {
          Value right = b.tile({depth, columns})(k, n);
          sums = dot(a.tile({rows, depth})(m, k) + 1, right, sums);
          sums = dot(first, right, sums);
        }
        d.tile({rows, columns})(m, n) = sums;
      });
  auto multiplyComputed = [&]<class T>(Size size, T) {
    SCOPED_TRACE(std::to_string(size.m) + "x" + std::to_string(size.n) + "x" +
                 std::to_string(size.k) + ", " + std::to_string(size.warps) + " warps");
    int64_t m = size.m, n = 2 * size.n, k = 3 * size.k;
    auto a = smallIntegers<T>(m * k, 1), b = smallIntegers<T>(k * n, 2);
    std::vector<float> zeros(static_cast<size_t>(m * n));
    auto sums = input<float>({m, n}, zeros);
    auto expected = [&](int64_t i) {
      auto left = [&](int64_t l) { return exact(a[static_cast<size_t>(i / n * k + l)]); };
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += (left(l) + 1 + 2 * left(l % size.k)) * exact(b[static_cast<size_t>(l * n + i % n)]);
      return sum;
    };
    auto launcher = program.consts(size.m, size.n, size.k, size.warps);
    auto left = input<T>({m, k}, a), right = matrix(b, k, n, {.byColumns = sizeof(T) == 1});
    if (isHopper()) {
      std::string ptx = hopperPtxOf(launcher, left, right, sums);
      EXPECT_TRUE(has(ptx, "}, a, b, add")) << "first";
      EXPECT_TRUE(
          std::regex_search(ptx, std::regex(R"(wgmma\.mma_async.*\}, \{w\d+, .*\}, b, add)")));
    }
    runUnderEverySchedule(
        launcher, 3, {Written(sums, zeros)}, [&] { expectAll(sums, expected); }, left, right, sums);
  };
  for (Size size : {Size{64, 16, 16, 4}, Size{128, 32, 64, 4}, Size{128, 64, 32, 8},
                    Size{64, 64, 64, 8}, Size{64, 48, 48, 4}})
    multiplyComputed(size, half());
  multiplyComputed(Size{128, 32, 32, 4}, bfloat16());
  multiplyComputed(Size{128, 32, 64, 4}, float8_e4m3());
}

// What one product takes from registers is put to shared memory for the next while the first may still be under way: its
// registers are its own.
TEST_P(WgmmaLoops, FactorsOfTwoProducts) {
  static const auto program =
      kernel("factors_of_two", [](In<any, 2> a, In<any, 2> b, In<any, 2> c, Out<any, 2> d,
                                  Out<any, 2> e, Const side) {
        hint::warps(4);
        auto first = var(zeros(f32, {side, side})), second = var(zeros(f32, {side, side}));
        for (auto k : range(cdiv(a.dim(1), side)).stages(2)) {
          Value right = b.tile({side, side})(k, 0);
          Value factor = cast(a.dtype(), dot(a.tile({side, side})(0, k), right));
          first = dot(factor, right, first);
          second = dot(c.tile({side, side})(0, k), factor, second);
        }
        d.tile({side, side})(0, 0) = first;
        e.tile({side, side})(0, 0) = second;
      });
  constexpr int64_t kSide = 64, kSteps = 3, kDepth = kSide * kSteps;
  auto a = smallIntegers<half>(kSide * kDepth, 1), b = smallIntegers<half>(kDepth * kSide, 2),
       c = smallIntegers<half>(kSide * kDepth, 3);
  std::vector<float> before(kSide * kSide);
  auto d = input<float>({kSide, kSide}, before), e = input<float>({kSide, kSide}, before);
  auto at = [](const std::vector<half> &x, int64_t i) { return exact(x[static_cast<size_t>(i)]); };
  std::vector<double> factors; // of each step, row by row
  for (int64_t i = 0; i < kSteps * kSide * kSide; ++i) {
    int64_t from = i / (kSide * kSide) * kSide, row = i / kSide % kSide;
    factors.push_back(0);
    for (int64_t k = from; k < from + kSide; ++k)
      factors.back() += at(a, row * kDepth + k) * at(b, k * kSide + i % kSide);
  }
  auto factor = [&](int64_t step, int64_t row, int64_t column) {
    return factors[static_cast<size_t>((step * kSide + row) * kSide + column)];
  };
  auto first = [&](int64_t i) {
    double sum = 0;
    for (int64_t k = 0; k < kDepth; ++k)
      sum += factor(k / kSide, i / kSide, k % kSide) * at(b, k * kSide + i % kSide);
    return sum;
  };
  auto second = [&](int64_t i) {
    double sum = 0;
    for (int64_t k = 0; k < kDepth; ++k)
      sum += at(c, i / kSide * kDepth + k) * factor(k / kSide, k % kSide, i % kSide);
    return sum;
  };
  runUnderEverySchedule(
      program.consts(int{kSide}).grid(1), 3, {Written(d, before), Written(e, before)},
      [&] { expectAll(d, first), expectAll(e, second); }, input<half>({kSide, kDepth}, a),
      input<half>({kDepth, kSide}, b), input<half>({kSide, kDepth}, c), d, e);
}

STAGED_LOOPS_SUITE(WgmmaLoops);

} // namespace
} // namespace tile::test
