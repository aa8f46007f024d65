// Sorting and the largest elements of rows, of each width, against the standard library.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Sorting, Targets::One);

struct Rows {
  int m, n;
};
constexpr Rows kRows[] = {{1, 512}, {8, 64}, {256, 16}, {512, 8}, {3, 4}, {5, 1}};

/// NaN last, otherwise by value.
template <class T> bool comesFirst(T a, T b, bool descending) {
  auto x = exact(a), y = exact(b);
  return x != x ? false : y != y ? true : descending ? x > y : x < y;
}

template <class T> std::vector<T> sortedRows(std::vector<T> x, int n, bool descending) {
  for (size_t start = 0; start < x.size(); start += size_t(n))
    std::sort(x.begin() + ptrdiff_t(start), x.begin() + ptrdiff_t(start) + n,
              [&](T a, T b) { return comesFirst(a, b, descending); });
  return x;
}

template <class T> std::vector<T> mixed(int64_t count) {
  std::vector<T> x = uniform<T>(count, -100, 100, 41);
  if constexpr (isFloat(dtypeOf<T>))
    for (size_t i = 0; i < x.size(); i += 7)
      x[i] = T(i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY);
  return x;
}

TEST_P(Sorting, RowsInBothDirections) {
  static const auto program =
      kernel("sort", [](In<any, 2> x, Out<any, 2> up, Out<any, 2> down, Const M, Const N) {
        Value tile = x.tile({M, N})(0, 0);
        up.tile({M, N})(0, 0) = sort(tile);
        down.tile({M, N})(0, 0) = sort(tile, true);
      });
  int warps = 1;
  auto check = [&]<class T>(T) {
    for (auto [m, n] : kRows) {
      SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + " warps " + std::to_string(warps));
      std::vector<T> x = mixed<T>(m * n);
      auto up = output<T>({m, n}, 1), down = output<T>({m, n});
      program.consts(m, n).warps(warps).grid(1)(stream, input({m, n}, x), up.tensor(),
                                                down.tensor());
      std::vector<T> rising = sortedRows(x, n, false), falling = sortedRows(x, n, true);
      expectAll(up.result(), [&](int64_t i) { return exact(rising[size_t(i)]); });
      expectAll(down.result(), [&](int64_t i) { return exact(falling[size_t(i)]); });
      warps = warps == 8 ? 1 : warps * 2;
    }
  };
  check(int32_t()), check(half()), check(float()), check(bfloat16()), check(int8_t());
}

TEST_P(Sorting, TheLargestOfEachRow) {
  static const auto program =
      kernel("topk", [](In<any, 2> x, Out<any, 2> y, Const M, Const N, Const K) {
        y.tile({M, K})(0, 0) = topk(x.tile({M, N})(0, 0), K);
      });
  auto check = [&]<class T>(T) {
    int warps = 1;
    for (auto [m, n] : {std::pair(1, 512), {8, 64}, {256, 16}, {512, 8}})
      for (int k : {1, 8}) {
        SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + " top " + std::to_string(k));
        std::vector<T> x = mixed<T>(m * n);
        auto y = output<T>({m, k}, 1);
        program.consts(m, n, k).warps(warps).grid(1)(stream, input({m, n}, x), y.tensor());
        std::vector<T> falling = sortedRows(x, n, true);
        expectAll(y.result(), [&](int64_t i) { return exact(falling[size_t(i / k * n + i % k)]); });
        warps = warps == 8 ? 1 : warps * 2;
      }
  };
  check(int32_t()), check(float());
}

} // namespace
