// Conformance 9: scans of every shape of the case along both axes in both directions with 4 and 16
// warps: sums, products, a combination that does not commute, a linear recurrence, a running maximum
// with its index, and one of three operands.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(ConformanceScan, Targets::One);

struct Shape2 {
  int rows, columns;
};
constexpr Shape2 kShapes[] = {{8, 32}, {32, 16}, {2, 1024}, {1024, 2}, {1, 1024}};

/// Calls `visit(from, to)` for each step of a scan over a row-major matrix: `to` continues `from`,
/// which is -1 where a scan begins.
template <class Visit> void walk(Shape2 shape, int axis, bool reverse, Visit visit) {
  int lines = axis ? shape.rows : shape.columns, length = axis ? shape.columns : shape.rows;
  for (int line = 0; line < lines; ++line)
    for (int i = 0; i < length; ++i) {
      auto place = [&](int k) {
        int at = reverse ? length - 1 - k : k;
        return axis ? line * shape.columns + at : at * shape.columns + line;
      };
      visit(i ? place(i - 1) : -1, place(i));
    }
}

/// Runs `check(shape, axis, reverse, warps)` over all combinations.
template <class Check> void forAll(Check check) {
  for (Shape2 shape : kShapes)
    for (int axis : {0, 1})
      for (bool reverse : {false, true})
        for (int warps : {4, 16}) {
          SCOPED_TRACE(std::to_string(shape.rows) + "x" + std::to_string(shape.columns) + " axis " +
                       std::to_string(axis) + (reverse ? " reverse " : " ") +
                       std::to_string(warps));
          check(shape, axis, reverse, warps);
        }
}

std::vector<int> integers(Shape2 shape, int modulus) {
  std::vector<int> x;
  for (int i = 0; i < shape.rows * shape.columns; ++i)
    x.push_back(i * 37 % modulus - modulus / 3);
  return x;
}

TEST_P(ConformanceScan, IntegersExactly) {
  static const auto program = kernel(
      "int_scans", [](In<i32, 2> x, Out<i32, 2> sums, Out<i32, 2> products, Out<i32, 2> first,
                      Out<i32, 2> roll, Const M, Const N, Const Axis, Const Reverse) {
        Value v = x.tile({M, N})(0, 0);
        bool reverse = Reverse != 0;
        sums.tile({M, N})(0, 0) = cumsum(v, Axis, {.reverse = reverse});
        products.tile({M, N})(0, 0) = cumprod(v, Axis, {.reverse = reverse});
        first.tile({M, N})(0, 0) = scan(
            v, Axis, [](Value earlier, Value) { return earlier; }, reverse);
        // Associative, not commutative: the last two elements so far.
        std::vector<Value> start = {v, v * 0, v * 0 + 1};
        auto rolled = scan(
            start, Axis,
            [](const std::vector<Value> &a, const std::vector<Value> &b) {
              return std::vector<Value>{b[0], select(b[2] == 1, a[0], b[1]), a[2] + b[2]};
            },
            reverse);
        roll.tile({M, N})(0, 0) = rolled[0] * 3 + rolled[1] + rolled[2];
      });
  forAll([&](Shape2 s, int axis, bool reverse, int warps) {
    std::vector<int> x = integers(s, 10), sums = x, products = x, first = x, roll = x;
    std::vector<int> before(x.size(), 0), counts(x.size(), 1);
    walk(s, axis, reverse, [&](int from, int to) {
      size_t at = size_t(to), last = size_t(std::max(from, 0));
      if (from >= 0) {
        sums[at] = sums[last] + x[at];
        products[at] = int(unsigned(products[last]) * unsigned(x[at]));
        first[at] = first[last];
        before[at] = x[last];
        counts[at] = counts[last] + 1;
      }
      roll[at] = x[at] * 3 + before[at] + counts[at];
    });
    auto a = output<int32_t>({s.rows, s.columns}), b = output<int32_t>({s.rows, s.columns}),
         c = output<int32_t>({s.rows, s.columns}), d = output<int32_t>({s.rows, s.columns});
    program.consts(s.rows, s.columns, axis, int(reverse))
        .warps(warps)
        .grid(1)(stream, input({s.rows, s.columns}, x), a.tensor(), b.tensor(), c.tensor(),
                 d.tensor());
    EXPECT_EQ(a.result(), sums);
    EXPECT_EQ(b.result(), products);
    EXPECT_EQ(c.result(), first);
    EXPECT_EQ(d.result(), roll);
  });
}

TEST_P(ConformanceScan, LinearRecurrenceAndRunningMaximum) {
  static const auto program =
      kernel("float_scans", [](In<f32, 2> x, Out<f32, 2> y, Out<f32, 2> most, Out<i64, 2> where,
                               Const M, Const N, Const Axis, Const Reverse) {
        Value v = x.tile({M, N})(0, 0), factor = v * 0.0f + 0.5f;
        bool reverse = Reverse != 0;
        // y[i] = factor * y[i-1] + x[i]
        auto recurrence = scan(
            {factor, v}, Axis,
            [](const std::vector<Value> &a, const std::vector<Value> &b) {
              return std::vector<Value>{a[0] * b[0], a[1] * b[0] + b[1]};
            },
            reverse);
        y.tile({M, N})(0, 0) = recurrence[1];
        auto largest = scan(
            {v, cast(i64, broadcast_to(index(Axis, {M, N}), {M, N}))}, Axis,
            [](const std::vector<Value> &a, const std::vector<Value> &b) {
              Value later = b[0] > a[0];
              return std::vector<Value>{select(later, b[0], a[0]), select(later, b[1], a[1])};
            },
            reverse);
        most.tile({M, N})(0, 0) = largest[0];
        where.tile({M, N})(0, 0) = largest[1];
      });
  forAll([&](Shape2 s, int axis, bool reverse, int warps) {
    std::vector<float> x = uniform<float>(s.rows * s.columns), most = x;
    std::vector<double> y(x.begin(), x.end());
    std::vector<int64_t> where(x.size());
    walk(s, axis, reverse, [&](int from, int to) {
      size_t at = size_t(to), last = size_t(std::max(from, 0));
      where[at] = axis ? to % s.columns : to / s.columns;
      if (from < 0)
        return;
      y[at] = 0.5 * y[last] + x[at];
      if (!(x[at] > most[last]))
        most[at] = most[last], where[at] = where[last];
    });
    auto a = output<float>({s.rows, s.columns}), b = output<float>({s.rows, s.columns});
    auto c = output<int64_t>({s.rows, s.columns});
    program.consts(s.rows, s.columns, axis, int(reverse))
        .warps(warps)
        .grid(1)(stream, input({s.rows, s.columns}, x), a.tensor(), b.tensor(), c.tensor());
    expectAll(a.result(), [&](int64_t i) { return y[size_t(i)]; }, {.absolute = 1e-5});
    EXPECT_EQ(b.result(), most);
    EXPECT_EQ(c.result(), where);
  });
}

} // namespace
