// Two teams carry out the passes of a nest in turn: while one multiplies the other stores. One ring serves both, filled in the order
// of the passes by a warp of its own; each team leaves out the fills of the other's passes. Elsewhere one team carries out all.
#include "tests/pipeline/ReferenceProduct.h"
#include "tests/pipeline/StagedLoops.h"

namespace tile::test {
namespace {

constexpr int kRows = 64, kDepth = 32, kColumns = 64;

class PingPong : public StagedLoops {};

/// Blocks of rows of y = x b + bias, narrowed and stored by the copy engine where there is one, and the sums of their columns,
/// through shared memory.
const auto product = kernel("products_in_turn", [](In<f16, 2> x, In<f16, 2> b, In<f32, 1> bias,
                                                   Out<f16, 2> y, Out<f32, 2> sums, Const stages) {
  Range all = range(program_id(0), cdiv(y.dim(0), kRows), num_programs(0));
  for (auto m : all.flatten().ping_pong()) {
    auto total = var(zeros(f32, {kRows, kColumns}));
    for (auto k : range(cdiv(x.dim(1), kDepth)).stages(stages).warp_specialize())
      total = dot(x.tile({kRows, kDepth})(m, k), b.tile({kDepth, kColumns})(k, 0), total);
    total = total + expand_dims(bias.tile({kColumns})(0), 0);
    y.tile({kRows, kColumns})(m, 0) = cast(f16, total);
    sums.tile({1, kColumns})(m, 0) = expand_dims(sum(total, 0), 0);
  }
});

struct Case {
  int tiles, programs, steps, stages;
};

// Passes of fewer iterations than there are slots, of as many, and of more; teams without a pass.
TEST_P(PingPong, TeamsTakeTurns) {
  for (auto [tiles, programs, steps, stages] : {Case{1, 1, 2, 3},
                                                {5, 1, 1, 3},
                                                {4, 1, 3, 3},
                                                {7, 2, 4, 3},
                                                {3, 1, 7, 4},
                                                {6, 4, 2, 5},
                                                {5, 2, 5, 2},
                                                {2, 3, 3, 3},
                                                {3, 1, 0, 3}}) {
    SCOPED_TRACE(std::to_string(tiles) + " tiles of " + std::to_string(programs) + " programs, " +
                 std::to_string(steps) + " steps in " + std::to_string(stages) + " stages");
    int64_t rows = int64_t(tiles) * kRows, depth = int64_t(steps) * kDepth;
    auto x = smallIntegers<half>(rows * depth, 1), b = smallIntegers<half>(depth * kColumns, 2);
    auto bias = smallIntegers<float>(kColumns, 3);
    auto deviceX = input<half>({rows, depth}, x), deviceB = input<half>({depth, kColumns}, b);
    auto deviceBias = input<float>({kColumns}, bias);
    std::vector<half> before(static_cast<size_t>(rows * kColumns));
    std::vector<float> noSums(static_cast<size_t>(tiles * kColumns));
    auto y = input<half>({rows, kColumns}, before);
    auto sums = input<float>({tiles, kColumns}, noSums);
    ReferenceProduct reference(x, b, depth, kColumns);
    auto expected = [&](int64_t row, int64_t column) {
      return reference.at(row, column) + exact(bias[static_cast<size_t>(column)]);
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
    auto launcher = product.consts(stages).warps(4).grid(programs);
    runUnderEverySchedule(launcher, steps, {Written(y, before), Written(sums, noSums)}, check,
                          deviceX, deviceB, deviceBias, y, sums);
    if (steps == 0 || !isHopper()) // nothing to load, by whomever
      continue;
    std::string ptx = hopperPtxOf(launcher, deviceX, deviceB, deviceBias, y, sums);
    EXPECT_TRUE(has(ptx, ".reqntid 384")) << "two teams and the warps that load";
    EXPECT_TRUE(has(ptx, "bar.arrive")) << "turns";
  }
}

// Whatever hinders the teams: one of them carries out all passes.
TEST_P(PingPong, OneTeamWhereTurnsAreRefused) {
  static const auto program = kernel(
      "products_of_one", [](In<f16, 2> x, In<f16, 2> b, Out<f32, 2> y, ConstOf<bool> flattens,
                            ConstOf<bool> specializes, Const divided) {
        Value team = divided > 1 ? teams(divided) : zeros(i32, {});
        Range all = range(program_id(0), cdiv(b.dim(1), kColumns), num_programs(0));
        for (auto n : flattens ? all.flatten().ping_pong() : all.ping_pong()) {
          auto total = var(zeros(f32, {kRows, kColumns}));
          Range steps = range(cdiv(x.dim(1), kDepth)).stages(3);
          for (auto k : specializes ? steps.warp_specialize() : steps)
            total = dot(x.tile({kRows, kDepth})(team, k), b.tile({kDepth, kColumns})(k, n), total);
          y.tile({kRows, kColumns})(team, n) = total;
        }
      });
  struct Refusal {
    bool flattens, specializes;
    int divided, warps;
  };
  for (auto [flattens, specializes, divided, warps] :
       {Refusal{false, true, 1, 4}, {true, false, 1, 4}, {true, true, 2, 4}, {true, true, 1, 8}}) {
    SCOPED_TRACE(std::to_string(flattens) + std::to_string(specializes) + " " +
                 std::to_string(divided) + " teams of " + std::to_string(warps));
    constexpr int64_t kDepthOfAll = 4 * kDepth, kWidth = 3 * kColumns;
    int64_t rows = int64_t(divided) * kRows;
    auto x = smallIntegers<half>(rows * kDepthOfAll, 1),
         b = smallIntegers<half>(kDepthOfAll * kWidth, 2);
    auto deviceX = input<half>({rows, kDepthOfAll}, x),
         deviceB = input<half>({kDepthOfAll, kWidth}, b);
    std::vector<float> before(static_cast<size_t>(rows * kWidth));
    auto y = input<float>({rows, kWidth}, before);
    auto launcher = program.consts(flattens, specializes, divided).warps(warps).grid(1);
    runUnderEverySchedule(
        launcher, kMostSteps, {Written(y, before)},
        [&] { expectAll(y, ReferenceProduct(x, b, kDepthOfAll, kWidth)); }, deviceX, deviceB, y);
    if (isHopper())
      EXPECT_FALSE(has(hopperPtxOf(launcher, deviceX, deviceB, y), "bar.arrive"));
  }
}

STAGED_LOOPS_SUITE(PingPong);

} // namespace
} // namespace tile::test
