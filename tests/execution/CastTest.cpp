// Casts: every pair of element types and both roundings, all patterns of 16 bits; of wider types ends, subnormals, what lies at and
// beside the middle of two numbers of each float, and random bits.
#include "tests/execution/Harness.h"
#include "tests/execution/Rounding.h"

#include <bit>
#include <numeric>

using namespace tile;
using namespace tile::test;

namespace {

class Cast : public OnDevice {
protected:
  template <class X, class... Y> void castToEach();
};
INSTANTIATE_TEST_SUITE_P(Devices, Cast, ::testing::ValuesIn(deviceNames()),
                         [](const auto &run) { return testName(run.param); });

/// What the language says a cast does to an integer or i1; floats follow from `roundedTo`.
template <class X, class Y> Y castToInteger(X value) {
  Exact<X> x = exact(value);
  if constexpr (std::is_same_v<Y, bool>) {
    return x != 0;
  } else if constexpr (isFloat(dtypeOf<X>)) {
    if (std::isnan(x))
      return 0;
    double lowest = static_cast<double>(std::numeric_limits<Y>::min());
    double beyond = std::ldexp(1.0, static_cast<int>(sizeof(Y) * 8) - std::is_signed_v<Y>);
    x = std::trunc(x);
    return x < lowest    ? std::numeric_limits<Y>::min()
           : x >= beyond ? std::numeric_limits<Y>::max()
                         : static_cast<Y>(x);
  } else {
    return static_cast<Y>(x);
  }
}

template <class X, class Y> double castToFloat(X value, Rounded how) {
  if constexpr (isFloat(dtypeOf<X>))
    return roundedTo(dtypeOf<Y>, exact(value), how);
  else
    return roundedTo(dtypeOf<Y>, numberOfInteger(value), how);
}

/// The same number, with its sign where it is zero.
template <class Y> bool isSame(Y result, double expected) {
  double got = exact(result);
  return std::isnan(expected) ? std::isnan(got)
                              : got == expected && std::signbit(got) == std::signbit(expected);
}

/// Numbers of X that a float of `dtype` may round either way.
template <class X> void appendNearTies(std::vector<X> &values, DType dtype) {
  constexpr int kEach = 600;
  constexpr bool isFromFloat = isFloat(dtypeOf<X>);
  int least =
      isFromFloat ? std::max(smallestExponent(dtype), smallestExponent(dtypeOf<X>)) - 25 : 0;
  int most = isFromFloat ? 2 - smallestExponent(dtype) : int(sizeof(X)) * 8 - 2;
  for (double value : nearTies(dtype, least, most, kEach, 7)) {
    if (std::is_unsigned_v<X>)
      value = std::fabs(value);
    values.push_back(static_cast<X>(value));
    if constexpr (!isFromFloat) // which double may not hold
      for (X offset : {X(1), X(-1)})
        values.push_back(static_cast<X>(static_cast<X>(value) + offset));
  }
}

/// All patterns of 8 and 16 bits; of wider types edges, powers of two, ties of each narrower float, random bits.
template <class T> std::vector<T> interesting() {
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (sizeof(T) <= 2 && isFloat(dtypeOf<T>)) {
    return allPatterns<T>();
  } else if constexpr (sizeof(T) <= 2) {
    std::vector<T> values(size_t(1) << (8 * sizeof(T)));
    std::iota(values.begin(), values.end(), std::numeric_limits<T>::min());
    return values;
  } else {
    std::vector<T> values = edges<T>();
    Random random(11);
    for (int bit = 0; bit < static_cast<int>(sizeof(T)) * 8; ++bit)
      for (int offset = -1; offset <= 1; ++offset) {
        double power = std::ldexp(1.0, bit) + offset;
        if constexpr (isFloat(dtypeOf<T>)) {
          values.push_back(static_cast<T>(power)), values.push_back(static_cast<T>(-power));
        } else {
          values.push_back(static_cast<T>((uint64_t(1) << bit) + static_cast<uint64_t>(offset)));
        }
      }
    for (int i = 0; i < 3000; ++i) // small ones as often as large ones
      values.push_back(
          std::bit_cast<T>(static_cast<std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>(
              random.bits() >> (isFloat(dtypeOf<T>) ? 0 : i % (8 * sizeof(T))))));
    for (DType dtype : {e4m3, e5m2, f16, bf16, f32, f64})
      if (!isFloat(dtypeOf<T>) || mantissaBits(dtype) < mantissaBits(dtypeOf<T>))
        appendNearTies(values, dtype);
    return values;
  }
}

/// One kernel for all pairs: it takes its dtypes from the tensors.
const auto casts = kernel("casts", [](In<any, 1> x, Out<any, 1> y, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = cast(y.dtype(), x.tile({B})(i));
});

/// The same between floats, cut instead of rounded.
const auto cuts = kernel("cuts", [](In<any, 1> x, Out<any, 1> y, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = cast(y.dtype(), x.tile({B})(i), Round::rtz);
});

template <class X, class Y>
void expectCasts(const std::vector<X> &values, const std::vector<Y> &results, Rounded how) {
  for (size_t i = 0; i < values.size(); ++i)
    if constexpr (!isFloat(dtypeOf<Y>)) {
      ASSERT_EQ(results[i], (castToInteger<X, Y>(values[i]))) << show(values[i]);
    } else {
      double expected = castToFloat<X, Y>(values[i], how);
      ASSERT_TRUE(isSame(results[i], expected))
          << show(values[i]) << " is " << show(results[i]) << ", expected " << show(expected);
    }
}

/// Casts one type to each of Y.
template <class X, class... Y> void Cast::castToEach() {
  std::vector<X> values = interesting<X>();
  auto size = static_cast<int64_t>(values.size());
  TensorOf<X> from = input({size}, values);
  auto castBy = [&]<class To>(To, const auto &program, Rounded how) {
    auto results = output<To>({size});
    program.consts(1024)(stream, from, results.tensor());
    expectCasts(values, results.result(), how);
  };
  auto castTo = [&]<class To>(To) {
    if constexpr (!std::is_same_v<X, To>) { // to itself nothing happens, saturation included
      SCOPED_TRACE(std::string("cast to ") + nameOf(dtypeOf<To>));
      castBy(To(), casts, Rounded::NearestEven);
      if constexpr (isFloat(dtypeOf<X>) && isFloat(dtypeOf<To>))
        castBy(To(), cuts, Rounded::TowardZero);
    }
  };
  (castTo(Y()), ...);
}

#define CAST_TEST(name, X)                                                                         \
  TEST_P(Cast, name) {                                                                             \
    castToEach<X, bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,  \
               float8_e4m3, float8_e5m2, half, bfloat16, float, double>();                         \
  }

CAST_TEST(FromI1, bool)
CAST_TEST(FromI8, int8_t)
CAST_TEST(FromI16, int16_t)
CAST_TEST(FromI32, int32_t)
CAST_TEST(FromI64, int64_t)
CAST_TEST(FromU8, uint8_t)
CAST_TEST(FromU16, uint16_t)
CAST_TEST(FromU32, uint32_t)
CAST_TEST(FromU64, uint64_t)
CAST_TEST(FromE4m3, float8_e4m3)
CAST_TEST(FromE5m2, float8_e5m2)
CAST_TEST(FromF16, half)
CAST_TEST(FromBf16, bfloat16)
CAST_TEST(FromF32, float)
CAST_TEST(FromF64, double)

} // namespace
