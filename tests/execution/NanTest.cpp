// NaN of any bits in what threads compute together: all that hold an element of the result hold the same bits of it.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(SharedNan, Targets::One);

/// Quiet NaN of both signs and any payload; `others` of 8 are numbers.
std::vector<double> nans(int64_t count, uint64_t others) {
  Random random(3);
  std::vector<double> values(static_cast<size_t>(count));
  for (double &value : values) {
    uint64_t bits = random.bits();
    value = bits % 8 < others ? static_cast<double>(bits % 100)
                              : std::bit_cast<double>(bits | 0x7ff8000000000000);
  }
  return values;
}

// Each result goes to all threads, and from them through shared memory to another layout.
TEST_P(SharedNan, OfReductions) {
  static const auto program =
      kernel("reductions", [](In<f64, 2> x, Out<f64, 2> y, Out<i64, 1> counts, Const M, Const N) {
        Value tile = x.tile({M, N})(0, 0);
        auto product = [](Value a, Value b) { return a * b; };
        auto both = [](Value a, Value b) { return a + b * 1.0; };
        Value list[] = {sum(tile, 1),
                        reduce_max(tile, 1),
                        reduce_min(tile, 1),
                        mean(tile, 1),
                        reduce(tile, 1, product),
                        reduce(tile, 1, both),
                        reduce(tile, 1, [](Value a, Value b) { return max_nan(a, b); })};
        int row = 0;
        for (const Value &each : list) {
          y.tile({1, M})(row, 0) = expand_dims(each, 0);
          // The results of others, whose elements lie with other threads.
          Value turned = permute(broadcast_to(expand_dims(each, 1), {M, N}), {1, 0});
          y.tile({1, M})(row + 7, 0) = expand_dims(sum(turned, 0), 0);
          ++row;
        }
        // Whoever knows the sum takes the same branch: in each the threads compute together.
        Value all = sum(sum(tile, 1), 0);
        if_((bitcast(i64, all) & 8) == 0, [&] {
          store(counts.ptr(), sum(sum(cast(i64, isnan(tile)), 1), 0));
        }).else_([&] { store(counts.ptr(), sum(sum(cast(i64, isnan(tile)), 0), 0)); });
      });
  for (auto [m, n, warps] : {std::array{8, 32, 1}, {16, 64, 2}, {4, 256, 4}, {1, 1024, 4}})
    for (uint64_t others : {0, 4, 7}) {
      SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + ", warps " +
                   std::to_string(warps));
      std::vector<double> x = nans(m * n, others);
      auto y = output<double>({14, m});
      auto counts = output<int64_t>({1});
      program.consts(m, n).warps(warps).grid(1)(stream, input({m, n}, x), y.tensor(),
                                                counts.tensor());
      std::vector<double> results = y.result();
      EXPECT_EQ(counts.result()[0],
                std::ranges::count_if(x, [](double each) { return std::isnan(each); }));
      for (int64_t row = 0; row < m; ++row)
        for (int of : {0, 3, 4, 5, 6}) // max and min ignore NaN
          EXPECT_EQ(std::isnan(results[size_t(of * m + row)]),
                    std::any_of(&x[size_t(row * n)], &x[size_t(row * n)] + n,
                                [](double each) { return std::isnan(each); }))
              << "function " << of << ", row " << row;
    }
}

TEST_P(SharedNan, OfScansAndSorts) {
  static const auto program = kernel("scans", [](In<f64, 2> x, Out<f64, 2> y, Const M, Const N) {
    Value tile = x.tile({M, N})(0, 0);
    y.tile({M, N})(0, 0) = cumsum(tile, 1);
    y.tile({M, N})(1, 0) = sort(tile);
    y.tile({M, N})(2, 0) = cumprod(cumsum(tile, 0), 1);
  });
  for (int warps : {1, 4}) {
    std::vector<double> x = nans(16 * 64, 3);
    auto y = output<double>({48, 64});
    program.consts(16, 64).warps(warps).grid(1)(stream, input({16, 64}, x), y.tensor());
    std::vector<double> results = y.result();
    for (size_t row = 0; row < 16; ++row) {
      bool isNan = false;
      for (size_t column = 0; column < 64; ++column) {
        isNan |= std::isnan(x[row * 64 + column]);
        EXPECT_EQ(std::isnan(results[row * 64 + column]), isNan);
      }
    }
  }
}

} // namespace
