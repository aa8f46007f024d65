// Gathers inside a tile and histograms: both go through shared memory.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Gathers, Targets::One);

TEST_P(Gathers, AlongEitherAxisOfEveryDtype) {
  static const auto program = kernel(
      "gather", [](In<any, 2> x, In<i32, 2> at, Out<any, 2> y, Const M, Const N, Const P, Const Q) {
        int axis = M == P ? 1 : 0;
        y.tile({P, Q})(0, 0) = gather(x.tile({M, N})(0, 0), at.tile({P, Q})(0, 0), axis);
      });
  auto check = [&]<class T>(T) {
    int cases[][4] = {
        {4, 4, 64, 4}, {16, 64, 16, 128}, {96, 8, 24, 8}, {8, 48, 8, 16}, {1, 1, 1, 32}};
    for (auto [m, n, p, q] : cases)
      for (int warps : {1, 2, 8}) {
        SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + " " + std::to_string(warps));
        std::vector<T> x = uniform<T>(m * n, 0, 100);
        std::vector<int32_t> at;
        Random random(9);
        for (int i = 0; i < p * q; ++i)
          at.push_back(static_cast<int32_t>(random.bits() % uint64_t(m == p ? n : m)));
        auto results = output<T>({p, q}, 1);
        program.consts(m, n, p, q)
            .warps(warps)
            .grid(1)(stream, input({m, n}, x), input({p, q}, at), results.tensor());
        expectAll(results.result(), [&](int64_t i) {
          int64_t row = i / q, column = i % q, index = at[size_t(i)];
          return exact(x[size_t(m == p ? row * n + index : index * n + column)]);
        });
      }
  };
  check(int8_t()), check(half()), check(float()), check(double());
}

TEST_P(Gathers, InALoopWithComputedIndices) {
  static const auto program = kernel("rotate", [](In<f32, 1> x, Out<f32, 1> y, Const B) {
    auto tile = var(x.tile({B})(0));
    for (auto step : range(5))
      tile = gather(tile, (arange(B) + 1 + step) % B, 0);
    y.tile({B})(0) = tile;
  });
  for (int tile : {32, 96, 256})
    for (int warps : {1, 4}) {
      std::vector<float> x = uniform<float>(tile);
      auto results = output<float>({tile});
      program.consts(tile).warps(warps).grid(1)(stream, input({tile}, x), results.tensor());
      expectAll(results.result(),
                [&](int64_t i) { return double(x[size_t((i + 1 + 2 + 3 + 4 + 5) % tile)]); });
    }
}

TEST_P(Gathers, Histograms) {
  static const auto program =
      kernel("histogram", [](In<i32, 1> x, Out<i32, 2> y, Const B, Const N) {
        Value values = x.tile({B})(0);
        y.tile({1, N})(0, 0) = expand_dims(histogram(values, N), 0);
        y.tile({1, N})(1, 0) = expand_dims(histogram(values, N, values % 2 == 0), 0);
      });
  for (auto [size, bins] :
       {std::pair(2048, 2), {1024, 128}, {32, 512}, {8, 2}, {96, 48}, {256, 1}, {1, 7}})
    for (int warps : {1, 2, 4, 8}) {
      SCOPED_TRACE(std::to_string(size) + " in " + std::to_string(bins));
      std::vector<int32_t> x;
      Random random(21);
      for (int i = 0; i < size; ++i)
        x.push_back(static_cast<int32_t>(random.bits() % uint64_t(2 * bins + 3)) - bins / 2);
      x[0] = std::numeric_limits<int32_t>::min();
      auto results = output<int32_t>({2, bins}, 1);
      program.consts(size, bins).warps(warps).grid(1)(stream, input({size}, x), results.tensor());
      expectAll(results.result(), [&](int64_t at) {
        int64_t bin = at % bins;
        bool counted = at < bins || bin % 2 == 0;
        return counted ? std::count(x.begin(), x.end(), bin) : 0;
      });
    }
}

} // namespace
