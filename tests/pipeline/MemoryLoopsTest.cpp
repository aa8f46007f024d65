// Staged loops whose loads read what the same kernel writes: running ahead must not read before the write.
#include "tests/pipeline/ReferenceProduct.h"
#include "tests/pipeline/StagedLoops.h"

namespace tile::test {
namespace {

constexpr int kRows = 64, kColumns = 32, kDepth = 16, kPrograms = 3;

class MemoryLoops : public StagedLoops {};

// Each iteration multiplies the tile that the one before has stored. The matrix moves columns on by one, so that elements
// are sums of small integers.
TEST_P(MemoryLoops, AnOutputReadAheadOfItsStore) {
  static const auto program = kernel("read_behind_store", [](In<f16, 2> a, In<f16, 2> shift,
                                                             InOut<f16, 2> c, Const stages) {
    for (auto k : range(cdiv(a.dim(1), kDepth)).stages(stages)) {
      Value before = c.tile({kRows, kDepth})(0, k);
      Value sums =
          dot(before, shift.tile({kDepth, kDepth})(0, 0), cast(f32, a.tile({kRows, kDepth})(0, k)));
      c.tile({kRows, kDepth})(0, k + 1) = cast(f16, sums);
    }
  });
  std::vector<half> shiftValues(kDepth * kDepth);
  for (int i = 0; i < kDepth; ++i)
    shiftValues[static_cast<size_t>(i * kDepth + (i + 1) % kDepth)] = half(1.0f);
  auto shift = input<half>({kDepth, kDepth}, shiftValues);
  forEveryLoop([&](int stages, int steps) {
    int64_t width = int64_t(steps) * kDepth, all = width + kDepth;
    std::vector<half> aValues = smallIntegers<half>(kRows * width, 1),
                      cValues = smallIntegers<half>(kRows * all, 2);
    std::vector<double> expected;
    for (half value : cValues)
      expected.push_back(exact(value));
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t at = 0; at < width; ++at) {
        int64_t moved = at / kDepth * kDepth + (at + 1) % kDepth;
        expected[static_cast<size_t>(row * all + kDepth + moved)] =
            expected[static_cast<size_t>(row * all + at)] +
            exact(aValues[static_cast<size_t>(row * width + moved)]);
      }
    auto c = input<half>({kRows, all}, cValues);
    runUnderEverySchedule(
        program.consts(stages).grid(1), steps, {Written(c, cValues)},
        [&] {
          expectAll(c, [&](int64_t i) {
            return half(static_cast<float>(expected[static_cast<size_t>(i)]));
          });
        },
        input<half>({kRows, width}, aValues), shift, c);
  });
}

// Sums that grow by atomic additions and are read by the next iteration, beside loads that may run ahead.
TEST_P(MemoryLoops, AtomicSumsReadInTheSameLoop) {
  static const auto program =
      kernel("atomic_sums", [](In<i32, 2> a, InOut<i32, 1> sums, Out<i32, 1> seen, Const stages) {
        auto history = var(zeros(i32, {kRows}));
        for (auto k : range(cdiv(a.dim(1), kDepth)).stages(stages)) {
          history += sums.tile({kRows})(0);
          atomic_add(sums.ptr() + arange(kRows), sum(a.tile({kRows, kDepth})(0, k), 1));
        }
        seen.tile({kRows})(0) = history;
      });
  auto sums = input<int32_t>({kRows}, std::vector<int32_t>(kRows));
  auto seen = input<int32_t>({kRows}, std::vector<int32_t>(kRows));
  std::vector<int32_t> before = smallIntegers<int32_t>(kRows, 2);
  forEveryLoop([&](int stages, int steps) {
    int64_t width = std::max(steps * kDepth - 5, 0);
    std::vector<int32_t> values = smallIntegers<int32_t>(kRows * width, 1);
    std::vector<int32_t> last = before, history(kRows);
    for (int row = 0; row < kRows; ++row)
      for (int64_t at = 0; at < width; ++at) {
        if (at % kDepth == 0)
          history[static_cast<size_t>(row)] += last[static_cast<size_t>(row)];
        last[static_cast<size_t>(row)] += values[static_cast<size_t>(row * width + at)];
      }
    runUnderEverySchedule(
        program.consts(stages).grid(1), steps,
        {Written(sums, before), Written(seen, std::vector<int32_t>(kRows, -1))},
        [&] {
          expectAll(sums, [&](int64_t i) { return last[static_cast<size_t>(i)]; });
          expectAll(seen, [&](int64_t i) { return history[static_cast<size_t>(i)]; });
        },
        input<int32_t>({kRows, width}, values), sums, seen);
  });
}

// Programs add their products to one result, whose loads and stores are atomic alone.
TEST_P(MemoryLoops, ProductsAddedByManyPrograms) {
  static const auto program =
      kernel("split_sums", [](In<f16, 2> a, In<f16, 2> b, InOut<f32, 1> d, Const stages) {
        auto sums = var(zeros(f32, {kRows, kColumns}));
        Value steps = cdiv(a.dim(1), kDepth);
        for (auto k : range(program_id(0), steps, kPrograms).stages(stages))
          sums = dot(a.tile({kRows, kDepth})(0, k), b.tile({kDepth, kColumns})(k, 0), sums);
        Value at = expand_dims(arange(kRows), 1) * kColumns + expand_dims(arange(kColumns), 0);
        atomic_add(d.ptr() + at, sums);
      });
  std::vector<float> before = smallIntegers<float>(kRows * kColumns, 3);
  auto d = input<float>({kRows * kColumns}, before);
  for (int stages : {2, 3})
    for (int steps : {0, 1, 7}) {
      int64_t depth = std::max(steps * kDepth - 5, 0);
      std::vector<half> aValues = smallIntegers<half>(kRows * depth, 1),
                        bValues = smallIntegers<half>(depth * kColumns, 2);
      runUnderEverySchedule(
          program.consts(stages).grid(kPrograms), steps, {Written(d, before)},
          [&] {
            expectAll(d, [&](int64_t i) {
              return before[static_cast<size_t>(i)] +
                     ReferenceProduct(aValues, bValues, depth, kColumns)(i);
            });
          },
          input<half>({kRows, depth}, aValues), input<half>({depth, kColumns}, bValues), d);
    }
}

STAGED_LOOPS_SUITE(MemoryLoops);

} // namespace
} // namespace tile::test
