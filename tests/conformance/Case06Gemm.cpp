// A product with a loop over K, in blocks of many forms, stored as a whole or in two halves, on sizes that
// fit the blocks and on ragged ones.
#include "tests/conformance/Near.h"

using namespace tile;
using namespace tile::test;

namespace {

struct Sizes {
  int m, n, k;
};
struct Blocks {
  int m, n, k, stages, warps;
};

class ConformanceGemm : public OnDevice {
protected:
  template <class T, class C>
  void check(Sizes s, Blocks t, bool halves, Tolerance tolerance,
             Precision precision = Precision::tf32x3) {
    static const auto program =
        kernel("gemm", [](In<dtypeOf<T>, 2> a, In<dtypeOf<T>, 2> b, Out<dtypeOf<C>, 2> d, Const BM,
                          Const BN, Const BK, Const stages, Const halves, Const precision) {
          Value m = program_id(0), n = program_id(1);
          auto acc = var(zeros(f32, {BM, BN}));
          for (auto k : range(cdiv(a.dim(1), BK)).stages(stages))
            acc = dot(a.tile({BM, BK})(m, k), b.tile({BK, BN})(k, n), acc,
                      {.precision = static_cast<Precision>(int(precision))});
          if (!halves) {
            d.tile({BM, BN})(m, n) = cast(dtypeOf<C>, acc);
          } else {
            auto [left, right] = split(permute(reshape(acc, {BM, 2, BN / 2}), {0, 2, 1}));
            d.tile({BM, BN / 2})(m, n * 2) = cast(dtypeOf<C>, left);
            d.tile({BM, BN / 2})(m, n * 2 + 1) = cast(dtypeOf<C>, right);
          }
        });
    SCOPED_TRACE(std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) +
                 " in " + std::to_string(t.m) + "x" + std::to_string(t.n) + "x" +
                 std::to_string(t.k) + " warps " + std::to_string(t.warps));
    std::vector<T> a = uniform<T>(int64_t(s.m) * s.k, -1, 1, 1),
                   b = uniform<T>(int64_t(s.k) * s.n, -1, 1, 2);
    auto d = output<C>({s.m, s.n}, 4);
    program.consts(t.m, t.n, t.k, t.stages, int(halves), int(precision))
        .warps(t.warps)
        .grid((s.m + t.m - 1) / t.m, (s.n + t.n - 1) / t.n)(stream, input({s.m, s.k}, a),
                                                            input({s.k, s.n}, b), d.tensor());
    std::vector<float> rows(a.begin(), a.end()), columns(size_t(s.k) * size_t(s.n));
    for (int k = 0; k < s.k; ++k)
      for (int n = 0; n < s.n; ++n)
        columns[size_t(n) * size_t(s.k) + size_t(k)] =
            static_cast<float>(b[size_t(k) * size_t(s.n) + size_t(n)]);
    expectClose(
        d.result(),
        [&](int64_t i) {
          const float *x = &rows[size_t(i / s.n * s.k)], *y = &columns[size_t(i % s.n * s.k)];
          double sum = 0;
          for (int k = 0; k < s.k; ++k)
            sum += double(x[k]) * double(y[k]);
          return sum;
        },
        tolerance);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, ConformanceGemm, ::testing::ValuesIn(deviceNames()),
                         [](const auto &run) { return testName(run.param); });

const Sizes kWhole = {1024, 512, 256};
const Tolerance kHalf = {0.06, 0.06}, kTf32 = {0.03, 0.03}, kFloat = {1e-3, 1e-3};

TEST_P(ConformanceGemm, LargeBlocks) {
  check<half, half>(kWhole, {128, 128, 16, 4, 4}, false, kHalf);
}
TEST_P(ConformanceGemm, TallLoops) {
  check<half, float>(kWhole, {64, 128, 32, 4, 8}, true, kFloat);
}
TEST_P(ConformanceGemm, SmallBlocks) {
  check<half, float>(kWhole, {32, 32, 32, 4, 4}, true, kFloat);
}
TEST_P(ConformanceGemm, TallBlocks) {
  check<half, half>(kWhole, {256, 128, 32, 4, 8}, true, kHalf);
}
TEST_P(ConformanceGemm, WideBlocks) {
  check<half, float>(kWhole, {64, 512, 32, 2, 8}, false, kFloat);
}
TEST_P(ConformanceGemm, NarrowBlocks) {
  check<half, half>(kWhole, {64, 16, 64, 4, 4}, false, kHalf);
}
TEST_P(ConformanceGemm, Tf32) {
  check<float, float>(kWhole, {64, 128, 32, 4, 8}, true, kTf32, Precision::tf32);
  check<float, float>(kWhole, {64, 16, 64, 4, 4}, false, kTf32, Precision::tf32);
}
TEST_P(ConformanceGemm, Floats) {
  Sizes smaller = {256, 256, 128};
  check<float, float>(smaller, {64, 64, 32, 2, 4}, false, kFloat, Precision::tf32x3);
  check<float, float>(smaller, {64, 64, 32, 2, 4}, true, kFloat, Precision::ieee);
}
TEST_P(ConformanceGemm, Ragged) {
  check<half, float>({998, 111, 512}, {128, 128, 16, 4, 4}, false, kFloat);
  check<half, half>({998, 111, 512}, {64, 16, 64, 4, 8}, false, kHalf);
  check<half, float>({63, 128, 512}, {64, 128, 32, 4, 8}, true, kFloat);
  check<float, float>({63, 128, 512}, {32, 32, 32, 4, 4}, true, kTf32, Precision::tf32);
}
// Rows of tiles that are an odd number of 16 bytes, and tiles of an odd number of instructions.
TEST_P(ConformanceGemm, OddBlocks) {
  check<half, float>({144, 216, 192}, {48, 72, 24, 3, 4}, false, kFloat);
  check<half, half>({160, 200, 160}, {80, 40, 40, 2, 4}, false, kHalf);
  check<half, float>({192, 112, 144}, {64, 56, 48, 3, 8}, false, kFloat);
  check<float, float>({96, 100, 120}, {48, 20, 12, 3, 4}, false, kTf32, Precision::tf32);
}

} // namespace
