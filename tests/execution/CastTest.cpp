// Casts: every pair of element types, all patterns of the 16-bit floats, the edges of the others.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

class Cast : public OnDevice {
protected:
  template <class X, class... Y> void castToEach();
};
INSTANTIATE_TEST_SUITE_P(Devices, Cast, ::testing::ValuesIn(deviceNames()),
                         [](const auto &run) { return testName(run.param); });

/// What the language says a cast does.
template <class X, class Y> Exact<Y> castOf(Exact<X> x) {
  if constexpr (std::is_same_v<Y, bool>) {
    return x != 0;
  } else if constexpr (isFloat(dtypeOf<Y>)) {
    return static_cast<double>(x);
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

/// Integers around the steps of each float type, powers of two and numbers between.
template <class T> std::vector<T> interesting() {
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (sizeof(T) <= 2 && isFloat(dtypeOf<T>)) {
    return allPatterns<T>();
  } else {
    std::vector<T> values = edges<T>();
    Random random(11);
    for (int bit = 0; bit < static_cast<int>(sizeof(T)) * 8; ++bit)
      for (int offset = -1; offset <= 1; ++offset) {
        double power = std::ldexp(1.0, bit) + offset;
        if constexpr (isFloat(dtypeOf<T>)) {
          values.push_back(static_cast<T>(power)), values.push_back(static_cast<T>(-power));
          values.push_back(static_cast<T>(power * random.uniform(0.5, 1)));
        } else {
          values.push_back(static_cast<T>((uint64_t(1) << bit) + static_cast<uint64_t>(offset)));
          values.push_back(static_cast<T>(random.bits()));
        }
      }
    return values;
  }
}

/// One kernel for all pairs: it takes its dtypes from the tensors.
const auto casts = kernel("casts", [](In<any, 1> x, Out<any, 1> y, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = cast(y.dtype(), x.tile({B})(i));
});

/// Casts one type to each of Y.
template <class X, class... Y> void Cast::castToEach() {
  std::vector<X> values = interesting<X>();
  auto size = static_cast<int64_t>(values.size());
  TensorOf<X> from = input({size}, values);
  auto castTo = [&]<class To>(To) {
    if constexpr (!std::is_same_v<X, To>) { // to itself nothing happens, saturation included
      SCOPED_TRACE(std::string("cast to ") + nameOf(dtypeOf<To>));
      auto results = output<To>({size});
      casts.consts(1024)(stream, from, results.tensor());
      expectAll(results.result(),
                [&](int64_t i) { return castOf<X, To>(exact(values[size_t(i)])); });
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
