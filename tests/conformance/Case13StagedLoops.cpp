// Loops that ask for stages: fewer rows than stages, operands gathered by an index that the loop loads, a
// store under a condition. Whatever the number of stages, results are the same.
#include "tests/conformance/Near.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(ConformanceStagedLoops);

TEST_P(ConformanceStagedLoops, FewRowsAndManyStages) {
  static const auto program =
      kernel("rows", [](In<f32, 2> x, Out<f32, 2> y, Scalar<i32> rows, Const stages) {
        for (auto row : range(rows).stages(stages))
          y.tile({1, 128})(row, 0) = x.tile({1, 128})(row, 0) + 1.0f;
      });
  std::vector<float> x = uniform<float>(4 * 78, -1, 1, 1);
  for (int rows : {0, 1, 2, 3})
    for (int stages : {1, 2, 3, 4, 5}) {
      SCOPED_TRACE(std::to_string(rows) + " rows, stages " + std::to_string(stages));
      auto y = output<float>({4, 78}, 2);
      std::vector<float> untouched = y.result();
      program.consts(stages).grid(1)(stream, input({4, 78}, x), y.tensor(), rows);
      std::vector<float> results = y.result();
      for (size_t i = 0; i < results.size(); ++i) {
        float expected = int(i / 78) < rows ? x[i] + 1.0f : untouched[i];
        ASSERT_EQ(std::bit_cast<uint32_t>(results[i]), std::bit_cast<uint32_t>(expected)) << i;
      }
    }
}

// Rows of B are picked by an index. Multiples of 1/8 make every sum exact.
TEST_P(ConformanceStagedLoops, GatheredRows) {
  static const auto program =
      kernel("gathered", [](In<bf16, 2> a, In<bf16, 1> b, In<i32, 1> index, Out<f32, 2> d,
                            Scalar<i32> width, Const stages) {
        auto acc = var(zeros(f32, {32, 64}));
        Value columns = expand_dims(arange(64), 0);
        for (auto k : range(cdiv(a.dim(1), 16)).stages(stages)) {
          Value rows = expand_dims(index.tile({16})(k), 1);
          acc = dot(a.tile({32, 16})(0, k), load(b.ptr() + rows * width + columns), acc);
        }
        d.tile({32, 64})(0, 0) = acc;
      });
  constexpr int kDepth = 96, kRows = 200;
  auto eighths = [](int64_t count, uint64_t seed) {
    std::vector<bfloat16> values = uniform<bfloat16>(count, -8, 8, seed);
    for (bfloat16 &value : values)
      value = bfloat16(std::nearbyint(static_cast<float>(value)) / 8);
    return values;
  };
  std::vector<bfloat16> a = eighths(32 * kDepth, 1), b = eighths(kRows * 64, 2);
  std::vector<int32_t> index = uniform<int32_t>(kDepth, 0, kRows, 3);
  for (int stages : {1, 3, 5}) {
    SCOPED_TRACE(stages);
    auto d = output<float>({32, 64}, 1);
    program.consts(stages).grid(1)(stream, input({32, kDepth}, a), input({kRows * 64}, b),
                                   input({kDepth}, index), d.tensor(), 64);
    expectAll(d.result(), [&](int64_t i) {
      double sum = 0;
      for (int64_t k = 0; k < kDepth; ++k)
        sum += exact(a[size_t(i / 64 * kDepth + k)]) *
               exact(b[size_t(index[size_t(k)] * 64 + i % 64)]);
      return sum;
    });
  }
}

TEST_P(ConformanceStagedLoops, StoreUnderACondition) {
  static const auto program = kernel("conditional", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 3> d,
                                                       Scalar<i32> every, Const stages) {
    auto acc = var(zeros(f32, {32, 32}));
    for (auto k : range(cdiv(a.dim(1), 16)).stages(stages)) {
      acc = dot(a.tile({32, 16})(0, k), b.tile({16, 32})(k, 0), acc);
      if_(k % every == 0, [&] { d.tile({1, 32, 32})(k, 0, 0) = expand_dims(acc, 0); });
    }
  });
  constexpr int kSteps = 5;
  std::vector<half> a = uniform<half>(32 * 16 * kSteps, -1, 1, 1),
                    b = uniform<half>(16 * kSteps * 32, -1, 1, 2);
  for (int stages : {1, 3, 5})
    for (int every : {1, 2, 7}) {
      SCOPED_TRACE(std::to_string(stages) + " stages, every " + std::to_string(every));
      auto d = output<float>({kSteps, 32, 32}, 1);
      std::vector<float> untouched = d.result();
      program.consts(stages).grid(1)(stream, input({32, 16 * kSteps}, a),
                                     input({16 * kSteps, 32}, b), d.tensor(), every);
      std::vector<float> results = d.result();
      for (int step = 0; step < kSteps; ++step)
        for (int64_t i = 0; i < 32 * 32; ++i) {
          size_t at = size_t(step) * 32 * 32 + size_t(i);
          if (step % every) {
            ASSERT_EQ(std::bit_cast<uint32_t>(results[at]), std::bit_cast<uint32_t>(untouched[at]));
            continue;
          }
          double sum = 0;
          for (int64_t k = 0; k < 16 * (step + 1); ++k)
            sum += exact(a[size_t(i / 32 * 16 * kSteps + k)]) * exact(b[size_t(k * 32 + i % 32)]);
          ASSERT_NEAR(results[at], sum, 1e-4);
        }
    }
}

} // namespace
