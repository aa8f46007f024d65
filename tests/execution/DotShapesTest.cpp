// Products beyond two float matrices: batches, integers, one tile as both operands, small accumulators
// that a loop carries.
#include "tests/execution/Harness.h"

#include <sstream>

using namespace tile;
using namespace tile::test;

namespace {

struct Sizes {
  int batch, m, n, k;
};

class DotShapes : public OnDevice {
protected:
  /// D = A B + C for each matrix of a batch in one tile.
  template <class T, class C> void checkBatch(Sizes s, int warps, Within within, double bound = 1) {
    static const auto program = kernel("batched_dot", [](In<dtypeOf<T>, 3> a, In<dtypeOf<T>, 3> b,
                                                         In<dtypeOf<C>, 3> c, Out<dtypeOf<C>, 3> d,
                                                         Const B, Const M, Const N, Const K) {
      d.tile({B, M, N})(0, 0, 0) = dot(a.tile({B, M, K})(0, 0, 0), b.tile({B, K, N})(0, 0, 0),
                                       c.tile({B, M, N})(0, 0, 0), {.precision = Precision::ieee});
    });
    std::ostringstream text;
    text << s.batch << "x" << s.m << "x" << s.n << "x" << s.k << " warps " << warps;
    SCOPED_TRACE(text.str());
    double low = std::is_unsigned_v<T> ? 0 : -bound;
    std::vector<T> a = uniform<T>(s.batch * s.m * s.k, low, bound, 1),
                   b = uniform<T>(s.batch * s.k * s.n, low, bound, 2);
    std::vector<C> c = uniform<C>(s.batch * s.m * s.n, -bound, bound, 3);
    auto d = output<C>({s.batch, s.m, s.n}, 5);
    program.consts(s.batch, s.m, s.n, s.k)
        .warps(warps)
        .grid(1)(stream, input({s.batch, s.m, s.k}, a), input({s.batch, s.k, s.n}, b),
                 input({s.batch, s.m, s.n}, c), d.tensor());
    expectAll(
        d.result(),
        [&](int64_t i) {
          int64_t row = i / s.n, column = i % s.n, matrix = row / s.m;
          auto sum = exact(c[size_t(i)]);
          for (int64_t k = 0; k < s.k; ++k)
            sum += exact(a[size_t(row * s.k + k)]) *
                   exact(b[size_t((matrix * s.k + k) * s.n + column)]);
          return sum;
        },
        within);
  }

  /// Products of two numbers of fp8 are exact in f32; the tensor cores of sm_89 cut them off 13 bits below the largest of
  /// those that one instruction adds, here less than 4.
  template <class A, class B, class C> void checkFloat8(const Device &device) {
    static const auto program = kernel("dot_float8", [](In<dtypeOf<A>, 2> a, In<dtypeOf<B>, 2> b,
                                                        In<dtypeOf<C>, 2> c, Out<dtypeOf<C>, 2> d,
                                                        Const M, Const N, Const K) {
      d.tile({M, N})(0, 0) = dot(a.tile({M, K})(0, 0), b.tile({K, N})(0, 0), c.tile({M, N})(0, 0));
    });
    for (auto [m, n, k] : {std::array{16, 16, 32}, {64, 48, 96}, {5, 7, 40}}) {
      std::vector<A> a = uniform<A>(m * k, -1, 1, 1);
      std::vector<B> b = uniform<B>(k * n, -1, 1, 2);
      std::vector<C> c = uniform<C>(m * n, -1, 1, 3);
      Stream stream = device.stream();
      auto tensorOf = [&]<class T>(std::vector<int64_t> shape, const std::vector<T> &values) {
        return device.tensor<T>(std::move(shape), std::span<const T>(values));
      };
      Guarded<C, 2> d(device, {m, n}, 3);
      program.consts(m, n, k).grid(1)(stream, tensorOf({m, k}, a), tensorOf({k, n}, b),
                                      tensorOf({m, n}, c), d.tensor());
      expectAll(d.result(),
                [&](int64_t i) {
                  double sum = exact(c[size_t(i)]);
                  for (int64_t at = 0; at < k; ++at)
                    sum += exact(a[size_t(i / n * k + at)]) * exact(b[size_t(at * n + i % n)]);
                  return sum;
                },
                {0.51, k * (dtypeOf<C> == f16            ? 4e-3
                            : device.target() == "sm_89" ? 0x1p-11
                                                         : 1e-6)});
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, DotShapes, ::testing::ValuesIn(deviceNames()),
                         [](const auto &run) { return testName(run.param); });

/// Products that have the same instructions on both targets.
class DotShapesOfWarps : public DotShapes {};
INSTANTIATE_TEST_SUITE_P(Devices, DotShapesOfWarps, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

TEST_P(DotShapesOfWarps, Batches) {
  for (int warps : {1, 4, 8}) {
    checkBatch<half, float>({2, 32, 32, 32}, warps, {0.51, 32e-6});
    checkBatch<half, float>({8, 16, 16, 16}, warps, {0.51, 16e-6});
  }
  checkBatch<half, float>({3, 32, 16, 48}, 4, {0.51, 48e-6});
  checkBatch<half, float>({6, 5, 7, 20}, 2, {0.51, 20e-6});
  checkBatch<half, float>({1, 64, 64, 32}, 4, {0.51, 32e-6});
  checkBatch<float, float>({4, 16, 16, 16}, 4, {0.51, 16 * 2e-7});
  checkBatch<float, float>({3, 8, 24, 12}, 2, {0.51, 12 * 2e-7});
  checkBatch<double, double>({4, 16, 16, 12}, 2, {0.51, 12e-15});
}

TEST_P(DotShapesOfWarps, Integers) {
  for (Sizes s :
       {Sizes{1, 32, 32, 32}, Sizes{2, 16, 24, 64}, Sizes{1, 64, 64, 48}, Sizes{3, 5, 3, 40}})
    for (int warps : {1, 4}) {
      checkBatch<int8_t, int32_t>(s, warps, kExactly, 127);
      checkBatch<uint8_t, int32_t>(s, warps, kExactly, 255);
    }
}

TEST_P(DotShapes, Float8) {
  std::vector<Device> devices = {device()};
  if (GetParam() ==
      "virtual:sm_80") // which does not have the instructions, as the first with them does
    devices.push_back(Device::open("virtual:sm_89"));
  for (const Device &each : devices) {
    SCOPED_TRACE(each.name());
    checkFloat8<float8_e4m3, float8_e4m3, float>(each);
    checkFloat8<float8_e5m2, float8_e4m3, float>(each);
    checkFloat8<float8_e5m2, float8_e5m2, half>(each);
  }
}

TEST_P(DotShapesOfWarps, IntegerSumsWrap) {
  static const auto program = kernel("wrap", [](In<u8, 2> a, Out<i32, 2> d) {
    Value x = a.tile({32, 32})(0, 0);
    d.tile({32, 32})(0, 0) = dot(x, x, full(i32, {32, 32}, 2147483647));
  });
  auto d = output<int32_t>({32, 32}, 1);
  program.grid(1)(stream, input({32, 32}, std::vector<uint8_t>(32 * 32, 255)), d.tensor());
  expectAll(d.result(), [](int64_t) { return int32_t(2147483647u + 32u * 255u * 255u); });
}

TEST_P(DotShapesOfWarps, OneTileAsBothOperands) {
  static const auto program = kernel("square", [](In<f16, 2> a, Out<f32, 2> d, Out<f32, 2> e) {
    Value x = a.tile({48, 48})(0, 0);
    d.tile({48, 48})(0, 0) = dot(x, x);
    e.tile({48, 48})(0, 0) = dot(cast(f32, x), cast(f32, x), {.precision = Precision::ieee});
  });
  std::vector<half> a = uniform<half>(48 * 48, -1, 1, 1);
  auto d = output<float>({48, 48}, 1), e = output<float>({48, 48}, 1);
  program.grid(1)(stream, input({48, 48}, a), d.tensor(), e.tensor());
  auto expected = [&](int64_t i) {
    double sum = 0;
    for (int64_t k = 0; k < 48; ++k)
      sum += exact(a[size_t(i / 48 * 48 + k)]) * exact(a[size_t(k * 48 + i % 48)]);
    return sum;
  };
  expectAll(d.result(), expected, {0.51, 48e-6});
  expectAll(e.result(), expected, {0.51, 48e-6});
}

// An odd number of instructions along M and N: neither by warps nor by threads is there a power of two to share.
TEST_P(DotShapes, WarpsShareOddTiles) {
  static const auto program =
      kernel("odd_tile", [](In<any, 2> a, In<any, 2> b, Out<f32, 2> d, Const M, Const N) {
        d.tile({M, N})(0, 0) =
            dot(a.tile({M, 16})(0, 0), b.tile({16, N})(0, 0), {.precision = Precision::ieee});
      });
  auto check = [&]<class T>(T, int m, int n, int warps) {
    SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + " warps " + std::to_string(warps));
    std::vector<T> a = uniform<T>(m * 16, -1, 1, 1), b = uniform<T>(16 * n, -1, 1, 2);
    auto d = output<float>({m, n}, 1);
    program.consts(m, n).warps(warps).grid(1)(stream, input({m, 16}, a), input({16, n}, b),
                                              d.tensor());
    expectAll(d.result(),
              [&](int64_t i) {
                double sum = 0;
                for (int64_t k = 0; k < 16; ++k)
                  sum += exact(a[size_t(i / n * 16 + k)]) * exact(b[size_t(k * n + i % n)]);
                return sum;
              },
              {0.51, 16e-6});
  };
  for (int warps : {4, 8}) {
    check(half(), 144, 72, warps);
    check(float(), 36, 36, warps);
  }
}

TEST_P(DotShapes, SmallAccumulatorsInLoops) {
  // One row of A, as in decoding; the accumulator is used after the loop and in it as well.
  static const auto program =
      kernel("row_times_matrix", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> d, Const N) {
        auto acc = var(full(f32, {1, N}, 0.5));
        for (auto k : range(cdiv(a.dim(1), 32)))
          acc = dot(a.tile({1, 32})(0, k), b.tile({32, N})(k, 0), acc);
        d.tile({1, N})(0, 0) = acc * 2;
      });
  for (int n : {1, 20, 64}) {
    std::vector<half> a = uniform<half>(100, -1, 1, 1), b = uniform<half>(100 * n, -1, 1, 2);
    auto d = output<float>({1, n}, 1);
    program.consts(n).grid(1)(stream, input({1, 100}, a), input({100, n}, b), d.tensor());
    expectAll(d.result(),
              [&](int64_t i) {
                double sum = 0.5;
                for (int64_t k = 0; k < 100; ++k)
                  sum += exact(a[size_t(k)]) * exact(b[size_t(k * n + i)]);
                return 2 * sum;
              },
              {0.51, 2e-4});
  }
}

} // namespace
