// Printing, assertions, checked builds, promises.
#include "tests/execution/Findings.h"
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Debugging, Targets::One);

const auto prints = kernel("prints", [](In<f32, 2> x, Scalar<u8> n, Scalar<i64> m) {
  device_print("100% of n", {n, m});
  device_print("hex", {n, m}, {.hex = true});
  device_print("here");
  Value tile = x.tile({2, 3})(program_id(0), 0);
  device_print("x", {tile, tile > 1.5f, cast(f16, tile)});
});

TEST_P(Debugging, PrintsEachElementOnce) {
  testing::internal::CaptureStdout();
  prints.warps(2).grid(2)(stream,
                          input({4, 3}, std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}),
                          200, int64_t(-5));
  stream.synchronize();
  std::string text = testing::internal::GetCapturedStdout();
  auto times = [&](const std::string &line) {
    int count = 0;
    for (size_t at = text.find(line); at != std::string::npos; at = text.find(line, at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(times("program (0, 0, 0) 100% of n: 200, -5\n"), 1) << text;
  EXPECT_EQ(times("program (1, 0, 0) hex: 0xc8, 0xfffffffffffffffb\n"), 1) << text;
  EXPECT_EQ(times(" here\n"), 2) << text;
  EXPECT_EQ(times("program (0, 0, 0) [0, 2] x: 2, 1, 2\n"), 1) << text;
  EXPECT_EQ(times("program (1, 0, 0) [1, 0] x: 9, 1, 9\n"), 1) << text;
  EXPECT_EQ(times(" x: "), 12) << text;
}

const auto asserts = kernel("asserts", [](In<i32, 1> x, Out<i32, 1> y, Const B) {
  Value i = grid1d(y, {B}), v = x.tile({B})(i);
  Value inside = x.tile({B}).inside(i);
  device_assert(v < 100, "v is small", inside);
  y.tile({B})(i) = v;
});

TEST_P(Debugging, AssertsInCheckedBuildsAlone) {
  std::vector<int> x(200, 7);
  auto y = output<int32_t>({200});
  asserts.consts(64).checked()(stream, input({200}, x), y.tensor());
  expectAll(y.result(), [](int64_t) { return 7; });
  x[150] = 100;
  asserts.consts(64)(stream, input({200}, x), y.tensor());
  stream.synchronize();
  expectFinding(GetParam(),
                [&] {
                  asserts.consts(64).checked()(stream, input({200}, x), y.tensor());
                  stream.synchronize();
                },
                {"v is small", "DebugTest.cpp:" + std::to_string(asserts.record().where.line + 3)});
}

TEST_P(Debugging, AFindingInAChildProcessEndsThatAlone) {
  std::vector<int> x(64, 100);
  auto y = output<int32_t>({64});
  expectFindingInChild(
      [&] {
        asserts.consts(64).checked()(stream, input({64}, x), y.tensor());
        stream.synchronize();
      },
      {"v is small"});
  x.assign(64, 7);
  asserts.consts(64).checked()(stream, input({64}, x), y.tensor());
  expectAll(y.result(), [](int64_t) { return 7; });
}

/// A run of a checked program by one block: without a finding if that is empty.
template <class Program, class T>
void checkedRun(const std::string &device, const Program &program, const Stream &stream,
                TensorOf<T> x, TensorOf<T> y, const std::string &finding) {
  auto run = [&] {
    program.checked().grid(1)(stream, x, y);
    stream.synchronize();
  };
  if (finding.empty())
    EXPECT_NO_THROW(run());
  else
    expectFinding(device, run, {finding});
}

/// One operation between the elements 0 and 1 of the input.
template <DType D, class F> auto operation(F) {
  return kernel("operation", [](In<D, 1> x, Out<D, 1> y) {
    Value a = item(x.tile({1})(0)), b = item(x.tile({1})(1));
    y.tile({1})(0) = splat(F()(a, b), {1});
  });
}

TEST_P(Debugging, IntegerOverflowIsFound) {
  auto check = [&](const auto &program, auto a, auto b, const char *finding) {
    using T = decltype(a);
    auto y = device().template tensor<T>({1});
    SCOPED_TRACE(std::to_string(a) + ", " + std::to_string(b));
    checkedRun(GetParam(), program, stream, input<T>({2}, {a, b}), y, finding);
  };
  static const auto add8 = operation<i8>([](Value a, Value b) { return a + b; });
  static const auto sub32 = operation<u32>([](Value a, Value b) { return a - b; });
  static const auto mul32 = operation<i32>([](Value a, Value b) { return a * b; });
  static const auto mulU32 = operation<u32>([](Value a, Value b) { return a * b; });
  static const auto minus16 = operation<i16>([](Value a, Value) { return -a; });
  static const auto div32 = operation<i32>([](Value a, Value b) { return a / b; });
  static const auto rem64 = operation<i64>([](Value a, Value b) { return a % b; });
  static const auto add64 = operation<i64>([](Value a, Value b) { return a + b; });
  check(add8, int8_t(100), int8_t(27), "");
  check(add8, int8_t(100), int8_t(28), "+ overflows i8");
  check(add8, int8_t(-100), int8_t(-29), "+ overflows i8");
  check(sub32, 5u, 5u, "");
  check(sub32, 5u, 6u, "- overflows u32");
  check(mul32, 46340, 46340, "");
  check(mul32, 46341, 46341, "* overflows i32");
  check(mul32, std::numeric_limits<int>::min(), -1, "* overflows i32");
  check(mulU32, 65535u, 65537u, "");
  check(mulU32, 65536u, 65536u, "* overflows u32");
  check(minus16, int16_t(-32767), int16_t(0), "");
  check(minus16, int16_t(-32768), int16_t(0), "- overflows i16");
  check(div32, 1, 0, "division by zero");
  check(div32, std::numeric_limits<int>::min(), -1, "/ overflows i32");
  check(div32, std::numeric_limits<int>::min(), 1, "");
  check(rem64, int64_t(1), int64_t(0), "division by zero");
  check(add64, std::numeric_limits<int64_t>::max(), int64_t(1), "");
}

TEST_P(Debugging, BrokenPromisesAreFound) {
  static const auto multiple = kernel("multiple", [](In<i32, 1> x, Out<i32, 1> y) {
    Value n = multiple_of(item(x.tile({1})(0)), {16});
    y.tile({1})(0) = splat(n, {1});
  });
  static const auto runs = kernel("runs", [](In<i32, 1> x, Out<i32, 1> y) {
    y.tile({8})(0) = max_contiguous(multiple_of(x.tile({8})(0), {4}), {4});
  });
  static const auto equal = kernel("equal", [](In<i32, 1> x, Out<i32, 1> y) {
    y.tile({8})(0) = max_constancy(x.tile({8})(0), {2});
  });
  static const auto assumed = kernel("assumed", [](In<i32, 1> x, Out<i32, 1> y) {
    Value n = item(x.tile({1})(0));
    assume(n % 8 == 0);
    y.tile({1})(0) = splat(n, {1});
  });
  static const auto unchecked = kernel("unchecked", [](In<i32, 1> x, Out<i32, 1> y) {
    y.tile({8})(0) = x.tile({8}).unchecked()(0);
  });
  static const auto gathers = kernel("gathers", [](In<i32, 1> x, Out<i32, 1> y) {
    y.tile({8})(0) = gather(index(0, {8}), x.tile({8})(0), 0);
  });
  static const auto picks = kernel("picks", [](In<i32, 1> x, Out<i32, 1> y) {
    Value at = x.tile({8})(0);
    y.tile({8}).unchecked().scatter(0, at) = x.tile({8}).unchecked().gather(0, at);
  });
  auto check = [&](const auto &program, std::vector<int> x, const char *finding) {
    auto y = device().tensor<int32_t>({8});
    int64_t size = static_cast<int64_t>(x.size());
    checkedRun(GetParam(), program, stream, input<int32_t>({size}, x), y, finding);
  };
  check(multiple, {48, 0, 0, 0, 0, 0, 0, 0}, "");
  check(multiple, {40, 0, 0, 0, 0, 0, 0, 0}, "multiple_of: the promise of 16 is broken");
  check(runs, {4, 5, 6, 7, 100, 101, 102, 103}, "");
  check(runs, {4, 5, 6, 7, 101, 102, 103, 104}, "multiple_of: the promise of 4 along dimension 0");
  check(runs, {4, 5, 6, 7, 100, 101, 103, 104}, "max_contiguous: the promise of 4");
  check(equal, {1, 1, 2, 2, 5, 5, 4, 4}, "");
  check(equal, {1, 1, 2, 2, 5, 5, 4, 3}, "max_constancy: the promise of 2");
  check(assumed, {16, 0, 0, 0, 0, 0, 0, 0}, "");
  check(assumed, {17, 0, 0, 0, 0, 0, 0, 0}, "assume: the promise is broken");
  check(unchecked, std::vector<int>(8, 1), "");
  check(unchecked, std::vector<int>(7, 1), "unchecked: the tile is not inside the tensor");
  check(picks, {0, 7, 6, 5, 4, 3, 2, 1}, "");
  check(picks, {0, 7, 6, 5, 4, 3, 2, 8}, "unchecked: an index is outside the tensor");
  check(gathers, {0, 7, 3, 2, 1, 0, 0, 0}, "");
  check(gathers, {0, 8, 3, 2, 1, 0, 0, 0}, "gather: an index is outside the source");
  check(gathers, {0, -1, 3, 2, 1, 0, 0, 0}, "gather: an index is outside the source");
}

/// Everything the library computes with wrapping integers stays quiet in checked builds.
TEST_P(Debugging, CheckedBuildsOfCorrectKernelsFindNothing) {
  static const auto program = kernel("quiet", [](In<f32, 2> x, Out<f32, 2> y, Const B) {
    auto [m, n] = grid2d(y, {B, B}).swizzled(2);
    Value v = x.tile({B, B})(m, n);
    Value noise = rand(42, index(0, {B, B}) * B + index(1, {B, B}));
    Value rows = sum(v, 1, {.keep_dims = true});
    y.tile({B, B})(m, n) = v + noise * 0.0f + rows * 0.0f;
    debug_barrier();
  });
  std::vector<float> x = uniform<float>(70 * 45);
  auto y = output<float>({70, 45});
  program.consts(32).checked()(stream, input({70, 45}, x), y.tensor());
  expectAll(y.result(), [&](int64_t i) { return x[size_t(i)]; });
}

} // namespace
