// Results of products in 16 bits, which the copy engine of sm_90a stores part after part: at the ends of views of all memory
// orders, outside them, again and again to one place, and behind an epilogue. As sm_80 the same kernels store by vectors.
#include "tests/pipeline/StagedLoops.h"

namespace tile::test {
namespace {

constexpr int kRows = 64, kDepth = 16;

/// Element (i, j) of a matrix in a list of values, row-major.
double at(const std::vector<half> &values, int64_t columns, int64_t i, int64_t j) {
  return exact(values[static_cast<size_t>(i * columns + j)]);
}

/// What tiles of three parts of 64 columns are computed from.
struct Factors {
  int64_t m, n, k;
  std::vector<half> a = smallIntegers<half>(m * k, 1), b = smallIntegers<half>(k * n, 2);

  double product(int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t l = 0; l < k; ++l)
      sum += at(a, k, i, l) * at(b, n, l, j);
    return sum;
  }
};

constexpr int64_t kWidth = 32; ///< of K, whole chunks of 16 bytes

class DotStores : public StagedLoops {
protected:
  template <class Launcher, class... X>
  static bool isByTma(const Launcher &launcher, const X &...tensors) {
    return hopperPtxOf(launcher, tensors...).find("d.global.shared::cta") != std::string::npos;
  }

  /// d begins as these values, of which an untouched one is seen.
  static std::vector<half> before(int64_t count) { return smallIntegers<half>(count, 9); }

  template <class Launcher, class View>
  void run(const Launcher &launcher, const Factors &factors, const View &d, TensorOf<half> memory,
           const std::vector<half> &initial, const std::function<double(int64_t)> &expected) {
    auto a = input<half>({factors.m, factors.k}, factors.a),
         b = input<half>({factors.k, factors.n}, factors.b);
    runUnderEverySchedule(
        launcher, 3, {Written(memory, initial)}, [&] { expectAll(memory, expected); }, a, b, d);
  }
};

const auto product =
    kernel("stored_product", [](In<f16, 2> a, In<f16, 2> b, Out<f16, 2> d, Const columns) {
      auto [m, n] = grid2d(d, {kRows, columns});
      auto sums = var(zeros(f32, {kRows, columns}));
      for (auto k : range(cdiv(a.dim(1), kDepth)).stages(2))
        sums = dot(a.tile({kRows, kDepth})(m, k), b.tile({kDepth, columns})(k, n), sums);
      d.tile({kRows, columns})(m, n) = cast(f16, max(sums, -2.0f) * 2.0f);
    });

double stored(double sum) { return std::max(sum, -2.0) * 2; }

// Rows that are longer than the view keep what is behind it.
TEST_P(DotStores, EndsOfViews) {
  for (auto [m, n, columns] : {std::array<int64_t, 3>{64, 192, 192},
                               {65, 200, 192},
                               {1, 8, 64},
                               {130, 72, 64},
                               {63, 24, 16},
                               {70, 256, 256}}) {
    SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + " by " + std::to_string(columns));
    const int64_t pitch = n + 8;
    Factors factors{m, n, kWidth};
    std::vector<half> initial = before(m * pitch);
    auto memory = input<half>({m * pitch}, initial);
    auto d = memory.withStrides({m, n}, {pitch, 1});
    if (isHopper())
      EXPECT_TRUE(isByTma(product.consts(static_cast<int>(columns)).warps(4),
                          input<half>({m, kWidth}, factors.a), input<half>({kWidth, n}, factors.b),
                          d));
    run(product.consts(static_cast<int>(columns)).warps(4), factors, d, memory, initial,
        [&, n = n](int64_t i) {
          return i % pitch < n ? stored(factors.product(i / pitch, i % pitch))
                               : exact(initial[static_cast<size_t>(i)]);
        });
  }
}

TEST_P(DotStores, ColumnMajorViews) {
  const int64_t m = 72, n = 100;
  Factors factors{m, n, kWidth};
  std::vector<half> initial = before(m * n);
  auto memory = input<half>({n, m}, initial);
  if (isHopper())
    EXPECT_TRUE(isByTma(product.consts(64).warps(4), input<half>({m, kWidth}, factors.a),
                        input<half>({kWidth, n}, factors.b), memory.T()));
  run(product.consts(64).warps(4), factors, memory.T(), memory, initial,
      [&](int64_t i) { return stored(factors.product(i % m, i / m)); });
}

// Rows that do not lie at multiples of 16 bytes are left to threads.
TEST_P(DotStores, RowsAtOddPlaces) {
  const int64_t m = 66, n = 67;
  Factors factors{m, n, kWidth};
  std::vector<half> initial = before(m * n);
  auto d = input<half>({m, n}, initial);
  if (isHopper())
    EXPECT_FALSE(isByTma(product.consts(64).warps(4), input<half>({m, kWidth}, factors.a),
                         input<half>({kWidth, n}, factors.b), d));
  run(product.consts(64).warps(4), factors, d, d, initial,
      [&](int64_t i) { return stored(factors.product(i / n, i % n)); });
}

// Each iteration stores to the place of the one before: the last one's values stay. Behind it lies a tile outside.
TEST_P(DotStores, TheSamePlaceAgainAndAgain) {
  static const auto program = kernel("stored_again", [](In<f16, 2> a, In<f16, 2> b, Out<f16, 2> d) {
    constexpr int kColumns = 192;
    for (auto again : range(3)) {
      auto sums = var(zeros(f32, {kRows, kColumns}));
      for (auto k : range(cdiv(a.dim(1), kDepth)).stages(2))
        sums = dot(a.tile({kRows, kDepth})(0, k), b.tile({kDepth, kColumns})(k, 0), sums);
      d.tile({kRows, kColumns})(again / 2, 0) = cast(f16, sums + cast(f32, again));
    }
  });
  const int64_t m = 64, n = 192;
  Factors factors{m, n, kWidth};
  std::vector<half> initial = before(m * n);
  auto d = input<half>({m, n}, initial);
  run(program.warps(4).grid(1), factors, d, d, initial,
      [&](int64_t i) { return factors.product(i / n, i % n) + 1; });
}

// A batch in front, and what the sums are added to comes from memory as well.
TEST_P(DotStores, EpiloguesOfBatches) {
  static const auto program =
      kernel("stored_batch", [](In<f16, 2> a, In<f16, 2> b, In<f16, 1> bias, Out<f16, 3> d) {
        constexpr int kColumns = 128;
        Value batch = program_id(0);
        auto sums = var(zeros(f32, {kRows, kColumns}));
        for (auto k : range(cdiv(a.dim(1), kDepth)).stages(2))
          sums = dot(a.tile({kRows, kDepth})(batch, k), b.tile({kDepth, kColumns})(k, 0), sums);
        Value row = cast(f32, expand_dims(bias.tile({kColumns})(0), 0));
        d.tile({1, kRows, kColumns})(batch, 0, 0) =
            expand_dims(cast(f16, sums + broadcast_to(row, {kRows, kColumns})), 0);
      });
  const int64_t batches = 2, m = 60, n = 120;
  Factors factors{batches * kRows, n, kWidth};
  std::vector<half> bias = smallIntegers<half>(n, 3), initial = before(batches * m * n);
  auto d = input<half>({batches, m, n}, initial);
  auto a = input<half>({factors.m, kWidth}, factors.a), b = input<half>({kWidth, n}, factors.b);
  auto added = input<half>({n}, bias);
  if (isHopper())
    EXPECT_TRUE(isByTma(program.warps(4).grid(int(batches)), a, b, added, d));
  runUnderEverySchedule(
      program.warps(4).grid(int(batches)), 3, {Written(d, initial)},
      [&] {
        expectAll(d, [&](int64_t i) {
          int64_t row = i / n % m + i / n / m * kRows;
          return factors.product(row, i % n) + exact(bias[size_t(i % n)]);
        });
      },
      a, b, added, d);
}

// A view without elements has no map: nothing is stored.
TEST_P(DotStores, ViewsWithoutElements) {
  static const auto program =
      kernel("stored_nowhere", [](In<f16, 2> a, In<f16, 2> b, Out<f16, 2> d) {
        auto sums = var(zeros(f32, {kRows, 64}));
        for (auto k : range(cdiv(a.dim(1), kDepth)).stages(2))
          sums = dot(a.tile({kRows, kDepth})(0, k), b.tile({kDepth, 64})(k, 0), sums);
        d.tile({kRows, 64})(0, 0) = cast(f16, sums);
      });
  Factors factors{64, 64, kWidth};
  std::vector<half> initial = before(64);
  auto memory = input<half>({64}, initial);
  run(program.warps(4).grid(1), factors, memory.withStrides({0, 64}, {64, 1}), memory, initial,
      [&](int64_t i) { return exact(initial[size_t(i)]); });
}

// Programs one tile after the other, with a warp of their own for copies or without: a tile is stored while the next is loaded.
TEST_P(DotStores, PersistentPrograms) {
  static const auto program =
      kernel("stored_in_turn", [](In<f16, 2> a, In<f16, 2> b, Out<f16, 2> d, ConstOf<bool> flattens,
                                  ConstOf<bool> specializes) {
        constexpr int kColumns = 128;
        Range all = range(program_id(0), cdiv(d.dim(0), kRows), num_programs(0));
        for (auto m : flattens ? all.flatten() : all) {
          auto sums = var(zeros(f32, {kRows, kColumns}));
          Range steps = range(cdiv(a.dim(1), kDepth)).stages(3);
          for (auto k : specializes ? steps.warp_specialize() : steps)
            sums = dot(a.tile({kRows, kDepth})(m, k), b.tile({kDepth, kColumns})(k, 0), sums);
          d.tile({kRows, kColumns})(m, 0) = cast(f16, sums);
        }
      });
  const int64_t m = 5 * kRows - 8, n = 120;
  Factors factors{m, n, kWidth};
  std::vector<half> initial = before(m * n);
  auto d = input<half>({m, n}, initial);
  for (bool flattens : {false, true})
    for (bool specializes : {false, true}) {
      SCOPED_TRACE(std::string(flattens ? "flattened" : "") + (specializes ? " in roles" : ""));
      run(program.consts(flattens, specializes).warps(4).grid(2), factors, d, d, initial,
          [&](int64_t i) { return factors.product(i / n, i % n); });
    }
}

STAGED_LOOPS_SUITE(DotStores);

} // namespace
} // namespace tile::test
