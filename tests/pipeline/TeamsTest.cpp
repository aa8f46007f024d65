// Teams: each has rows of its own and all read the same columns, which a warp loads for them on sm_90a. There they share the
// slots that are filled, and have shared memory, barriers and one thread for stores of their own; elsewhere, and where what
// is loaded depends on the team, one comes after the other.
#include "tests/pipeline/ReferenceProduct.h"
#include "tests/pipeline/StagedLoops.h"

namespace tile::test {
namespace {

constexpr int kRows = 64, kDepth = 64, kColumns = 64;

class Teams : public StagedLoops {};

/// y = `rounds` times x times the sum of all blocks of b, and below each block of rows of y the sums of its columns: through
/// shared memory, since warps have rows of their own.
const auto product = kernel("teams_product", [](In<f16, 2> x, In<f16, 2> b, Out<f16, 2> y,
                                                Out<f32, 2> sums, Const count, Const rounds) {
  Value tile = grid1d(x, {kRows * count}) * count + teams(count);
  Value rows = x.tile({kRows, kDepth})(tile, 0);
  auto total = var(zeros(f32, {kRows, kColumns}));
  for (auto round : range(rounds)) {
    (void)round;
    for (auto n : range(cdiv(b.dim(0), kDepth)).stages(3).warp_specialize())
      total = dot(rows, b.tile({kDepth, kColumns})(n, 0), total);
  }
  y.tile({kRows, kColumns})(tile, 0) = cast(f16, total);
  sums.tile({1, kColumns})(tile, 0) = expand_dims(sum(total, 0), 0);
});

struct Case {
  int count, rounds, blocks;
  int64_t rows;
};

TEST_P(Teams, ShareWhatIsLoadedForAll) {
  for (auto [count, rounds, blocks, rows] : {Case{3, 1, 5, 192},
                                             {3, 2, 4, 200},
                                             {2, 1, 1, 130},
                                             {3, 1, 0, 64},
                                             {1, 1, 3, 64},
                                             {6, 1, 3, 400}}) {
    SCOPED_TRACE(std::to_string(count) + " teams, " + std::to_string(rounds) + " rounds of " +
                 std::to_string(blocks) + " blocks, " + std::to_string(rows) + " rows");
    auto x = smallIntegers<half>(rows * kDepth, 1),
         b = smallIntegers<half>(int64_t(blocks) * kDepth * kColumns, 2);
    int64_t blocksOfGrid = (rows + kRows * count - 1) / (kRows * count);
    auto deviceX = input<half>({rows, kDepth}, x),
         deviceB = input<half>({blocks * kDepth, kColumns}, b);
    std::vector<half> before(static_cast<size_t>(rows * kColumns));
    std::vector<float> noSums(static_cast<size_t>(blocksOfGrid * count * kColumns));
    auto y = input<half>({rows, kColumns}, before);
    auto sums = input<float>({blocksOfGrid * count, kColumns}, noSums);
    ReferenceProduct reference(x, b, kDepth, kColumns);
    auto expected = [&](int64_t row, int64_t column) {
      double sum = 0;
      for (int64_t block = 0; row < rows && block < blocks; ++block)
        sum += reference.at(row, column, block * kDepth);
      return rounds * sum;
    };
    auto check = [&] {
      expectAll(y, [&](int64_t i) { return expected(i / kColumns, i % kColumns); });
      expectAll(sums, [&](int64_t i) {
        double sum = 0;
        for (int64_t row = 0; row < kRows; ++row)
          sum += expected(i / kColumns * kRows + row, i % kColumns);
        return sum;
      });
    };
    auto launcher = product.consts(count, rounds).warps(4);
    runUnderEverySchedule(launcher, kMostSteps, {Written(y, before), Written(sums, noSums)}, check,
                          deviceX, deviceB, y, sums);
    if (isHopper())
      EXPECT_TRUE(has(hopperPtxOf(launcher, deviceX, deviceB, y, sums),
                      ".reqntid " + std::to_string(count * 128 + 128)));
  }
}

// Rows of b that only one team reads cannot be loaded for all.
TEST_P(Teams, ComeOneAfterTheOther) {
  static const auto program =
      kernel("teams_apart", [](In<f16, 2> x, In<f16, 2> b, Out<f32, 2> y, Const count) {
        Value team = teams(count);
        Value rows = x.tile({kRows, kDepth})(program_id(0), 0);
        auto total = var(zeros(f32, {kRows, kColumns}));
        for (auto n : range(2).stages(3).warp_specialize())
          total = dot(rows, b.tile({kDepth, kColumns})(team * 2 + n, 0), total);
        y.tile({kRows, kColumns})(team, program_id(0)) = total;
      });
  constexpr int kCount = 3;
  auto x = smallIntegers<half>(kRows * kDepth, 1),
       b = smallIntegers<half>(2 * kCount * kDepth * kColumns, 2);
  auto deviceX = input<half>({kRows, kDepth}, x),
       deviceB = input<half>({2 * kCount * kDepth, kColumns}, b);
  std::vector<float> before(kCount * kRows * kColumns);
  auto y = input<float>({kCount * kRows, kColumns}, before);
  ReferenceProduct reference(x, b, kDepth, kColumns);
  auto launcher = program.consts(kCount).warps(4).grid(1);
  runUnderEverySchedule(
      launcher, kMostSteps, {Written(y, before)},
      [&] {
        expectAll(y, [&](int64_t i) {
          int64_t team = i / (kRows * kColumns), row = i / kColumns % kRows, column = i % kColumns;
          return reference.at(row, column, team * 2 * kDepth) +
                 reference.at(row, column, (team * 2 + 1) * kDepth);
        });
      },
      deviceX, deviceB, y);
  if (isHopper())
    EXPECT_TRUE(has(hopperPtxOf(launcher, deviceX, deviceB, y), ".reqntid 128"));
}

STAGED_LOOPS_SUITE(Teams);

} // namespace
} // namespace tile::test
