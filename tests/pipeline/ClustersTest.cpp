// Blocks of a cluster carry out one program: what does not follow from a block's rank is loaded once, in shares that are sent to all.
#include "tests/pipeline/ReferenceProduct.h"
#include "tests/pipeline/StagedLoops.h"

namespace tile::test {
namespace {

constexpr int kRows = 64, kDepth = 64, kColumns = 64;

class Clusters : public StagedLoops {
protected:
  /// The product of matrices of small integers, `rows` x `depth` and `depth` x `columns`.
  struct Factors {
    Factors(int64_t rows, int64_t depth, int64_t columns)
        : depth(depth), columns(columns), a(smallIntegers<half>(rows * depth, 1)),
          b(smallIntegers<half>(depth * columns, 2)) {}
    double product(int64_t row, int64_t column) const {
      return ReferenceProduct(a, b, depth, columns).at(row, column);
    }
    int64_t depth, columns;
    std::vector<half> a, b;
  };
};

struct Case {
  int blocks, steps, programs;
  bool alongK;       ///< Do the columns of b lie one after the other?
  bool isPersistent; ///< Does a program compute one pair of tiles after the other?
};

TEST_P(Clusters, ShareWhatIsTheSameInAllBlocks) {
  static const auto program =
      kernel("cluster_product", [](In<f16, 2> a, In<f16, 2> b, Out<f16, 2> c, Const blocks,
                                   ConstOf<bool> isPersistent) {
        Value rank = cluster(blocks), columns = cdiv(c.dim(1), kColumns);
        Value count = cdiv(c.dim(0), blocks * kRows) * columns;
        auto compute = [&](const Value &number) {
          Value m = number / columns * blocks + rank, n = number % columns;
          auto sums = var(zeros(f32, {kRows, kColumns}));
          for (auto k : range(cdiv(a.dim(1), kDepth)).stages(3).warp_specialize())
            sums = dot(a.tile({kRows, kDepth})(m, k), b.tile({kDepth, kColumns})(k, n), sums);
          c.tile({kRows, kColumns})(m, n) = cast(f16, sums);
        };
        if (!isPersistent)
          return compute(program_id(0));
        for (auto number : range(program_id(0), count, num_programs(0)).flatten())
          compute(number);
      });
  for (auto [blocks, steps, programs, alongK, isPersistent] : {Case{2, 5, 2, true, false},
                                                               {2, 7, 1, true, true},
                                                               {2, 4, 2, false, true},
                                                               {4, 3, 2, true, false},
                                                               {4, 4, 1, false, true},
                                                               {1, 3, 4, true, false},
                                                               {2, 0, 1, true, true}}) {
    SCOPED_TRACE(std::to_string(blocks) + " blocks, " + std::to_string(steps) + " steps, " +
                 std::to_string(programs) + " programs" + (alongK ? ", b along k" : "") +
                 (isPersistent ? ", persistent" : ""));
    const int64_t rows = 4 * kRows - 8, depth = int64_t(steps) * kDepth, columns = kColumns;
    Factors factors(rows, depth, columns);
    auto a = input<half>({rows, depth}, factors.a);
    std::vector<half> turned(factors.b.size());
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t n = 0; n < columns; ++n)
        turned[static_cast<size_t>(n * depth + k)] =
            factors.b[static_cast<size_t>(k * columns + n)];
    auto plain = input<half>({depth, columns}, factors.b),
         transposed = input<half>({columns, depth}, turned);
    std::vector<half> before(static_cast<size_t>(rows * columns));
    auto c = input<half>({rows, columns}, before);
    auto launcher =
        program.consts(blocks, isPersistent).warps(4).grid(isPersistent ? programs : 4 / blocks);
    auto runWith = [&](const auto &b) {
      runUnderEverySchedule(
          launcher, steps, {Written(c, before)},
          [&] {
            expectAll(c, [&](int64_t i) { return factors.product(i / columns, i % columns); });
          },
          a, b, c);
      if (!isHopper())
        return;
      std::string ptx = hopperPtxOf(launcher, a, b, c);
      EXPECT_EQ(has(ptx, "multicast::cluster"), blocks > 1 && steps > 0);
      EXPECT_EQ(has(ptx, "reqnctapercluster"), blocks > 1);
    };
    alongK ? runWith(transposed.T()) : runWith(plain);
  }
}

// A rotated loop has a ring for each of its products: blocks fill a share of both.
TEST_P(Clusters, ShareBothRingsOfARotatedLoop) {
  static constexpr int kBlocks = 2;
  static const auto program = kernel("cluster_chain", [](In<f16, 2> q, In<f16, 2> k, In<f16, 2> v,
                                                         Out<f32, 2> d, Const stages) {
    Value rank = cluster(kBlocks), rows = q.tile({kRows, kDepth})(rank, 0);
    auto sums = var(zeros(f32, {kRows, kColumns}));
    for (auto j : range(cdiv(v.dim(0), kRows)).stages(stages).overlap_dots().warp_specialize()) {
      Value scores = dot(rows, k.T().tile({kDepth, kRows})(0, j));
      sums = dot(cast(f16, scores), v.tile({kRows, kColumns})(j, 0), sums);
    }
    d.tile({kRows, kColumns})(rank, 0) = sums;
  });
  for (int stages : {2, 3})
    for (int steps : {0, 1, 2, 6}) {
      SCOPED_TRACE(std::to_string(stages) + " stages, " + std::to_string(steps) + " steps");
      const int64_t keys = int64_t(steps) * kRows, rows = kBlocks * kRows;
      Factors scores(rows, kDepth, keys);
      std::vector<half> k(scores.b.size()), v = smallIntegers<half>(keys * kColumns, 3);
      for (int64_t i = 0; i < keys * kDepth; ++i)
        k[static_cast<size_t>(i)] = scores.b[static_cast<size_t>(i % kDepth * keys + i / kDepth)];
      std::vector<double> expected(static_cast<size_t>(rows * kColumns));
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t key = 0; key < keys; ++key) {
          double score = scores.product(row, key);
          for (int64_t i = 0; i < kColumns; ++i)
            expected[static_cast<size_t>(row * kColumns + i)] +=
                score * exact(v[static_cast<size_t>(key * kColumns + i)]);
        }
      std::vector<float> before(static_cast<size_t>(rows * kColumns));
      auto d = input<float>({rows, kColumns}, before);
      auto deviceQ = input<half>({rows, kDepth}, scores.a),
           deviceK = input<half>({keys, kDepth}, k), deviceV = input<half>({keys, kColumns}, v);
      auto launcher = program.consts(stages).warps(4).grid(1);
      runUnderEverySchedule(
          launcher, steps, {Written(d, before)},
          [&] { expectAll(d, [&](int64_t i) { return expected[static_cast<size_t>(i)]; }); },
          deviceQ, deviceK, deviceV, d);
      if (isHopper())
        EXPECT_TRUE(has(hopperPtxOf(launcher, deviceQ, deviceK, deviceV, d), "multicast::cluster"));
    }
}

// Nothing is the same in all blocks, or their loops do not run as often: each loads for itself.
TEST_P(Clusters, LoadForThemselves) {
  static const auto program = kernel(
      "cluster_apart", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> c, ConstOf<bool> isShared) {
        Value rank = cluster(2);
        auto sums = var(zeros(f32, {kRows, kColumns}));
        Value steps = isShared ? cdiv(a.dim(1), kDepth) - rank : cdiv(a.dim(1), kDepth);
        for (auto k : range(steps).stages(3).warp_specialize())
          sums = dot(a.tile({kRows, kDepth})(rank, k),
                     b.tile({kDepth, kColumns})(k, isShared ? zeros(i32, {}) : rank), sums);
        c.tile({kRows, kColumns})(rank, program_id(0)) = sums;
      });
  constexpr int64_t kSteps = 3, kDepthOfAll = kSteps * kDepth;
  Factors factors(2 * kRows, kDepthOfAll, 2 * kColumns);
  auto a = input<half>({2 * kRows, kDepthOfAll}, factors.a),
       b = input<half>({kDepthOfAll, 2 * kColumns}, factors.b);
  std::vector<float> before(2 * kRows * kColumns);
  auto c = input<float>({2 * kRows, kColumns}, before);
  for (bool isShared : {false, true}) {
    auto launcher = program.consts(isShared).warps(4).grid(1);
    runUnderEverySchedule(
        launcher, kSteps, {Written(c, before)},
        [&] {
          expectAll(c, [&](int64_t i) {
            int64_t row = i / kColumns, rank = row / kRows, column = i % kColumns;
            if (!isShared)
              return factors.product(row, column + rank * kColumns);
            double sum = 0;
            for (int64_t k = 0; k < kDepthOfAll - rank * kDepth; ++k)
              sum += exact(factors.a[static_cast<size_t>(row * kDepthOfAll + k)]) *
                     exact(factors.b[static_cast<size_t>(k * 2 * kColumns + column)]);
            return sum;
          });
        },
        a, b, c);
    if (isHopper())
      EXPECT_FALSE(has(hopperPtxOf(launcher, a, b, c), "multicast"));
  }
}

STAGED_LOOPS_SUITE(Clusters);

} // namespace
} // namespace tile::test
