// Wrong programs: the exact first line of each message, the notes that name operands and constants,
// and that at most three lines come out.
#include "tests/frontend/Trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <optional>

using namespace tile;
using namespace tile::test;

/// The error of tracing a kernel.
template <class K>
static std::optional<Error> errorOf(const K &kernel, const std::vector<int64_t> &consts = {}) {
  try {
    irOf(kernel, consts);
  } catch (const Error &error) {
    return error;
  }
  ADD_FAILURE() << "the kernel was accepted";
  return std::nullopt;
}

/// The line of this file that an error points at. The tests run where the compiler ran, so that its
/// path holds.
static std::string sourceLine(const Error &error) {
  std::ifstream source(error.file());
  EXPECT_TRUE(source) << "run this test in the build folder; cannot read " << error.file();
  std::string line;
  for (int i = 0; i < error.line(); ++i)
    std::getline(source, line);
  return line;
}

/// Traces a lambda that must fail with this first line, at a line of this file that contains
/// `onLine`.
template <class F>
static void expectError(F lambda, const std::string &expected, const char *onLine = nullptr) {
  std::optional<Error> error = errorOf(kernel("wrong", lambda));
  if (!error)
    return;
  EXPECT_EQ(error->message(), expected) << error->what();
  EXPECT_EQ(error->fault(), Fault::User);
  std::string text = error->what(), first = text.substr(0, text.find('\n'));
  std::string file = error->file();
  EXPECT_NE(file.find("DiagnosticsTest.cpp"), std::string::npos) << text;
  EXPECT_EQ(first, file + ":" + std::to_string(error->line()) + ": error: " + expected);
  if (onLine) {
    EXPECT_NE(sourceLine(*error).find(onLine), std::string::npos) << text;
  }
  EXPECT_LE(count(text, "\n"), 3) << text;
  EXPECT_NE(text.find("in kernel 'wrong'"), std::string::npos) << text;
}

TEST(Diagnostics, DotInnerSizesNameBothOperandsAndTheBinding) {
  auto wrong = kernel("matmul", [](In<f16, 2> A, In<f16, 2> B, Out<f32, 2> C, Const BM, Const BK) {
                 Value a = A.tile({BM, BK})(0, 0);
                 Value b = B.tile({BK * 2, 16})(0, 0);
                 C.tile({BM, 16})(0, 0) = dot(a, b);
               }).named("A", "B", "C", "BM", "BK");
  std::optional<Error> error = errorOf(wrong, {64, 32});
  ASSERT_TRUE(error);
  int line = error->line();
  EXPECT_NE(sourceLine(*error).find("= dot(a, b);"), std::string::npos);
  std::string file = error->file(), at = file + ":";
  EXPECT_EQ(std::string(error->what()),
            at + std::to_string(line) +
                ": error: dot: inner sizes differ: lhs is 64x32, rhs is 64x16 (32 != 64)\n" +
                "  note: lhs made at " + at + std::to_string(line - 2) + ", rhs made at " + at +
                std::to_string(line - 1) +
                "\n  note: in kernel 'matmul' with constants BM=64, BK=32");
  EXPECT_EQ(error->code(), ErrorCode::InvalidShape);
}

TEST(Diagnostics, Dot) {
  expectError(
      [](In<f16, 1> a) { dot(a.tile({32})(0), a.tile({32})(0)); },
      "dot: the left operand must have 2 dimensions, or 3 with the batch first, got f16[32]",
      "[](In<f16, 1> a) { dot(");
  expectError(
      [](In<f16, 2> a, In<bf16, 2> b) {
        dot(a.tile({32, 32})(0, 0), b.tile({32, 32})(0, 0));
      },
      "dot: operands must have one dtype, got f16 and bf16: cast one of them");
  expectError(
      [](In<f16, 2> a) {
        dot(a.tile({32, 8})(0, 0), a.tile({8, 32})(0, 0));
      },
      "dot: the inner size must be at least 16 for f16, got 8");
  expectError(
      [](In<i32, 2> a) {
        dot(a.tile({32, 32})(0, 0), a.tile({32, 32})(0, 0));
      },
      "dot: no matrix product of i32; supported: i8, u8, e4m3, e5m2, f16, bf16, f32, f64");
  expectError(
      [](In<f16, 2> a) {
        dot(a.tile({32, 32})(0, 0), a.tile({32, 32})(0, 0), zeros(f32, {32, 64}));
      },
      "dot: acc is 32x64, but the product is 32x32");
  expectError(
      [](In<bf16, 2> a) {
        dot(a.tile({32, 32})(0, 0), a.tile({32, 32})(0, 0), zeros(bf16, {32, 32}));
      },
      "dot: a product of bf16 accumulates in f32, but acc is bf16");
  expectError(
      [](In<bf16, 2> a) {
        dot(a.tile({32, 32})(0, 0), a.tile({32, 32})(0, 0), {.accumulator = f16});
      },
      "dot: a product of bf16 accumulates in f32, but the options' accumulator is f16: cast the "
      "operands to f16, or leave it out");
  expectError(
      [](In<f16, 2> a) {
        dot(a.tile({32, 32})(0, 0), a.tile({32, 32})(0, 0), zeros(f32, {32, 32}),
            {.accumulator = f16});
      },
      "dot: the options' accumulator is f16, but acc is f32: begin with zeros of f16, or leave the "
      "option out");
  expectError(
      [](In<i8, 2> a, In<u8, 2> b) {
        dot(a.tile({32, 32})(0, 0), b.tile({32, 32})(0, 0));
      },
      "dot: operands must have one dtype, got i8 and u8: cast one of them");
  expectError(
      [](In<i8, 2> a) {
        dot(a.tile({32, 32})(0, 0), a.tile({32, 32})(0, 0), zeros(f32, {32, 32}));
      },
      "dot: a product of i8 accumulates in i32, but acc is f32");
  expectError(
      [](In<u8, 2> a) {
        dot(a.tile({32, 16})(0, 0), a.tile({16, 32})(0, 0));
      },
      "dot: the inner size must be at least 32 for u8, got 16");
  expectError(
      [](In<f16, 3> a) {
        dot(a.tile({2, 32, 32})(0, 0, 0), a.tile({4, 32, 32})(0, 0, 0));
      },
      "dot: batches differ: lhs is 2x32x32, rhs is 4x32x32");
}

TEST(Diagnostics, CompoundAssignmentsAreAtTheUsersLine) {
  const char *fault =
      "a plain Value from outside is assigned in a staged region, which would be lost at its end: "
      "declare with var(...)";
  expectError(
      [](In<f32, 1> x, Scalar<i32> n) {
        Value sum = zeros(f32, {32});
        for (auto i : range(n))
          sum += x.tile({32})(i);
      },
      fault, "sum += x");
  expectError(
      [](Scalar<i32> n) {
        Value sum = n * 1;
        for (auto i : range(n))
          sum -= i;
      },
      fault, "sum -= i");
  expectError(
      [](Scalar<i32> n) {
        Value product = n + 1;
        if_(n > 3, [&] { product *= 2; });
      },
      fault, "product *= 2");
  expectError(
      [](Scalar<i32> n) {
        Value part = n + 1;
        if_(n > 3, [&] { part /= 2; });
      },
      fault, "part /= 2");
}

TEST(Diagnostics, MissingVarNamesBothLines) {
  auto wrong = kernel("wrong", [](In<f32, 1> x, Out<f32, 1> y, Scalar<i32> n) {
    Value sum = zeros(f32, {32});
    for (auto i : range(n))
      sum = sum + x.tile({32})(i);
    y.tile({32})(0) = sum;
  });
  std::optional<Error> error = errorOf(wrong);
  ASSERT_TRUE(error);
  int line = error->line();
  EXPECT_NE(sourceLine(*error).find("sum = sum + x"), std::string::npos);
  EXPECT_EQ(
      error->message(),
      "a plain Value from outside is assigned in a staged region, which would be lost at its end: "
      "declare with var(...)");
  EXPECT_NE(
      std::string(error->what()).find("made at " + error->file() + ":" + std::to_string(line - 2)),
      std::string::npos)
      << error->what();
}

TEST(Diagnostics, MissingVarInABranch) {
  expectError(
      [](Scalar<i32> n) {
        Value x;
        if_(n > 0, [&] { x = n + 1; });
      },
      "a plain Value from outside is assigned in a staged region, which would be lost at its end: "
      "declare with var(...)",
      "x = n + 1;");
}

TEST(Diagnostics, Variables) {
  expectError(
      [](Scalar<i32> n) {
        auto x = var(zeros(f32, {32}));
        x = zeros(f16, {32});
      },
      "var: the variable holds f32[32], but f16[32] is assigned: cast it", "x = zeros(f16, {32});");
  expectError(
      [](Scalar<i32> n) {
        auto x = var(zeros(f32, {32}));
        x = zeros(f32, {64});
      },
      "var: the variable holds f32[32], but f32[64] is assigned: a variable keeps its shape");
  expectError(
      [](Scalar<i32> n) {
        auto x = var(n);
        x = 1.5;
      },
      "var: the floating-point number 1.5 cannot become i32: write an integer, or cast the other "
      "operand");
}

TEST(Diagnostics, ValuesOfClosedRegions) {
  expectError(
      [](Scalar<i32> n) {
        std::vector<Value> kept;
        for (auto i : range(n))
          kept.push_back(i + 1);
        kept[0] + 1;
      },
      "the value is used after its staged region ended: carry it out with var(...)",
      "kept[0] + 1;");
  expectError([](Scalar<i32>) { Value() + 1; }, "the value is empty: assign to it before using it");
}

TEST(Diagnostics, ValuesOfAnotherTrace) {
  static std::vector<Value> kept;
  auto keeps = kernel("keeps", [](Out<i32, 1> y) { kept.push_back(program_id(0)); });
  irOf(keeps);
  expectError([](Scalar<i32> n) { n + kept[0]; },
              "the value belongs to another kernel's trace: values cannot be kept from one kernel "
              "to another",
              "n + kept[0];");
}

TEST(Diagnostics, NativeBreakAndReturn) {
  expectError(
      [](Scalar<i32> n) {
        for ([[maybe_unused]] auto i : range(n))
          break;
        n + 1;
      },
      "range: the staged loop was left by a native break, return or goto; a staged loop runs to "
      "its end: guard its body "
      "with if_",
      "for ([[maybe_unused]] auto i : range(n))");
  expectError(
      [](Scalar<i32> n) {
        for ([[maybe_unused]] auto i : range(n))
          return;
      },
      "range: the staged loop was left by a native break, return or goto; a staged loop runs to "
      "its end: guard its body "
      "with if_");
}

TEST(Diagnostics, Loops) {
  expectError([](Scalar<f32> n) { range(n).begin(); },
              "range: the upper bound must be an i32 or i64 scalar, got f32");
  expectError([](Scalar<i32> n) { range(arange(8)).begin(); },
              "range: the upper bound must be an i32 or i64 scalar, got i32[8]");
  expectError([](Scalar<i32> n) { range(0, n, 0).begin(); },
              "range: the step is 0, so the loop would never end");
  expectError([](Scalar<i32> n) { range(0.5).begin(); },
              "range: the upper bound must be an integer, got a floating-point number");
  expectError([](Scalar<i32> n) { (void)range(n).stages(0); },
              "range: stages must be at least 1, got 0", ".stages(0)");
}

TEST(Diagnostics, Guards) {
  expectError([](Scalar<i32>) { guard(arange(8) > 3); },
              "guard: the condition is a tile, i1[8]; use select for a choice per element");
  expectError([](Scalar<i32> n) { guard(n); },
              "guard: the condition must be i1, got i32; compare it, as in x != 0");
  expectError(
      [](Scalar<i32>) { guard(true); },
      "guard: the condition is a host value; use a plain C++ if, which specialises the kernel");
  expectError(
      [](Scalar<i32> n) {
        while_(
            [&] {
              guard(n > 0);
              return n > 1;
            },
            [] {});
      },
      "guard: the condition of a while_ has no rest to predicate; put the guard into the body");
}

static Value countDown(Value n) {
  auto result = var(n);
  if_(n > 0, [&] { result = countDown(n - 1); });
  return result;
}

static Value sumDown(Value n) { return n.rank() == 0 ? n + sumDown(n - 1) : n; }

TEST(Diagnostics, RecursionOnStagedValues) {
  expectError([](Scalar<i32> n) { sumDown(n); },
              "the stack is used up: a function that calls itself on staged values never ends, use "
              "while_");
  expectError([](Scalar<i32> n) { countDown(n); },
              "staged regions nest deeper than 128: a function that calls itself on staged values "
              "never ends, use while_");
}

TEST(Diagnostics, GridsOfTiles) {
  expectError([](Scalar<i32> n) { swizzle(n, n, {.group = 0}); },
              "swizzle: the group must be at least 1, got 0");
  expectError([](Scalar<i32> n) { swizzle(arange(8), n); },
              "swizzle: a number of tiles must be an i32 scalar, got i32[8]");
  expectError(
      [](Scalar<i32> n) {
        swizzle(n, n);
        persistent(n);
      },
      "grid: the kernel already has a grid");
  expectError([](Scalar<f32> n) { persistent(n).begin(); },
              "range: the upper bound must be an i32 or i64 scalar, got f32");
}

TEST(Diagnostics, ArgumentsThatOverlapAreTwo) {
  expectError([](In<f32, 2> x) { x.may_alias(x.T()); },
              "may_alias: both views are of argument 1: accesses to one argument are always in "
              "program order",
              "x.may_alias");
}

TEST(Diagnostics, PickedTiles) {
  expectError(
      [](In<f32, 2> x) {
        x.tile({8, 16}).gather(0, arange(16), {0});
      },
      "gather: the indices must be a tile of integers of shape 8, the tile's extent along "
      "dimension 0, got i32[16]",
      "gather(0");
  expectError([](In<f32, 1> x) { x.tile({8}).gather(0, zeros(f32, {8})); },
              "gather: the indices must be a tile of integers of shape 8, the tile's extent along "
              "dimension 0, got f32[8]");
  expectError([](In<f32, 1> x) { x.tile({8}).gather(0, 3); },
              "gather: the indices must be a tile of integers of shape 8, the tile's extent along "
              "dimension 0, got a host number");
  expectError(
      [](In<f32, 2> x) {
        x.tile({8, 16}).gather(0, arange(8));
      },
      "gather: a view of 2 dimensions needs 1 tile indices beside the gathered one, got 0");
  expectError([](In<i32, 1> x) { x.tile({8}).pad(NAN).gather(0, arange(8)); },
              "tile: NaN cannot pad elements of i32");
  expectError([](Out<f32, 1> y) { y.tile({8}).scatter(0, arange(8)) = arange(8); },
              "store: the value must be f32, got i32: write cast(f32, ...)", "scatter(0");
}

TEST(Diagnostics, Hints) {
  expectError([](Scalar<i32>) { hint::warps(3); },
              "hint::warps: warps must be a power of two up to 32, got 3");
  expectError([](Scalar<i32>) { hint::maxnreg(8); },
              "hint::maxnreg: maxnreg must be 16 to 255, got 8");
  expectError([](Scalar<i32>) { hint::occupancy(0); },
              "hint::occupancy: occupancy must be 1 to 32, got 0");
  expectError([](Scalar<i32>) { hint::stages(0); }, "hint::stages: must be at least 1, got 0");
}

TEST(Diagnostics, Promises) {
  expectError([](Scalar<f32> x) { multiple_of(x, {16}); },
              "multiple_of: needs integers of 8 bits or more, got f32");
  expectError([](Scalar<i32> x) { max_contiguous(x, {16}); },
              "max_contiguous: runs are of tiles, got a scalar, i32");
  expectError(
      [](Scalar<i32>) {
        multiple_of(arange(8), {4, 4});
      },
      "multiple_of: needs 1 numbers, one a dimension, got 2");
  expectError([](Scalar<i32>) { max_constancy(arange(8), {0}); },
              "max_constancy: a number must be at least 1, got 0");
  expectError([](Scalar<i32> x) { assume(x); },
              "assume: the condition must be an i1 scalar, got i32");
  expectError([](Scalar<i32>) { assume(true); },
              "assume: the condition is a host value; use require(...)");
}

TEST(Diagnostics, DebuggingAndHints) {
  expectError(
      [](Scalar<i32> x) { device_assert(x, "positive"); },
      "device_assert: the condition and the mask must be i1, got i32; compare it, as in x != 0");
  expectError([](In<f32, 1> x) { device_print("x", {x.ptr()}); },
              "device_print: needs numbers, got ptr<f32>");
  expectError([](In<f32, 1> x) { x.tile({8}).hints({.cache = Cache::wt})(0); },
              "tile: the cache mode wt is for stores");
  expectError([](Out<f32, 1> y) { y.tile({8}).hints({.cache = Cache::cv})(0) = 1.0f; },
              "store: the cache mode cv is for loads");
  expectError([](In<f32, 1> x) { load(x.ptr(), {.cache = Cache::cg, .evict = Evict::last}); },
              "load: give a cache mode or an eviction priority, not both");
  expectError(
      [](Out<f32, 1> y) { store(y.ptr(), 1.0f, {.cache = Cache::cg, .is_volatile = true}); },
      "store: a volatile access takes no cache mode and no eviction priority");
  expectError([](In<f32, 1> x) { prefetch(x.ptr(), 3); },
              "prefetch: the level must be 1 or 2, got 3");
}

TEST(Diagnostics, InlinePtx) {
  expectError(
      [](Scalar<i32> x) { inline_ptx("add.s32 $0, $3, 1;", "=r,r", {x}, {i32}, {.pure = false}); },
      "inline_ptx: the text names $3, but there are 2 registers", "inline_ptx(");
  expectError(
      [](Scalar<i32> x) { inline_ptx("add.s32 $0, $1, 1;", "=r,l", {x}, {i32}, {.pure = false}); },
      "inline_ptx: constraint 1 is 'l', but 'i32' is held by 'r'");
}

TEST(Diagnostics, InlineCuda) {
  expectError([](In<e4m3, 1> x) { inline_cuda("", "f", {x.tile({4})(0)}, f32, {.pure = false}); },
              "inline_cuda: functions take and return i1, i8 to i64, u8 to u64, f16, bf16, f32 and "
              "f64, not "
              "e4m3; bitcast it to u8",
              "inline_cuda(");
  expectError([](Scalar<i32> x) { inline_cuda("", "", {x}, i32, {.pure = false}); },
              "inline_cuda: needs the name of a function", "inline_cuda(");
}

TEST(Diagnostics, Branches) {
  expectError([](Scalar<i32>) { if_(arange(8) > 3, [] {}); },
              "if_: the condition is a tile, i1[8]; use select for a choice per element",
              "if_(arange(8) > 3");
  expectError([](Scalar<i32> n) { if_(n, [] {}); },
              "if_: the condition must be i1, got i32; compare it, as in x != 0");
  expectError(
      [](Scalar<i32>) { if_(true, [] {}); },
      "if_: the condition is a host value; use a plain C++ if, which specialises the kernel");
  expectError(
      [](Scalar<i32> n) {
        If branch = if_(n > 0, [] {});
        n + 1;
        branch.else_([] {});
      },
      "else_: write it directly after its if_, in one statement");
  expectError([](Scalar<i32> n) { while_([&] { return n + 1; }, [] {}); },
              "while_: the condition must be i1, got i32; compare it, as in x != 0");
}

TEST(Diagnostics, Arithmetic) {
  expectError([](In<f32, 1> x) { x.tile({32})(0) + x.tile({64})(0); },
              "+: shapes do not broadcast: lhs is 32, rhs is 64; each pair of extents must be "
              "equal or contain a 1",
              "x.tile({32})(0) + x.tile({64})(0)");
  expectError([](Scalar<i32> a, Scalar<u32> b) { a / b; },
              "'/' on mixed signedness: lhs is i32, rhs is u32; cast one of them");
  expectError([](Scalar<i64> a, Scalar<u8> b) { a % b; },
              "'%' on mixed signedness: lhs is i64, rhs is u8; cast one of them");
  expectError([](Scalar<f32> a) { a & 1; }, "'&' is for integers, got f32");
  expectError([](Scalar<f32> a, Scalar<i32> b) { floor_mod(b, a); },
              "floor_mod: needs integers, got f32");
  expectError([](Scalar<i32> a) { pow(a, 2); }, "pow: needs floats, got i32: cast them first");
  expectError([](Scalar<u8> a) { a + 256; }, "+: the number 256 does not fit u8");
  expectError([](Scalar<u32> a) { a - -1; }, "-: the number -1 does not fit u32");
  expectError([](Scalar<f16> a) { a * 1e6; }, "*: the number 1e+06 does not fit f16");
  expectError([](Scalar<i32> a) { exp(a); }, "exp: needs a float, got i32: cast it first");
  expectError([](Scalar<i32> a) { select(a, 1, 2); },
              "select: the condition must be i1, got i32; compare it, as in x != 0");
  expectError([](Scalar<i32> a) { cdiv(a, 0); }, "cdiv: the divisor must be positive, got 0");
}

TEST(Diagnostics, ElementTypes) {
  expectError([](Scalar<e4m3> a, Scalar<i32> b) { a + b; },
              "+: e4m3 with i32: 8-bit floats do not meet integers; cast one of them", "a + b");
  expectError([](Scalar<i1> c, Scalar<e5m2> a, Scalar<u8> b) { select(c, a, b); },
              "select: e5m2 with u8: 8-bit floats do not meet integers; cast one of them");
  expectError([](Scalar<e4m3> a) { a + 449.0; }, "+: the number 449 does not fit e4m3");
  expectError([](Scalar<e5m2> a) { a &a; }, "'&' is for integers, got e5m2");
  expectError([](Scalar<i32> a) { cast(f16, a, Round::rtz); },
              "cast: rounding toward zero is for floats, got i32 to f16", "cast(f16, a");
  expectError([](Scalar<f32> a) { cast(u8, a, Round::rtz); },
              "cast: rounding toward zero is for floats, got f32 to u8");
  expectError([](Scalar<f32> a) { bitcast(i16, a); },
              "bitcast: f32 has 32 bits, i16 has 16 bits: cast changes the width", "bitcast(i16");
  expectError([](Scalar<i1> a) { bitcast(u8, a); },
              "bitcast: i1 has 1 bits, u8 has 8 bits: cast changes the width");
  expectError([](Scalar<f32> a) { bitcast(any, a); },
              "bitcast: 'any' is not an element type to cast to");
}

TEST(Diagnostics, Shapes) {
  expectError(
      [](Scalar<i32>) {
        zeros(f32, {1024, 2048});
      },
      "full: the shape 1024x2048 has more than 1048576 elements");
  expectError([](Scalar<i32>) { zeros(f32, {8, 0}); }, "full: the shape 8x0 has an extent below 1");
  expectError(
      [](Scalar<i32>) {
        zeros(f32, {1, 1, 1, 1, 1, 1, 1, 1, 1});
      },
      "full: a tile has at most 8 dimensions, got 9");
  expectError([](Scalar<i32>) { arange(4, 4); }, "arange: needs lo < hi, got 4 and 4");
  expectError(
      [](Scalar<i32>) {
        reshape(arange(8), {3, 3});
      },
      "reshape: 8 has 8 elements, 3x3 has 9");
  expectError(
      [](Scalar<i32>) {
        permute(zeros(f32, {8, 4}), {0, 0});
      },
      "permute: the order must name each of the 2 dimensions once");
  expectError([](Scalar<i32>) { squeeze(arange(8), 0); },
              "squeeze: dimension 0 of i32[8] cannot go: only an extent of 1 beside other "
              "dimensions can");
  expectError([](Scalar<i32>) { trans(arange(8)); },
              "trans: needs at least 2 dimensions, got i32[8]");
  expectError(
      [](Scalar<i32>) {
        broadcast_to(arange(8), {4, 8});
      },
      "broadcast_to: 8 cannot become 4x8: ranks must be equal, and only extents of 1 can grow");
  expectError([](Scalar<i32>) { sum(arange(8), 1); }, "sum: axis 1 is outside a rank of 1");
}

TEST(Diagnostics, Reductions) {
  expectError([](Scalar<i32> n) { sum(n, 0); }, "sum: needs a tile, got a scalar, i32");
  expectError(
      [](Scalar<i32> n) { reduce(arange(8), 0, [](Value a, Value) { return cast(f32, a); }); },
      "reduce: the combine function must return i32, it returned f32");
  expectError(
      [](Scalar<i32> n) { reduce(arange(8), 0, [&](Value a, Value b) { return a + b + n; }); },
      "a combine function may only use the scalars it is given, and host numbers");
  expectError(
      [](In<i32, 1> x) { reduce(arange(8), 0, [&](Value a, Value) { return a + load(x.ptr()); }); },
      "a combine function may only use the scalars it is given, and host numbers");
  expectError([](Scalar<i32>) { softmax(arange(8), 0); },
              "softmax: needs floats, got i32: cast it first");
}

TEST(Diagnostics, Views) {
  expectError([](In<f32, 2> x) { x.tile({32}); },
              "tile: the view has 2 dimensions, the tile's shape 32 has 1", "x.tile({32}); }");
  expectError([](Out<f16, 1> y) { y.tile({32})(0) = zeros(f32, {32}); },
              "store: the view holds f16, the value is f32: write cast(f16, ...)",
              "y.tile({32})(0) = zeros(f32, {32});");
  expectError([](Out<f32, 1> y) { y.tile({32})(0) = zeros(f32, {64}); },
              "store: the tile is 32, the value is 64");
  expectError([](In<f32, 1> x, Scalar<f32> i) { x.tile({32})(i); },
              "tile: an index must be an integer scalar, got f32");
  expectError([](In<f32, 1> x) { x.tile({32})(arange(4)); },
              "tile: an index must be an integer scalar, got i32[4]");
  expectError([](In<i32, 1> x) { x.tile({32}).pad(0.0 / 0.0)(0); },
              "tile: NaN cannot pad elements of i32");
  expectError([](In<f32, 1> x) { x.dim(1); }, "dim: axis 1 is outside a rank of 1");
}

TEST(Diagnostics, Pointers) {
  expectError([](In<f32, 1> x) { x.ptr() + x.ptr(); },
              "'+' on two pointers: add an integer offset to one pointer");
  expectError([](In<f32, 1> x, Scalar<f32> o) { x.ptr() + o; },
              "a pointer's offset must be an integer or a tile of integers, got f32");
  expectError([](In<f32, 1> x, Scalar<i32> n) { load(n); },
              "load: needs a pointer or a tile of pointers, got i32; use view.ptr() + offsets, or "
              "view.tile(...)(...)");
  expectError([](Out<f16, 1> y) { store(y.ptr() + arange(8), zeros(f32, {8})); },
              "store: the value must be f16, got f32: write cast(f16, ...)");
  expectError([](In<f16, 1> x) { load(x.ptr(), arange(8) < 4); },
              "load: the mask is 8, the pointers are scalar");
  expectError([](In<f16, 1> x) { x.ptr() * 2; }, "*: needs numbers, got ptr<f16>");
}

TEST(Diagnostics, NumbersThatDoNotFit) {
  expectError([](In<f32, 1> x) { x.tile({1 << 20})(int64_t(1) << 62); },
              "tile: the number 4611686018427387904 does not fit i32");
  expectError([](In<f32, 1> x) { x.tile({1 << 20})(4096); },
              "tile: the number 4294967296 does not fit i32");
  expectError([](Scalar<f32> x) { cdiv(x, 4); }, "cdiv: needs integers");
}

TEST(Diagnostics, PointersKeepTheDirectionOfTheirView) {
  expectError(
      [](Out<f32, 1> y) { load(y.ptr() + arange(8)); },
      "load: the pointer is of an Out view, which can only be written: declare the argument InOut");
  expectError([](In<f32, 1> x) { store(x.ptr() + arange(8), 1); },
              "store: the pointer is of an In view, which can only be read: declare the argument "
              "Out or InOut",
              "store(x.ptr()");
  expectError([](In<i32, 1> x) { x.tile({8}).pad(0.5)(0); },
              "pad: the number 0.500000 cannot become i32");
}

TEST(Diagnostics, Grids) {
  expectError(
      [](Out<f32, 1> y) {
        grid1d(y, {32});
        grid1d(y, {64});
      },
      "grid: the kernel already has a grid", "grid1d(y, {64});");
  expectError([](Scalar<i32> n) { grid1d(n % 3, 32); },
              "grid1d: the extent must be made of a view's dim(...), Scalar<i32> arguments and "
              "constants by + - * and / by constants, so that the launch can compute it");
  expectError(
      [](Scalar<i32> n) { if_(n > 0, [&] { grid1d(n, 32); }); },
      "grid: a grid helper belongs at the top of the kernel, outside staged loops and branches");
  expectError(
      [](Out<f32, 2> y) {
        (void)grid2d(y, {8, 8}).swizzled(0);
      },
      "swizzled: the group must be at least 1, got 0");
  expectError([](Scalar<i32>) { program_id(3); }, "program_id: the axis must be 0, 1 or 2, got 3");
  expectError([](Scalar<i32>) { require(target().sm >= 90, "this kernel needs sm_90"); },
              "this kernel needs sm_90");
}

TEST(Diagnostics, ForgettingRangeStopsBeforeMemoryDoes) {
  expectError(
      [](Scalar<i32> n) {
        Value x = n;
        for (int i = 0; i < 10'000'000; ++i)
          x = x * x;
      },
      "the kernel grew beyond 400000 operations; a plain C++ loop unrolls: use range() to stage it",
      "x = x * x;");
}

TEST(Diagnostics, StagingOutsideAKernel) {
  try {
    zeros(f32, {8});
    FAIL() << "accepted";
  } catch (const Error &error) {
    EXPECT_EQ(
        error.message(),
        "this operation stages code, which is only possible while a kernel is traced: call it in "
        "the kernel's lambda");
    EXPECT_NE(sourceLine(error).find("zeros(f32, {8});"), std::string::npos);
  }
}
