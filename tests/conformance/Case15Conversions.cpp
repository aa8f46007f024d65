// Case 15, conversions: between f32, f16, bf16, e5m2 and e4m3, over every pattern or a set that stands for every pattern.
#include "tests/conformance/FloatModel.h"
#include "tests/execution/Assembly.h"
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

const bool gate = assembleEverything(Spills::Forbidden);

EXECUTION_SUITE(Conversions, Targets::One);

// A narrow result keeps at most 10 bits of mantissa and is decided by those, the next one, and whether any bit after is
// set. The upper 20 bits of an f32 hold 11 bits of mantissa: the tails stand for "none set" and "some set" (the lowest,
// the highest, all).
std::vector<float> everySingle() {
  std::vector<float> values;
  for (uint32_t upper = 0; upper < 1u << 20; ++upper)
    for (uint32_t tail : {0x000u, 0x001u, 0x800u, 0xfffu})
      values.push_back(std::bit_cast<float>(upper << 12 | tail));
  return values;
}

template <class T> uint32_t bitsOf(T value) { return value.bits; }

template <class X, class Y>
void expectNarrowed(const std::vector<X> &x, const std::vector<Y> &y, bool towardZero) {
  const FloatModel &model = modelOf<Y>();
  for (size_t i = 0; i < x.size(); ++i) {
    double value = static_cast<double>(x[i]);
    if (std::isnan(value) ? std::isnan(static_cast<float>(y[i]))
                          : bitsOf(y[i]) == model.codeOf(value, towardZero))
      continue;
    ADD_FAILURE() << "cast(" << nameOf(dtypeOf<Y>) << ", " << value << (towardZero ? ", rtz" : "")
                  << ") is " << std::hex << bitsOf(y[i]) << ", expected "
                  << model.codeOf(value, towardZero);
    return;
  }
}

template <class X, class Y> struct Narrowed {
  Guarded<Y, 1> nearest, towardZero;
  Narrowed(const Device &device, int64_t size)
      : nearest(device, {size}), towardZero(device, {size}) {}
  void check(const std::vector<X> &x) {
    SCOPED_TRACE(std::string("from ") + nameOf(dtypeOf<X>) + " to " + nameOf(dtypeOf<Y>));
    expectNarrowed(x, nearest.result(), false);
    expectNarrowed(x, towardZero.result(), true);
  }
};

/// Both roundings of all inputs to one format.
template <class X, class Y>
void checkNarrowing(const Device &device, const Stream &stream, const TensorOf<X> &x,
                    const std::vector<X> &values) {
  static const auto program = kernel("narrow", [](In<dtypeOf<X>, 1> x, Out<dtypeOf<Y>, 1> nearest,
                                                  Out<dtypeOf<Y>, 1> towardZero, Const B) {
    Value i = grid1d(x, {B});
    Value tile = x.tile({B})(i);
    nearest.tile({B})(i) = cast(dtypeOf<Y>, tile);
    towardZero.tile({B})(i) = cast(dtypeOf<Y>, tile, Round::rtz);
  });
  Narrowed<X, Y> results(device, static_cast<int64_t>(values.size()));
  program.consts(1024).warps(4)(stream, x, results.nearest.tensor(), results.towardZero.tensor());
  results.check(values);
}

template <class X, class... Y>
void checkNarrowings(const Device &device, const Stream &stream, const std::vector<X> &values) {
  auto x = device.tensor<X>({static_cast<int64_t>(values.size())});
  x.uploadBytes(values.data(), values.size() * sizeof(X));
  (checkNarrowing<X, Y>(device, stream, x, values), ...);
}

/// The conversions of 8-bit floats are other code from sm_89 on.
std::vector<Device> machines(const Device &device) {
  std::vector<Device> all = {device};
  if (device.name().starts_with("virtual"))
    all.push_back(Device::open("virtual:sm_89"));
  return all;
}

TEST_P(Conversions, FromEverySingle) {
  std::vector<float> values = everySingle();
  checkNarrowings<float, half, bfloat16, float8_e5m2, float8_e4m3>(device(), stream, values);
}

TEST_P(Conversions, FromEveryHalfAndBfloat) {
  for (const Device &machine : machines(device())) {
    SCOPED_TRACE(machine.name());
    Stream stream = machine.stream();
    checkNarrowings<half, bfloat16, float8_e5m2, float8_e4m3>(machine, stream, allPatterns<half>());
    checkNarrowings<bfloat16, half, float8_e5m2, float8_e4m3>(machine, stream,
                                                              allPatterns<bfloat16>());
    checkNarrowings<float8_e5m2, float8_e4m3>(machine, stream, allPatterns<float8_e5m2>());
    checkNarrowings<float8_e4m3, float8_e5m2>(machine, stream, allPatterns<float8_e4m3>());
  }
}

// Beside the ties, closer than an f32 could say: rounding twice would give other results.
TEST_P(Conversions, FromDoublesBesideTies) {
  std::vector<double> values = {0.0, -0.0, HUGE_VAL, -HUGE_VAL, NAN, 1e300, -1e-300, 4e-324};
  for (auto code : allPatterns<half>()) {
    double value = static_cast<float>(code);
    if (!std::isfinite(value))
      continue;
    for (double factor : {1.0, 1.0 - 0x1p-50, 1.0 + 0x1p-50, 1.0 + 0x1p-11 + 0x1p-50})
      values.push_back(value * factor);
  }
  checkNarrowings<double, half, bfloat16, float8_e5m2, float8_e4m3>(device(), stream, values);
}

template <class X> void checkWidening(const Device &device, const Stream &stream) {
  static const auto program =
      kernel("widen", [](In<dtypeOf<X>, 1> x, Out<f32, 1> single, Out<f64, 1> wide, Const B) {
        Value i = grid1d(x, {B});
        Value tile = x.tile({B})(i);
        single.tile({B})(i) = cast(f32, tile);
        wide.tile({B})(i) = cast(f64, tile);
      });
  SCOPED_TRACE(device.name() + std::string(" from ") + nameOf(dtypeOf<X>));
  std::vector<X> values = allPatterns<X>();
  auto size = static_cast<int64_t>(values.size());
  auto x = device.tensor<X>({size});
  x.uploadBytes(values.data(), values.size() * sizeof(X));
  Guarded<float, 1> single(device, {size});
  Guarded<double, 1> wide(device, {size});
  program.consts(256).warps(4)(stream, x, single.tensor(), wide.tensor());
  std::vector<float> singles = single.result();
  std::vector<double> doubles = wide.result();
  for (size_t i = 0; i < values.size(); ++i) {
    double expected = modelOf<X>().valueOf(static_cast<uint32_t>(i));
    auto same = [&](double got) {
      return std::isnan(expected) ? std::isnan(got)
                                  : got == expected && std::signbit(got) == std::signbit(expected);
    };
    ASSERT_TRUE(same(static_cast<double>(singles[i])) && same(doubles[i]))
        << "pattern " << std::hex << i << " is " << singles[i] << " and " << doubles[i]
        << ", expected " << expected;
    ASSERT_TRUE(same(static_cast<double>(static_cast<float>(values[i])))) << "on the host: " << i;
  }
}

TEST_P(Conversions, FromEveryNarrowPatternUp) {
  for (const Device &machine : machines(device())) {
    Stream stream = machine.stream();
    checkWidening<float8_e4m3>(machine, stream);
    checkWidening<float8_e5m2>(machine, stream);
    checkWidening<half>(machine, stream);
    checkWidening<bfloat16>(machine, stream);
  }
}

// The sequences of integer instructions and the instructions of sm_89 give the same bits, NaN included.
TEST_P(Conversions, BothWaysToEightBitsAgree) {
  if (!device().name().starts_with("virtual"))
    GTEST_SKIP() << "needs two architectures";
  static const auto program = kernel("to_bits", [](In<f32, 1> x, Out<u8, 2> y, Const B) {
    Value i = grid1d(x, {B});
    Value tile = x.tile({B})(i);
    y.tile({1, B})(0, i) = expand_dims(bitcast(u8, cast(e4m3, tile)), 0);
    y.tile({1, B})(1, i) = expand_dims(bitcast(u8, cast(e5m2, tile)), 0);
  });
  std::vector<float> values;
  for (uint32_t upper = 0; upper < 1u << 16; ++upper)
    for (uint32_t tail : {0x0000u, 0x0001u, 0x8000u})
      values.push_back(std::bit_cast<float>(upper << 16 | tail));
  auto size = static_cast<int64_t>(values.size());
  std::vector<std::vector<uint8_t>> results;
  for (const Device &machine : machines(device())) {
    Stream stream = machine.stream();
    auto x = machine.tensor<float>({size});
    x.upload(values);
    Guarded<uint8_t, 2> y(machine, {2, size});
    program.consts(512).warps(2)(stream, x, y.tensor());
    results.push_back(y.result());
  }
  EXPECT_EQ(results[0], results[1]);
}

// Constants of kernels are converted by the host's types, which must round as the model does.
TEST_P(Conversions, HostTypesRoundAsTheModelSays) {
  std::vector<float> values = everySingle();
  auto check = [&]<class Y>(Y) {
    std::vector<Y> narrowed(values.begin(), values.end());
    expectNarrowed(values, narrowed, false);
  };
  check(half()), check(bfloat16()), check(float8_e5m2()), check(float8_e4m3());
}

} // namespace
