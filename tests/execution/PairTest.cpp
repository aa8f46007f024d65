// Joining, splitting, concatenating, interleaving and mirroring tiles of each width and many
// layouts.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Pairs, Targets::One);

struct Tile {
  int m, n;
};
constexpr Tile kTiles[] = {{16, 32}, {1, 256}, {128, 1}, {96, 16},
                           {4, 176}, {64, 64}, {3, 5},   {1, 1}};

template <class T> std::vector<T> numbers(int64_t count, uint64_t seed) {
  return uniform<T>(count, 0, 100, seed);
}

/// Calls check(m, n, warps) on tiles and warps in turn.
template <class Check> void forTiles(Check check) {
  int warps = 1;
  for (auto [m, n] : kTiles) {
    SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + " warps " + std::to_string(warps));
    check(m, n, warps);
    warps = warps == 8 ? 1 : warps * 2;
  }
}

TEST_P(Pairs, JoinPutsTwoTilesSideBySide) {
  static const auto program =
      kernel("join", [](In<any, 2> a, In<any, 2> b, Out<any, 3> y, Const M, Const N) {
        y.tile({M, N, 2})(0, 0, 0) = join(a.tile({M, N})(0, 0), b.tile({M, N})(0, 0));
      });
  auto check = [&]<class T>(T) {
    forTiles([&](int m, int n, int warps) {
      auto a = numbers<T>(m * n, 1), b = numbers<T>(m * n, 2);
      auto y = output<T>({m, n, 2}, 1);
      program.consts(m, n).warps(warps).grid(1)(stream, input({m, n}, a), input({m, n}, b),
                                                y.tensor());
      expectAll(y.result(), [&](int64_t i) { return exact((i % 2 ? b : a)[size_t(i / 2)]); });
    });
  };
  check(float()), check(half()), check(int8_t()), check(int64_t());
}

TEST_P(Pairs, SplitTakesTheHalvesApart) {
  static const auto program =
      kernel("split", [](In<any, 3> x, Out<any, 2> a, Out<any, 2> b, Const M, Const N) {
        auto [even, odd] = split(x.tile({M, N, 2})(0, 0, 0));
        a.tile({M, N})(0, 0) = even;
        b.tile({M, N})(0, 0) = odd;
      });
  auto check = [&]<class T>(T) {
    forTiles([&](int m, int n, int warps) {
      auto x = numbers<T>(2 * m * n, 3);
      auto a = output<T>({m, n}), b = output<T>({m, n}, 3);
      program.consts(m, n).warps(warps).grid(1)(stream, input({m, n, 2}, x), a.tensor(),
                                                b.tensor());
      expectAll(a.result(), [&](int64_t i) { return exact(x[size_t(2 * i)]); });
      expectAll(b.result(), [&](int64_t i) { return exact(x[size_t(2 * i + 1)]); });
    });
  };
  check(float()), check(bfloat16()), check(uint8_t()), check(double());
}

// The last dimension of what is split is spread over lanes and warps.
TEST_P(Pairs, SplitOfATransposedTile) {
  static const auto program = kernel("split_rows", [](In<f32, 2> x, Out<f32, 1> y, Const N) {
    auto [top, bottom] = split(trans(x.tile({2, N})(0, 0)));
    y.tile({N})(0) = top - 2.0f * bottom;
  });
  for (int n : {1, 16, 80, 512})
    for (int warps : {1, 2, 4, 8}) {
      auto x = numbers<float>(2 * n, 4);
      auto y = output<float>({n});
      program.consts(n).warps(warps).grid(1)(stream, input({2, n}, x), y.tensor());
      expectAll(y.result(), [&](int64_t i) { return x[size_t(i)] - 2 * x[size_t(n + i)]; },
                {1, 1e-4});
    }
}

TEST_P(Pairs, ScalarsJoinSplitAndComeOutOfTiles) {
  static const auto program =
      kernel("scalars", [](In<i32, 1> x, Out<i32, 1> y, Scalar<i32> a, Scalar<i32> b) {
        Value pair = join(a, b);
        auto [first, second] = split(pair * 10);
        y.tile({2})(0) = pair;
        y.tile({2})(1) = join(second, first);
        Value one = item(x.tile({1})(5));
        y.tile({4})(1) = full(i32, {4}, one + item(full(i32, {1, 1}, 7)));
      });
  std::vector<int32_t> x = numbers<int32_t>(6, 5);
  auto y = output<int32_t>({8});
  program.grid(1)(stream, input({6}, x), y.tensor(), 3, -4);
  int32_t expected[] = {3, -4, -40, 30};
  expectAll(y.result(), [&](int64_t i) { return i < 4 ? expected[i] : x[5] + 7; });
}

TEST_P(Pairs, CatAlongEachDimension) {
  static const auto program =
      kernel("cat", [](In<any, 2> a, In<any, 2> b, Out<any, 2> y, Const M, Const N, Const D) {
        Value both = cat(a.tile({M, N})(0, 0), b.tile({M, N})(0, 0), D);
        y.tile(both.shape())(0, 0) = both;
      });
  auto check = [&]<class T>(T, Tile tile, int dim, int warps) {
    auto [m, n] = tile;
    SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + " dim " + std::to_string(dim));
    auto a = numbers<T>(m * n, 1), b = numbers<T>(m * n, 2);
    int rows = dim == 0 ? 2 * m : m, columns = dim == 0 ? n : 2 * n;
    auto y = output<T>({rows, columns}, 2);
    program.consts(m, n, dim).warps(warps).grid(1)(stream, input({m, n}, a), input({m, n}, b),
                                                   y.tensor());
    expectAll(y.result(), [&](int64_t at) {
      int64_t i = at / columns, j = at % columns;
      bool second = dim == 0 ? i >= m : j >= n;
      return exact((second ? b : a)[size_t(i % m * n + j % n)]);
    });
  };
  int warps = 1;
  for (Tile tile : {Tile{16, 32}, {1, 128}, {8, 176}, {256, 1}, {96, 16}, {4, 4}, {1, 1}})
    for (int dim : {0, 1}) {
      if (int extent = dim == 0 ? tile.m : tile.n; (extent & (extent - 1)) != 0)
        continue;
      check(float(), tile, dim, warps), check(half(), tile, dim, warps);
      warps = warps == 8 ? 1 : warps * 2;
    }
}

TEST_P(Pairs, InterleaveTakesTurns) {
  static const auto program =
      kernel("interleave", [](In<any, 2> a, In<any, 2> b, Out<any, 2> y, Const M, Const N) {
        y.tile({M, 2 * N})(0, 0) = interleave(a.tile({M, N})(0, 0), b.tile({M, N})(0, 0));
      });
  auto check = [&]<class T>(T) {
    forTiles([&](int m, int n, int warps) {
      auto a = numbers<T>(m * n, 1), b = numbers<T>(m * n, 2);
      auto y = output<T>({m, 2 * n}, 1);
      program.consts(m, n).warps(warps).grid(1)(stream, input({m, n}, a), input({m, n}, b),
                                                y.tensor());
      expectAll(y.result(), [&](int64_t i) { return exact((i % 2 ? b : a)[size_t(i / 2)]); });
    });
  };
  check(float()), check(half()), check(int8_t());
}

TEST_P(Pairs, FlipMirrorsEachDimension) {
  static const auto program =
      kernel("flip", [](In<any, 2> x, Out<any, 2> rows, Out<any, 2> columns, Const M, Const N) {
        Value tile = x.tile({M, N})(0, 0);
        rows.tile({M, N})(0, 0) = flip(tile, 0);
        columns.tile({M, N})(0, 0) = flip(tile, -1);
      });
  auto check = [&]<class T>(T) {
    forTiles([&](int m, int n, int warps) {
      auto x = numbers<T>(m * n, 6);
      auto rows = output<T>({m, n}, 1), columns = output<T>({m, n});
      program.consts(m, n).warps(warps).grid(1)(stream, input({m, n}, x), rows.tensor(),
                                                columns.tensor());
      expectAll(rows.result(),
                [&](int64_t i) { return exact(x[size_t((m - 1 - i / n) * n + i % n)]); });
      expectAll(columns.result(),
                [&](int64_t i) { return exact(x[size_t(i / n * n + n - 1 - i % n)]); });
    });
  };
  check(float()), check(half()), check(int8_t()), check(double());
}

TEST_P(Pairs, FlipOfWhatNoMemoryAccessLaidOut) {
  static const auto program = kernel("flip_index", [](Out<i32, 1> y, Const N) {
    y.tile({N})(0) = flip(arange(N), 0) * 2 + flip(flip(arange(N), 0), 0);
  });
  for (int n : {1, 4, 24, 128, 2048})
    for (int warps : {1, 4, 8}) {
      auto y = output<int32_t>({n});
      program.consts(n).warps(warps).grid(1)(stream, y.tensor());
      expectAll(y.result(), [&](int64_t i) { return 2 * (n - 1 - i) + i; });
    }
}

} // namespace
