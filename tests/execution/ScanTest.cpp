// Scans along each axis in both directions: sums and products, and functions that do not commute.
#include "tests/execution/Harness.h"

#include <functional>

using namespace tile;
using namespace tile::test;

namespace {

struct Case {
  int m, n, axis, reverse, warps;
};
std::string show(const Case &c) {
  return std::to_string(c.m) + "x" + std::to_string(c.n) + " axis " + std::to_string(c.axis) +
         (c.reverse ? " reverse" : "") + " warps " + std::to_string(c.warps);
}

/// result[i] = all operands up to i, folded one after the other.
template <class T, class F>
std::vector<T> scanned(const Case &c, const std::vector<T> &x, F combine) {
  std::vector<T> result = x;
  int length = c.axis == 0 ? c.m : c.n, step = c.axis == 0 ? c.n : 1;
  for (int line = 0; line < c.m * c.n / length; ++line)
    for (int k = 1; k < length; ++k) {
      int start = c.axis == 0 ? line : line * c.n;
      int later = start + (c.reverse ? length - 1 - k : k) * step;
      int earlier = later + (c.reverse ? step : -step);
      result[size_t(later)] = combine(result[size_t(earlier)], x[size_t(later)]);
    }
  return result;
}

class Scans : public OnDevice {
protected:
  /// Runs check(case) on the shapes that go wrong first, along both axes and in both directions.
  template <class Check>
  void forCases(std::initializer_list<std::pair<int, int>> shapes, std::initializer_list<int> warps,
                Check check) {
    for (auto [m, n] : shapes)
      for (int axis : {0, 1})
        for (int reverse : {0, 1})
          for (int count : warps) {
            Case c{m, n, axis, reverse, count};
            SCOPED_TRACE(show(c));
            check(c);
            if (HasFailure())
              return;
          }
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, Scans, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

using Values = std::vector<Value>;

TEST_P(Scans, IntegerFunctions) {
  static const auto program = kernel(
      "scan_i32", [](In<i32, 2> x, Out<i32, 3> y, Const M, Const N, Const Axis, Const Reverse) {
        Value tile = x.tile({M, N})(0, 0);
        bool reverse = Reverse != 0;
        auto put = [&](int plane, Value v) { y.tile({1, M, N})(plane, 0, 0) = expand_dims(v, 0); };
        put(0, cumsum(tile, Axis, {.reverse = reverse}));
        put(1, scan(
                   tile, Axis, [](Value earlier, Value) { return earlier; }, reverse));
        Values largest = scan(
            {tile, cast(i64, index(Axis, {M, N}))}, Axis,
            [](const Values &a, const Values &b) {
              Value later = b[0] > a[0];
              return Values{select(later, b[0], a[0]), select(later, b[1], a[1])};
            },
            reverse);
        put(2, largest[0]);
        put(3, cast(i32, largest[1]));
        // Each element takes over the one before it.
        Values rolled = scan(
            {full(i32, {M, N}, 1), zeros(i32, {M, N}), tile}, Axis,
            [](const Values &a, const Values &b) {
              return Values{a[0] + b[0], select(b[0] == 1, a[2], 0) + b[1], b[2]};
            },
            reverse);
        put(4, rolled[1]);
      });
  forCases({{8, 32}, {32, 16}, {2, 1024}, {1024, 2}, {1, 1024}}, {4, 16}, [&](const Case &c) {
    std::vector<int32_t> x = uniform<int32_t>(c.m * c.n, -9, 9, 31), indices;
    for (int i = 0; i < c.m * c.n; ++i)
      indices.push_back(i);
    auto y = output<int32_t>({5, c.m, c.n}, 1);
    program.consts(c.m, c.n, c.axis, c.reverse)
        .warps(c.warps)
        .grid(1)(stream, input({c.m, c.n}, x), y.tensor());
    auto first = scanned(c, x, [](int32_t a, int32_t) { return a; });
    auto sums = scanned(c, x, [](int32_t a, int32_t b) { return a + b; });
    auto best = scanned(c, indices,
                        [&](int32_t a, int32_t b) { return x[size_t(b)] > x[size_t(a)] ? b : a; });
    auto previous =
        scanned(c, indices, [](int32_t, int32_t b) { return -1 - b; }); // -1 - i: not the first
    int step = (c.axis == 0 ? c.n : 1) * (c.reverse ? 1 : -1);
    std::vector<int32_t> results = y.result();
    expectAll(results, [&](int64_t at) -> int32_t {
      auto i = size_t(at % (c.m * c.n));
      int64_t position = c.axis == 0 ? best[i] / c.n : best[i] % c.n;
      int32_t expected[] = {sums[i], first[i], x[size_t(best[i])], int32_t(position),
                            previous[i] < 0 ? x[size_t(int(i) + step)] : 0};
      return expected[at / (c.m * c.n)];
    });
  });
}

TEST_P(Scans, FloatFunctions) {
  static const auto program = kernel(
      "scan_f32", [](In<f32, 2> x, Out<f32, 3> y, Const M, Const N, Const Axis, Const Reverse) {
        Value tile = x.tile({M, N})(0, 0);
        bool reverse = Reverse != 0;
        auto put = [&](int plane, Value v) { y.tile({1, M, N})(plane, 0, 0) = expand_dims(v, 0); };
        put(0, cumprod(tile, Axis - 2, {.reverse = reverse}));
        // h = a * h + b, with b = 1 - a: maps compose, later after earlier.
        Values line = scan(
            {tile, 1.0f - tile}, Axis,
            [](const Values &f, const Values &g) {
              return Values{f[0] * g[0], f[1] * g[0] + g[1]};
            },
            reverse);
        put(1, line[1]);
      });
  forCases({{8, 32}, {32, 16}, {2, 1024}, {1024, 2}, {1, 1024}}, {4, 16}, [&](const Case &c) {
    std::vector<float> x = uniform<float>(c.m * c.n, 0.96, 1.04, 32);
    auto y = output<float>({2, c.m, c.n});
    program.consts(c.m, c.n, c.axis, c.reverse)
        .warps(c.warps)
        .grid(1)(stream, input({c.m, c.n}, x), y.tensor());
    std::vector<double> wide(x.begin(), x.end());
    std::vector<std::pair<double, double>> maps;
    for (double a : wide)
      maps.emplace_back(a, 1 - a);
    auto products = scanned(c, wide, std::multiplies<double>());
    auto lines = scanned(c, maps, [](auto f, auto g) {
      return std::pair(f.first * g.first, f.second * g.first + g.second);
    });
    std::vector<float> results = y.result();
    expectAll(results,
              [&](int64_t at) {
                auto i = size_t(at % (c.m * c.n));
                return at < c.m * c.n ? products[i] : lines[i].second;
              },
              {64, 1e-4});
  });
}

TEST_P(Scans, SumsInEveryDtypeOverOddExtents) {
  static const auto program = kernel(
      "cumsum", [](In<any, 2> x, Out<any, 2> y, Const M, Const N, Const Axis, Const Reverse) {
        y.tile({M, N})(0, 0) = cumsum(x.tile({M, N})(0, 0), Axis, {.reverse = Reverse != 0});
      });
  auto check = [&]<class X, class Y>(X, Y, Within within) {
    int warps = 1;
    for (auto [m, n] : {std::pair(96, 16), {3, 5}, {1, 1}, {8, 176}, {640, 1}, {1, 640}, {64, 64}})
      for (int axis : {0, 1}) {
        Case c{m, n, axis, (m + axis) % 2, warps};
        SCOPED_TRACE(show(c));
        std::vector<X> x = uniform<X>(m * n, 0, 4, 33);
        std::vector<double> wide;
        for (X value : x)
          wide.push_back(static_cast<double>(exact(value)));
        auto y = output<Y>({m, n}, 1);
        program.consts(m, n, axis, c.reverse)
            .warps(warps)
            .grid(1)(stream, input({m, n}, x), y.tensor());
        auto expected = scanned(c, wide, std::plus<double>());
        expectAll(
            y.result(), [&](int64_t i) { return expected[size_t(i)]; }, within);
        warps = warps == 8 ? 1 : warps * 2;
      }
  };
  check(int8_t(), int32_t(), kExactly), check(uint8_t(), uint32_t(), kExactly);
  check(int16_t(), int32_t(), kExactly), check(int64_t(), int64_t(), kExactly);
  check(half(), half(), {0.51, 1e-3}), check(bfloat16(), bfloat16(), {0.51, 1e-3});
  check(float(), float(), {16, 1e-5}), check(double(), double(), {16, 1e-13});
}

TEST_P(Scans, DtypeIsCastToFirst) {
  static const auto program = kernel("cumsum_i8", [](In<i8, 1> x, Out<i8, 1> y) {
    y.tile({128})(0) = cumsum(x.tile({128})(0), 0, {.dtype = i8});
  });
  auto y = output<int8_t>({128});
  program.grid(1)(stream, input({128}, std::vector<int8_t>(128, 7)), y.tensor());
  expectAll(y.result(), [](int64_t i) { return static_cast<int8_t>(7 * (i + 1)); });
}

TEST_P(Scans, OfWhatNoMemoryAccessLaidOutAndInLoops) {
  static const auto program = kernel("scan_loop", [](Out<i32, 1> y, Const N) {
    auto total = var(cumsum(arange(N)));
    for (auto i : range(3))
      total = cumsum(flip(total, 0)) + i;
    y.tile({N})(0) = total;
  });
  for (int n : {32, 128, 512})
    for (int warps : {1, 4, 8}) {
      auto y = output<int32_t>({n});
      program.consts(n).warps(warps).grid(1)(stream, y.tensor());
      std::vector<uint32_t> x(static_cast<size_t>(n));
      for (int i = 0; i < n; ++i)
        x[size_t(i)] = uint32_t(i) + (i ? x[size_t(i - 1)] : 0);
      for (uint32_t round = 0; round < 3; ++round) {
        std::reverse(x.begin(), x.end());
        for (int i = 1; i < n; ++i)
          x[size_t(i)] += x[size_t(i - 1)];
        for (uint32_t &value : x)
          value += round;
      }
      expectAll(y.result(), [&](int64_t i) { return static_cast<int32_t>(x[size_t(i)]); });
    }
}

} // namespace
