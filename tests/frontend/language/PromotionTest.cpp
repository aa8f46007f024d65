// Promotion and host numbers: every pair of dtypes against a table written from the language's
// rules.
#include "tests/frontend/Trace.h"

#include <gtest/gtest.h>

#include <functional>

using namespace tile;
using namespace tile::test;

/// Runs `body` while a kernel is traced, and verifies the IR of what it stores.
static void tracing(const std::function<void()> &body) {
  auto host = kernel_capturing("promotion", "host", [&](Out<f32, 1>) { body(); });
  irOf(host);
}

static const DType kIntegers[] = {i1, i8, i16, i32, i64, u8, u16, u32, u64};
static const DType kFloats[] = {f16, bf16, f32, f64};

static Value tileOf(DType type) { return zeros(type, {32}); }

TEST(Promotion, OfTwoFloats) {
  const DType expected[4][4] = {// with f16, bf16, f32, f64
                                {f16, f16, f32, f64},
                                {f16, bf16, f32, f64},
                                {f32, f32, f32, f64},
                                {f64, f64, f64, f64}};
  tracing([&] {
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b)
        EXPECT_EQ((tileOf(kFloats[a]) + tileOf(kFloats[b])).dtype(), expected[a][b])
            << nameOf(kFloats[a]) << " + " << nameOf(kFloats[b]);
  });
}

TEST(Promotion, OfTwoIntegersFollowsWidthThenUnsignedness) {
  auto width = [](DType type) { return type == i1 ? 1 : static_cast<int>(sizeOf(type)) * 8; };
  tracing([&] {
    for (DType a : kIntegers)
      for (DType b : kIntegers) {
        DType expected = width(a) > width(b) ? a : width(b) > width(a) ? b : isUnsigned(a) ? a : b;
        EXPECT_EQ((tileOf(a) * tileOf(b)).dtype(), expected) << nameOf(a) << " * " << nameOf(b);
        EXPECT_EQ((tileOf(a) & tileOf(b)).dtype(), expected) << nameOf(a) << " & " << nameOf(b);
      }
  });
}

TEST(Promotion, AFloatBeatsAnInteger) {
  tracing([&] {
    for (DType integer : kIntegers)
      for (DType floating : kFloats) {
        EXPECT_EQ((tileOf(integer) - tileOf(floating)).dtype(), floating == bf16 ? f32 : floating);
        EXPECT_EQ(select(program_id(0) == 0, tileOf(floating), tileOf(integer)).dtype(),
                  floating == bf16 ? f32 : floating);
      }
  });
}

TEST(Promotion, OfEightBitFloats) {
  const DType narrow[] = {e4m3, e5m2};
  tracing([&] {
    for (DType a : narrow)
      for (DType b : narrow)
        EXPECT_EQ((tileOf(a) * tileOf(b)).dtype(), a == b ? a : f16) << nameOf(a) << nameOf(b);
    for (DType a : narrow)
      for (DType b : kFloats) {
        EXPECT_EQ((tileOf(a) + tileOf(b)).dtype(), b == bf16 ? f32 : b) << nameOf(b);
        EXPECT_EQ(max(tileOf(b), tileOf(a)).dtype(), b == bf16 ? f32 : b) << nameOf(b);
      }
    EXPECT_EQ((tileOf(e4m3) / tileOf(e4m3)).dtype(), f32);
    EXPECT_EQ((tileOf(e4m3) + 1).dtype(), e4m3);
    EXPECT_EQ((tileOf(e5m2) < 0.5).dtype(), i1);
    EXPECT_EQ((-tileOf(e5m2)).dtype(), e5m2);
    EXPECT_EQ(abs(tileOf(e4m3)).dtype(), e4m3);
    EXPECT_EQ(sum(tileOf(e4m3)).dtype(), e4m3);
    EXPECT_EQ(exp(tileOf(e4m3)).dtype(), e4m3);
  });
}

TEST(Promotion, BitcastKeepsTheWidth) {
  tracing([&] {
    EXPECT_EQ(bitcast(i32, tileOf(f32)).dtype(), i32);
    EXPECT_EQ(bitcast(f32, tileOf(u32)).dtype(), f32);
    EXPECT_EQ(bitcast(bf16, tileOf(f16)).dtype(), bf16);
    EXPECT_EQ(bitcast(e4m3, tileOf(i8)).dtype(), e4m3);
    EXPECT_EQ(bitcast(f64, tileOf(i64)).dtype(), f64);
    EXPECT_EQ(bitcast(u16, tileOf(i16)).dtype(), u16);
  });
}

TEST(Promotion, DivisionOfNarrowFloatsGivesF32) {
  tracing([&] {
    EXPECT_EQ((tileOf(f16) / tileOf(f16)).dtype(), f32);
    EXPECT_EQ((tileOf(bf16) / 2).dtype(), f32);
    EXPECT_EQ((1 / tileOf(i32)).dtype(), i32);
    EXPECT_EQ((tileOf(f64) / tileOf(f16)).dtype(), f64);
    EXPECT_EQ((tileOf(i8) / tileOf(i8)).dtype(), i8);
    EXPECT_EQ((tileOf(u16) % tileOf(u8)).dtype(), u16);
  });
}

TEST(Promotion, ComparisonsGiveI1AndShiftsKeepTheLeftWidth) {
  tracing([&] {
    EXPECT_EQ((tileOf(f16) < tileOf(f32)).dtype(), i1);
    EXPECT_EQ((tileOf(u8) == 255).dtype(), i1);
    EXPECT_EQ((tileOf(i8) << 3).dtype(), i8);
    EXPECT_EQ((tileOf(u64) >> 3u).dtype(), u64);
  });
}

TEST(Promotion, HostNumbersAdapt) {
  tracing([&] {
    EXPECT_EQ((tileOf(f16) + 1).dtype(), f16);
    EXPECT_EQ((tileOf(bf16) * 0.1).dtype(), bf16);
    EXPECT_EQ((tileOf(u8) + 255).dtype(), u8);
    EXPECT_EQ((tileOf(i8) + -128).dtype(), i8);
    EXPECT_EQ((tileOf(i1) | true).dtype(), i1);
    EXPECT_EQ((tileOf(i32) + true).dtype(), i32);
    // A number of a higher kind takes a dtype by its value.
    EXPECT_EQ((tileOf(i32) * 1.5).dtype(), f32);
    EXPECT_EQ((tileOf(i32) * 1e300).dtype(), f64);
    EXPECT_EQ((tileOf(i64) + 1e-310).dtype(), f64);
    EXPECT_EQ((tileOf(i1) + 3).dtype(), i32);
    EXPECT_EQ((tileOf(i1) + 3'000'000'000u).dtype(), u32);
    EXPECT_EQ((tileOf(i1) + (int64_t(1) << 40)).dtype(), i64);
    EXPECT_EQ((tileOf(i1) + ~uint64_t(0)).dtype(), u64);
    EXPECT_EQ(select(tileOf(i1), 1.0, 0.0).dtype(), f32);
    EXPECT_EQ(var(1).dtype(), i32);
    EXPECT_EQ(var(1.0).dtype(), f32);
    EXPECT_EQ(var(true).dtype(), i1);
  });
}

TEST(Promotion, CdivTakesHostNumbersOnEitherSide) {
  tracing([&] {
    EXPECT_EQ(cdiv(1000, tileOf(i32)).dtype(), i32);
    EXPECT_EQ(cdiv(tileOf(u64), 64).dtype(), u64);
    EXPECT_EQ(cdiv(tileOf(i16), tileOf(i32)).dtype(), i32);
  });
}

TEST(Promotion, ShapesBroadcastAsInNumPy) {
  tracing([&] {
    auto shaped = [](Shape shape) { return zeros(f32, shape); };
    EXPECT_EQ((shaped({8, 1}) + shaped({1, 16})).shape(), (Shape{8, 16}));
    EXPECT_EQ((shaped({16}) + shaped({8, 16})).shape(), (Shape{8, 16}));
    EXPECT_EQ((shaped({4, 1, 2}) * shaped({3, 1})).shape(), (Shape{4, 3, 2}));
    EXPECT_EQ((shaped({8, 16}) + shaped({})).shape(), (Shape{8, 16}));
    EXPECT_EQ((shaped({}) + 1).shape(), Shape());
    EXPECT_EQ(select(shaped({8, 1}) > 0, shaped({1, 16}), 0).shape(), (Shape{8, 16}));
    EXPECT_EQ(fma(shaped({8, 1}), shaped({16}), 1).shape(), (Shape{8, 16}));
  });
}

TEST(Promotion, EveryCastVerifies) {
  auto casts = kernel("casts", [](Out<f64, 1> y) {
    const DType all[] = {i1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64};
    Value sum = zeros(f64, {32});
    for (DType from : all)
      for (DType to : all)
        sum = sum + cast(f64, cast(to, cast(from, arange(32))));
    y.tile({32})(0) = sum;
  });
  std::string ir = irOf(casts);
  EXPECT_NE(ir.find("source_unsigned : tensor<32xi8> -> tensor<32xi32>"), std::string::npos)
      << "u8 zero-extends";
  EXPECT_NE(ir.find("tile.convert %"), std::string::npos);
  EXPECT_EQ(ir.find("tensor<32xi32> -> tensor<32xi32>"), std::string::npos)
      << "i32 and u32 are one type in the IR";
}

TEST(Promotion, EveryOperatorVerifiesOnEveryDtype) {
  auto operators = kernel("operators", [](Out<f64, 1> y) {
    Value sum = zeros(f64, {32});
    auto use = [&](Value x) { sum = sum + cast(f64, x); };
    auto both = [&](DType type) {
      Value a = cast(type, arange(32)), b = cast(type, arange(32) + 1);
      use(a + b), use(a - b), use(a * b), use(-a), use(min(a, b)), use(max(a, b)), use(abs(a));
      use(a == b), use(a != b), use(a < b), use(a <= b), use(a > b), use(a >= b);
      return std::pair(a, b);
    };
    for (DType type : kIntegers) {
      auto [a, b] = both(type);
      use(a & b), use(a | b), use(a ^ b), use(~a);
      if (type != i1)
        use(a / b), use(a % b), use(a << b), use(a >> b);
    }
    for (DType type : kFloats) {
      auto [a, b] = both(type);
      use(a / b), use(relu(a)), use(floor(a)), use(ceil(a)), use(fma(a, b, a));
      use(isnan(a)), use(isinf(a)), use(clamp(a, 0, 1));
      if (type == f64)
        continue;
      use(exp(a)), use(exp2(a)), use(log(a)), use(log2(a)), use(sqrt(a)), use(rsqrt(a)),
          use(sin(a));
      use(cos(a)), use(tanh(a)), use(erf(a)), use(sigmoid(a)), use(gelu(a)), use(silu(a));
    }
    y.tile({32})(0) = sum;
  });
  std::string ir = irOf(operators);
  for (const char *op : {"arith.divui", "arith.divsi", "arith.remui", "arith.shrsi", "arith.shrui",
                         "arith.minui", "arith.maxsi", "arith.cmpi ult", "arith.cmpi slt",
                         "arith.cmpf une", "math.absi", "arith.negf"})
    EXPECT_NE(ir.find(op), std::string::npos) << op;
}
