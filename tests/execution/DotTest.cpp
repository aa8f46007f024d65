// Matrix products of one tile: operand types, precisions, shapes with odd factors, shapes too small
// for a tensor core, layouts of the operands in memory. The tolerance follows from the inputs, which
// lie in [-1, 1): each product adds at most K roundings of the accumulator's type.
#include "tests/execution/Harness.h"

#include <sstream>

using namespace tile;
using namespace tile::test;

namespace {

struct Sizes {
  int m, n, k;
};
std::ostream &operator<<(std::ostream &out, Sizes s) {
  return out << s.m << "x" << s.n << "x" << s.k;
}

class Dot : public OnDevice {
protected:
  /// C = A B + C of one tile, A and B as they lie or transposed in memory.
  template <class T, class C>
  void check(Sizes s, double tolerance, Precision precision = Precision::tf32x3, int warps = 4,
             bool transposeA = false, bool transposeB = false) {
    static const auto program = kernel("dot", [](In<dtypeOf<T>, 2> a, In<dtypeOf<T>, 2> b,
                                                 In<dtypeOf<C>, 2> c, Out<dtypeOf<C>, 2> d, Const M,
                                                 Const N, Const K, Const precision) {
      d.tile({M, N})(0, 0) = dot(a.tile({M, K})(0, 0), b.tile({K, N})(0, 0), c.tile({M, N})(0, 0),
                                 {.precision = static_cast<Precision>(int(precision))});
    });
    std::ostringstream text;
    text << s << " precision " << int(precision) << " warps " << warps << " transposed "
         << transposeA << transposeB;
    SCOPED_TRACE(text.str());
    std::vector<T> a = uniform<T>(s.m * s.k, -1, 1, 1), b = uniform<T>(s.k * s.n, -1, 1, 2);
    std::vector<C> c = uniform<C>(s.m * s.n, -1, 1, 3);
    auto deviceA = transposeA ? input({s.k, s.m}, a).T() : input({s.m, s.k}, a);
    auto deviceB = transposeB ? input({s.n, s.k}, b).T() : input({s.k, s.n}, b);
    auto d = output<C>({s.m, s.n}, 8);
    program.consts(s.m, s.n, s.k, int(precision))
        .warps(warps)
        .grid(1)(stream, deviceA, deviceB, input({s.m, s.n}, c), d.tensor());
    expectAll(d.result(),
              [&](int64_t i) {
                int64_t row = i / s.n, column = i % s.n;
                double sum = exact(c[size_t(i)]);
                for (int64_t k = 0; k < s.k; ++k)
                  sum += exact(a[size_t(transposeA ? k * s.m + row : row * s.k + k)]) *
                         exact(b[size_t(transposeB ? column * s.k + k : k * s.n + column)]);
                return sum;
              },
              {0.51, tolerance});
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Dot, ::testing::ValuesIn(deviceNames()),
                         [](const auto &run) { return testName(run.param); });

/// Products that have the same instructions on both targets.
class DotOfWarps : public Dot {};
INSTANTIATE_TEST_SUITE_P(Devices, DotOfWarps, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

const Sizes kSizes[] = {{16, 16, 16},  {32, 32, 32},  {64, 64, 64},   {128, 128, 32}, {16, 8, 16},
                        {48, 48, 48},  {96, 96, 32},  {80, 80, 80},   {176, 16, 16},  {16, 176, 32},
                        {96, 176, 16}, {128, 16, 64}, {16, 128, 128}, {64, 48, 80}};

TEST_P(Dot, F16IntoF32) {
  for (Sizes s : kSizes)
    check<half, float>(s, s.k * 1e-6);
}
TEST_P(Dot, Bf16IntoF32) {
  for (Sizes s : {kSizes[0], kSizes[2], kSizes[6], kSizes[10]})
    check<bfloat16, float>(s, s.k * 1e-6);
}
TEST_P(DotOfWarps, F16IntoF16) {
  for (Sizes s : {kSizes[0], kSizes[2], kSizes[6]})
    check<half, half>(s, s.k * 4e-3);
}
TEST_P(DotOfWarps, F32Ieee) {
  for (Sizes s : {kSizes[0], kSizes[1], Sizes{48, 48, 16}, Sizes{64, 64, 16}, Sizes{32, 96, 8}})
    check<float, float>(s, s.k * 2e-7, Precision::ieee);
}
TEST_P(DotOfWarps, F32Tf32) {
  // Each operand is rounded to 10 bits of mantissa.
  for (Sizes s : {kSizes[0], kSizes[2], kSizes[5], kSizes[6], Sizes{64, 80, 8}})
    check<float, float>(s, s.k * 1.1e-3, Precision::tf32);
}
TEST_P(DotOfWarps, F32Tf32x3) {
  for (Sizes s : {kSizes[0], kSizes[2], kSizes[5], kSizes[6], Sizes{64, 80, 8}})
    check<float, float>(s, s.k * 2e-6, Precision::tf32x3);
}
TEST_P(DotOfWarps, F32Bf16x3) {
  for (Sizes s : {kSizes[0], kSizes[2], kSizes[5], Sizes{64, 80, 8}})
    check<float, float>(s, s.k * 6e-5, Precision::bf16x3);
}
TEST_P(DotOfWarps, F32Bf16x6) {
  for (Sizes s : {kSizes[0], kSizes[2], kSizes[5], Sizes{64, 80, 8}})
    check<float, float>(s, s.k * 5e-7, Precision::bf16x6);
}
TEST_P(DotOfWarps, F32IeeeOfManySteps) {
  for (Sizes s : {Sizes{128, 128, 64}, Sizes{64, 64, 64}, Sizes{64, 32, 96}, Sizes{16, 16, 9},
                  Sizes{3, 5, 10}, Sizes{1, 1, 8}})
    check<float, float>(s, s.k * 2e-7, Precision::ieee);
  check<float, float>({64, 32, 24}, 24 * 2e-7, Precision::ieee, 8, true, false);
  check<float, float>({32, 64, 24}, 24 * 2e-7, Precision::ieee, 1, false, true);
}
TEST_P(DotOfWarps, F64) {
  for (Sizes s : {Sizes{16, 16, 16}, Sizes{32, 48, 4}, Sizes{64, 64, 32}, Sizes{8, 24, 20}})
    check<double, double>(s, s.k * 1e-15);
  check<double, double>({32, 32, 16}, 16e-15, Precision::tf32x3, 2, true, true);
}
TEST_P(DotOfWarps, TooSmallForTensorCores) {
  for (Sizes s :
       {Sizes{1, 1, 16}, Sizes{4, 8, 16}, Sizes{1, 64, 32}, Sizes{8, 3, 16}, Sizes{5, 7, 48}}) {
    check<half, float>(s, s.k * 1e-6);
    check<float, float>(s, s.k * 2e-6);
  }
  check<half, float>({100, 36, 20}, 20e-6);
  check<half, half>({5, 7, 17}, 17 * 4e-3);
  check<bfloat16, float>({3, 20, 27}, 27e-6);
  check<double, double>({3, 5, 7}, 7e-15);
}
TEST_P(Dot, EveryNumberOfWarps) {
  for (int warps : {1, 2, 4, 8})
    for (Sizes s : {Sizes{16, 16, 16}, Sizes{64, 32, 32}, Sizes{96, 48, 16}}) {
      check<half, float>(s, s.k * 1e-6, Precision::tf32x3, warps);
      check<float, float>(s, s.k * 1.1e-3, Precision::tf32, warps);
    }
}
TEST_P(Dot, OperandsTransposedInMemory) {
  for (bool a : {false, true})
    for (bool b : {false, true})
      for (Sizes s : {Sizes{64, 64, 32}, Sizes{48, 80, 16}}) {
        check<half, float>(s, s.k * 1e-6, Precision::tf32x3, 4, a, b);
        check<float, float>(s, s.k * 1.1e-3, Precision::tf32, 4, a, b);
      }
}

TEST_P(DotOfWarps, NanAndInfinityStayInTheirRowsAndColumns) {
  static const auto program =
      kernel("dot_special", [](In<f32, 2> a, In<f32, 2> b, Out<f32, 2> d, Const precision) {
        d.tile({32, 32})(0, 0) = dot(a.tile({32, 32})(0, 0), b.tile({32, 32})(0, 0),
                                     {.precision = static_cast<Precision>(int(precision))});
      });
  std::vector<float> a(32 * 32, 1), b(32 * 32, 1);
  a[3 * 32 + 5] = NAN, a[7 * 32 + 1] = INFINITY, b[4 * 32 + 9] = -INFINITY;
  for (Precision precision : {Precision::ieee, Precision::tf32, Precision::tf32x3,
                              Precision::bf16x3, Precision::bf16x6}) {
    SCOPED_TRACE(int(precision));
    auto d = output<float>({32, 32}, 1);
    program.consts(int(precision))
        .grid(1)(stream, input({32, 32}, a), input({32, 32}, b), d.tensor());
    expectAll(d.result(), [](int64_t i) -> double {
      int64_t row = i / 32, column = i % 32;
      if (row == 3 || (row == 7 && column == 9))
        return NAN;
      return row == 7 ? INFINITY : column == 9 ? -INFINITY : 32;
    });
  }
}

TEST_P(Dot, ProductsFeedProducts) {
  // As in attention: a product becomes an operand, with a reduction between.
  static const auto program =
      kernel("chain", [](In<f16, 2> q, In<f16, 2> k, In<f16, 2> v, Out<f32, 2> o) {
        Value scores = dot(q.tile({64, 32})(0, 0), k.T().tile({32, 64})(0, 0));
        Value weights = softmax(scores, 1);
        o.tile({64, 48})(0, 0) = dot(cast(f16, weights), v.tile({64, 48})(0, 0));
      });
  std::vector<half> q = uniform<half>(64 * 32, -1, 1, 1), k = uniform<half>(64 * 32, -1, 1, 2),
                    v = uniform<half>(64 * 48, -1, 1, 3);
  for (int warps : {1, 4}) {
    auto o = output<float>({64, 48}, 2);
    program.warps(warps).grid(1)(stream, input({64, 32}, q), input({64, 32}, k), input({64, 48}, v),
                                 o.tensor());
    std::vector<double> weights(64 * 64);
    for (int64_t i = 0; i < 64; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < 64; ++j) {
        double score = 0;
        for (int64_t d = 0; d < 32; ++d)
          score += exact(q[size_t(i * 32 + d)]) * exact(k[size_t(j * 32 + d)]);
        sum += weights[size_t(i * 64 + j)] = std::exp(score);
      }
      for (int64_t j = 0; j < 64; ++j)
        weights[size_t(i * 64 + j)] /= sum;
    }
    expectAll(o.result(),
              [&](int64_t at) {
                double sum = 0;
                for (int64_t j = 0; j < 64; ++j)
                  sum += weights[size_t(at / 48 * 64 + j)] * exact(v[size_t(j * 48 + at % 48)]);
                return sum;
              },
              {0, 1e-3});
  }
}

} // namespace
