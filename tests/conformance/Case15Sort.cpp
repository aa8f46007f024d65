// Case 15, sorting: whole rows and their first eight, in both directions, exactly as the standard library orders them.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(SortedRows, Targets::One);

constexpr int kTop = 8;

struct Rows {
  int m, n;
};
constexpr Rows kRows[] = {{1, 512}, {8, 64}, {256, 16}, {512, 8}};

template <class T> std::vector<T> sortedRows(std::vector<T> x, int n, bool descending) {
  for (auto row = x.begin(); row != x.end(); row += n)
    std::sort(row, row + n,
              [&](T a, T b) { return descending ? exact(a) > exact(b) : exact(a) < exact(b); });
  return x;
}

/// Every bit pattern that is a number, at random; few values in some rows, so that many are equal.
template <class T> std::vector<T> numbers(Rows rows) {
  std::vector<T> x;
  Random random(static_cast<uint64_t>(rows.n));
  while (x.size() < size_t(rows.m) * size_t(rows.n)) {
    uint64_t bits = random.bits();
    T value;
    std::memcpy(&value, &bits, sizeof value);
    if (x.size() / size_t(rows.n) % 3 == 1)
      value = T(static_cast<int>(bits % 5) - 2);
    if (exact(value) == exact(value))
      x.push_back(value);
  }
  return x;
}

TEST_P(SortedRows, WholeAndFirstEightInBothDirections) {
  static const auto program =
      kernel("sort_both", [](In<any, 2> x, Out<any, 2> up, Out<any, 2> down, Out<any, 2> least,
                             Out<any, 2> most, Const M, Const N) {
        Value tile = x.tile({M, N})(0, 0);
        up.tile({M, N})(0, 0) = sort(tile);
        down.tile({M, N})(0, 0) = sort(tile, true);
        least.tile({M, kTop})(0, 0) = topk(tile, kTop, false);
        most.tile({M, kTop})(0, 0) = topk(tile, kTop);
      });
  auto check = [&]<class T>(T) {
    for (Rows rows : kRows) {
      auto [m, n] = rows;
      SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + " " + std::to_string(m) + "x" +
                   std::to_string(n));
      std::vector<T> x = numbers<T>(rows);
      auto up = output<T>({m, n}, 1), down = output<T>({m, n});
      auto least = output<T>({m, kTop}), most = output<T>({m, kTop}, 3);
      program.consts(m, n).grid(1)(stream, input({m, n}, x), up.tensor(), down.tensor(),
                                   least.tensor(), most.tensor());
      for (bool descending : {false, true}) {
        std::vector<T> expected = sortedRows(x, n, descending);
        auto top = [&](int64_t i) { return exact(expected[size_t(i / kTop * n + i % kTop)]); };
        expectAll((descending ? down : up).result(),
                  [&](int64_t i) { return exact(expected[size_t(i)]); });
        expectAll((descending ? most : least).result(), top);
      }
    }
  };
  check(int32_t()), check(half()), check(float()), check(bfloat16());
}

} // namespace
