// Staged loops round branches, one after another and in each other, whose loads stand where running ahead is not simply a
// matter of the next index.
#include "tests/pipeline/StagedLoops.h"

namespace tile::test {
namespace {

constexpr int kRows = 64, kColumns = 32, kDepth = 16;

/// Row-major values of `columns` columns.
struct Rows {
  std::vector<half> values;
  int64_t columns;

  Rows(int64_t rows, int64_t columns, uint64_t seed)
      : values(smallIntegers<half>(rows * columns, seed)), columns(columns) {}
  double operator()(int64_t row, int64_t column) const {
    return exact(values[static_cast<size_t>(row * columns + column)]);
  }
};

class LoopForms : public StagedLoops {
protected:
  TensorOf<half> tensorOf(const Rows &rows, int64_t height) const {
    return input<half>({height, rows.columns}, rows.values);
  }

  /// A result of kRows x kColumns.
  template <class Launcher, class Reference, class... X>
  void run(const Launcher &launcher, int steps, Reference expected, const X &...inputs) {
    auto d = input<float>({kRows, kColumns}, std::vector<float>(kRows * kColumns));
    std::vector<double> results;
    for (int64_t i = 0; i < kRows * kColumns; ++i)
      results.push_back(expected(i / kColumns, i % kColumns));
    runUnderEverySchedule(
        launcher.grid(1), steps, {Written(d, smallIntegers<float>(kRows * kColumns, 9))},
        [&] { expectAll(d, [&](int64_t i) { return results[static_cast<size_t>(i)]; }); },
        inputs..., d);
  }
};

/// What one step of a product over K adds.
double stepOf(const Rows &a, const Rows &b, int64_t step, int64_t row, int64_t column) {
  double sum = 0;
  for (int64_t k = step * kDepth; k < (step + 1) * kDepth; ++k)
    sum += a(row, k) * b(k, column);
  return sum;
}

// One operand is loaded in a branch, the other before it.
TEST_P(LoopForms, ALoadUnderACondition) {
  static const auto program = kernel(
      "load_in_branch", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> d, Const stages, Const every) {
        auto sums = var(zeros(f32, {kRows, kColumns}));
        for (auto k : range(cdiv(a.dim(1), kDepth)).stages(stages)) {
          Value x = a.tile({kRows, kDepth})(0, k);
          if_(k % every == 0, [&] { sums = dot(x, b.tile({kDepth, kColumns})(k, 0), sums); });
        }
        d.tile({kRows, kColumns})(0, 0) = sums;
      });
  forEveryLoop([&](int stages, int steps) {
    const int every = 2;
    Rows a(kRows, steps * kDepth, 1), b(steps * kDepth, kColumns, 2);
    run(
        program.consts(stages, every), steps,
        [&](int64_t row, int64_t column) {
          double sum = 0;
          for (int step = 0; step < steps; step += every)
            sum += stepOf(a, b, step, row, column);
          return sum;
        },
        tensorOf(a, kRows), tensorOf(b, steps * kDepth));
  });
}

// The second loop's first loads must not overtake the reads of the first one's last slots.
TEST_P(LoopForms, OneLoopAfterAnother) {
  static const auto program = kernel("two_loops", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> d,
                                                     Const stages) {
    auto sums = var(zeros(f32, {kRows, kColumns}));
    Value steps = cdiv(a.dim(1), kDepth);
    for (auto k : range(steps).stages(stages))
      sums = dot(a.tile({kRows, kDepth})(0, k), b.tile({kDepth, kColumns})(k, 0), sums);
    sums = sums * 2.0f;
    for (auto k : range(steps).stages(stages))
      sums = dot(a.tile({kRows, kDepth})(0, steps - 1 - k), b.tile({kDepth, kColumns})(k, 0), sums);
    d.tile({kRows, kColumns})(0, 0) = sums;
  });
  forEveryLoop([&](int stages, int steps) {
    Rows a(kRows, steps * kDepth, 1), b(steps * kDepth, kColumns, 2);
    run(
        program.consts(stages), steps,
        [&](int64_t row, int64_t column) {
          double sum = 0;
          for (int64_t step = 0; step < steps; ++step) {
            sum += 2 * stepOf(a, b, step, row, column);
            for (int64_t k = 0; k < kDepth; ++k)
              sum += a(row, (steps - 1 - step) * kDepth + k) * b(step * kDepth + k, column);
          }
          return sum;
        },
        tensorOf(a, kRows), tensorOf(b, steps * kDepth));
  });
}

// Both loops ask for stages; the inner one runs again for each tile of a, which the outer one loads.
TEST_P(LoopForms, ALoopInALoop) {
  constexpr int kOuter = 3;
  static const auto program =
      kernel("nested_loops", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> d, Const stages) {
        auto sums = var(zeros(f32, {kRows, kColumns}));
        for (auto i : range(cdiv(a.dim(1), kDepth)).stages(stages)) {
          Value x = a.tile({kRows, kDepth})(0, i);
          for (auto j : range(cdiv(b.dim(1), kColumns)).stages(stages))
            sums = dot(x, b.tile({kDepth, kColumns})(i, j), sums);
        }
        d.tile({kRows, kColumns})(0, 0) = sums;
      });
  forEveryLoop([&](int stages, int steps) {
    Rows a(kRows, kOuter * kDepth, 1), b(kOuter * kDepth, steps * kColumns, 2);
    std::vector<double> folded(kOuter * kDepth * kColumns); // b's tiles of a row, summed
    for (int64_t k = 0; k < kOuter * kDepth; ++k)
      for (int64_t column = 0; column < steps * kColumns; ++column)
        folded[static_cast<size_t>(k * kColumns + column % kColumns)] += b(k, column);
    run(
        program.consts(stages), steps,
        [&](int64_t row, int64_t column) {
          double sum = 0;
          for (int64_t k = 0; k < kOuter * kDepth; ++k)
            sum += a(row, k) * folded[static_cast<size_t>(k * kColumns + column)];
          return sum;
        },
        tensorOf(a, kRows), tensorOf(b, kOuter * kDepth));
  });
}

// The tile that an iteration loads is known from a table, by what the iteration before has loaded.
TEST_P(LoopForms, AnOffsetCarriedFromIterationToIteration) {
  static const auto program =
      kernel("carried_offset",
             [](In<f16, 2> a, In<f16, 2> b, In<i32, 1> next, Out<f32, 2> d, Const stages) {
               auto sums = var(zeros(f32, {kRows, kColumns}));
               auto at = var(0);
               for (auto k : range(next.dim(0)).stages(stages)) {
                 sums = dot(a.tile({kRows, kDepth})(0, at), b.tile({kDepth, kColumns})(k, 0), sums);
                 at = load(next.ptr() + at);
               }
               d.tile({kRows, kColumns})(0, 0) = sums;
             });
  forEveryLoop([&](int stages, int steps) {
    Rows a(kRows, steps * kDepth, 1), b(steps * kDepth, kColumns, 2);
    std::vector<int32_t> next(static_cast<size_t>(steps));
    for (int i = 0; i < steps; ++i)
      next[static_cast<size_t>(i)] = (i * 3 + 1) % steps;
    run(
        program.consts(stages), steps,
        [&](int64_t row, int64_t column) {
          double sum = 0;
          int64_t at = 0;
          for (int64_t step = 0; step < steps; ++step, at = next[static_cast<size_t>(at)])
            for (int64_t k = 0; k < kDepth; ++k)
              sum += a(row, at * kDepth + k) * b(step * kDepth + k, column);
          return sum;
        },
        tensorOf(a, kRows), tensorOf(b, steps * kDepth), input<int32_t>({steps}, next));
  });
}

// Rows of an operand are gathered by indices that the iteration loads; also in a checked build.
TEST_P(LoopForms, OffsetsFromMemory) {
  static const auto program = kernel("gathered_rows", [](In<f16, 2> a, In<f16, 2> b,
                                                         In<i32, 1> index, Out<f32, 2> d,
                                                         Const stages) {
    auto sums = var(zeros(f32, {kRows, kColumns}));
    Value columns = expand_dims(arange(kColumns), 0);
    for (auto k : range(cdiv(a.dim(1), kDepth)).stages(stages)) {
      Value rows = expand_dims(index.tile({kDepth})(k), 1);
      sums = dot(a.tile({kRows, kDepth})(0, k), load(b.ptr() + rows * kColumns + columns), sums);
    }
    d.tile({kRows, kColumns})(0, 0) = sums;
  });
  constexpr int kTable = 50;
  Rows b(kTable, kColumns, 2);
  auto table = tensorOf(b, kTable);
  forEveryLoop([&](int stages, int steps) {
    int64_t depth = std::max(steps * kDepth - 3, 0);
    Rows a(kRows, depth, 1);
    std::vector<int32_t> index = uniform<int32_t>(depth, 0, kTable - 1, 3);
    for (bool isChecked : {false, true})
      if (!isChecked || stages == 3)
        run(
            program.consts(stages).checked(isChecked), steps,
            [&](int64_t row, int64_t column) {
              double sum = 0;
              for (int64_t k = 0; k < depth; ++k)
                sum += a(row, k) * b(index[static_cast<size_t>(k)], column);
              return sum;
            },
            tensorOf(a, kRows), table, input<int32_t>({depth}, index));
  });
}

// Two programs share the tiles of a result; the loads of one tile run on while the one before is stored. As many steps as
// there are iterations of the inner loop: without any, zeros are stored.
TEST_P(LoopForms, PersistentPrograms) {
  static constexpr int kTileRows = 64, kTileColumns = 16, kAcross = 3;
  static const auto program = kernel("persistent_product", [](In<f16, 2> a, In<f16, 2> b,
                                                              Out<f32, 2> d, Const stages,
                                                              ConstOf<bool> flattens,
                                                              ConstOf<bool> specializes) {
    Value columns = cdiv(d.dim(1), kTileColumns), tiles = cdiv(d.dim(0), kTileRows) * columns;
    Range all = range(program_id(0), tiles, num_programs(0));
    for (auto t : flattens ? all.flatten() : all) {
      Value m = t / columns, n = t % columns;
      auto sums = var(zeros(f32, {kTileRows, kTileColumns}));
      Range steps = range(cdiv(a.dim(1), kDepth)).stages(stages);
      for (auto k : specializes ? steps.warp_specialize() : steps)
        sums = dot(a.tile({kTileRows, kDepth})(m, k), b.tile({kDepth, kTileColumns})(k, n), sums);
      d.tile({kTileRows, kTileColumns})(m, n) = sums * 2.0f;
    }
  });
  const int64_t height = 2 * kTileRows, width = kAcross * kTileColumns;
  auto d = input<float>({height, width}, std::vector<float>(static_cast<size_t>(height * width)));
  forEveryLoop([&](int stages, int steps) {
    Rows a(height, int64_t(steps) * kDepth, 1), b(int64_t(steps) * kDepth, width, 2);
    for (int programs : {1, 4, 8})
      for (bool flattens : {false, true}) {
        if (!flattens && programs > 1)
          continue;
        SCOPED_TRACE(std::to_string(programs) + " programs" + (flattens ? ", flattened" : ""));
        for (bool specializes : {false, programs == 4})
          runUnderEverySchedule(
              program.consts(stages, flattens, specializes).grid(programs), steps,
              {Written(d, smallIntegers<float>(height * width, 9))},
              [&] {
                expectAll(d, [&](int64_t i) {
                  double sum = 0;
                  for (int step = 0; step < steps; ++step)
                    sum += stepOf(a, b, step, i / width, i % width);
                  return 2 * sum;
                });
              },
              tensorOf(a, height), tensorOf(b, int64_t(steps) * kDepth), d);
      }
  });
}

STAGED_LOOPS_SUITE(LoopForms);

} // namespace
} // namespace tile::test
