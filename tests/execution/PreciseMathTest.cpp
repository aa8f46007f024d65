// Math in full accuracy, of f32 and f64, against the host's long double (64 bits of mantissa), with the bound that is documented for
// each function, over all that the type holds; exact remainders; roundings.
#include "tests/execution/Assembly.h"
#include "tests/execution/Harness.h"

#include <bit>

using namespace tile;
using namespace tile::test;

namespace {

const bool gate = assembleEverything(Spills::Forbidden);

EXECUTION_SUITE(PreciseMath, Targets::One);

using Real = long double;

struct Function {
  const char *name;
  Real (*reference)(Real);
  double ulps;
  double lo, hi; ///< inputs; positive for logarithms
};

Real inverseRoot(Real x) { return 1 / std::sqrt(x); }

// From `lo` to `hi` each function does more than hand on its argument, a limit or NaN; where they are 0 that is its whole range.
const Function kFunctions[] = {
    {"exp", std::exp, 3, -750, 712},    {"exp2", std::exp2, 3, -1080, 1026},
    {"log", std::log, 3, 0, 0},         {"log2", std::log2, 3, 0, 0},
    {"log10", std::log10, 3, 0, 0},     {"log1p", std::log1p, 2, -0.99, 100},
    {"expm1", std::expm1, 3, -40, 712}, {"rsqrt", inverseRoot, 2, 0, 0},
    {"sin", std::sin, 4, -1e5, 1e5},    {"cos", std::cos, 4, -1e5, 1e5},
    {"tan", std::tan, 5, -1e3, 1e3},    {"tanh", std::tanh, 5, -20, 20},
    {"erf", std::erf, 16, -7, 7},       {"sqrt_rn", std::sqrt, 0.501, 0, 0}};
constexpr int kCount = std::size(kFunctions);

/// In the order of the table.
Value callOf(int function, Value x) {
  switch (function) {
  case 0:
    return precise::exp(x);
  case 1:
    return precise::exp2(x);
  case 2:
    return precise::log(x);
  case 3:
    return precise::log2(x);
  case 4:
    return precise::log10(x);
  case 5:
    return precise::log1p(x);
  case 6:
    return precise::expm1(x);
  case 7:
    return precise::rsqrt(x);
  case 8:
    return precise::sin(x);
  case 9:
    return precise::cos(x);
  case 10:
    return precise::tan(x);
  case 11:
    return precise::tanh(x);
  case 12:
    return precise::erf(x);
  default:
    return sqrt_rn(x);
  }
}

/// Any number but NaN and infinities, small ones as often as large ones, and numbers below the least normal one among them.
template <class T> T anyNumber(Random &random) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  for (;;) {
    T value = std::bit_cast<T>(static_cast<Bits>(random.bits()));
    if (random.bits() % 16 == 0)
      value *= std::numeric_limits<T>::denorm_min() / std::numeric_limits<T>::epsilon();
    if (std::isfinite(value))
      return value;
  }
}

template <class T> std::vector<T> inputsOf(const Function &function, int64_t count) {
  // Exponentials of f32 end at an eighth of where those of f64 do.
  double part = sizeof(T) == 4 && function.hi > 500 ? 0.14 : 1;
  std::vector<T> x = uniform<T>(count, part * function.lo, part * function.hi, 17);
  Random random(3);
  bool isOfAll = function.hi == 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (isOfAll || i % 4 == 1)
      x[i] = anyNumber<T>(random);
    else if (i % 4 == 3) // near zero, where differences cancel
      x[i] = static_cast<T>(std::exp2(random.uniform(-25, 0)) * (i % 8 == 3 ? -0.9 : 1));
  std::ranges::copy(floatEdges<T>(), x.begin());
  return x;
}

template <class T> Real distance(T result, Real reference) {
  if (result == static_cast<T>(reference) || (std::isnan(result) && std::isnan(reference)))
    return 0;
  if (!std::isfinite(reference) || !std::isfinite(result))
    return HUGE_VAL;
  Real unit = std::ldexp(Real(1), std::max(std::ilogb(reference), smallestExponent(dtypeOf<T>)) -
                                      mantissaBits(dtypeOf<T>));
  return std::fabs(Real(result) - reference) / unit;
}

template <class T> void expectWithin(const Function &function, T x, T result) {
  Real reference = function.reference(Real(x));
  ASSERT_LE(distance(result, reference), function.ulps)
      << function.name << "(" << show(x) << ") is " << show(result) << ", expected "
      << double(reference);
}

/// Every function of its own row of inputs, in one kernel.
template <class T> auto rowByRow() {
  return kernel("functions", [](In<dtypeOf<T>, 2> x, Out<dtypeOf<T>, 2> y, Const Row, Const B) {
    Value i = program_id(0);
    y.tile({1, B})(int(Row), i) = callOf(Row, x.tile({1, B})(int(Row), i));
  });
}

#define PRECISE_TEST(name, T)                                                                      \
  TEST_P(PreciseMath, name) {                                                                      \
    static const auto program = rowByRow<T>();                                                     \
    constexpr int64_t kPoints = 3000;                                                              \
    std::vector<T> x;                                                                              \
    for (const Function &function : kFunctions)                                                    \
      append(x, inputsOf<T>(function, kPoints));                                                   \
    auto input = this->input({kCount, kPoints}, x);                                                \
    auto results = output<T>({kCount, kPoints}, 3);                                                \
    for (int row = 0; row < kCount; ++row)                                                         \
      program.consts(row, 128).warps(4).grid((kPoints + 127) / 128)(stream, input,                 \
                                                                    results.tensor());             \
    std::vector<T> y = results.result();                                                           \
    for (size_t i = 0; i < y.size() && !HasFatalFailure(); ++i)                                    \
      expectWithin(kFunctions[i / kPoints], x[i], y[i]);                                           \
  }
PRECISE_TEST(F32, float)
PRECISE_TEST(F64, double)

/// Pairs of edges, of any numbers, and of numbers that are close to each other.
template <class T> std::pair<std::vector<T>, std::vector<T>> anyPairs(int count) {
  auto pairs = pairsOf(floatEdges<T>());
  Random random(5);
  for (int i = 0; i < count; ++i) {
    T x = anyNumber<T>(random), y = anyNumber<T>(random);
    if (i % 2)
      y = static_cast<T>(x * std::exp2(random.uniform(-30, 2)));
    pairs.first.push_back(x), pairs.second.push_back(y);
  }
  return pairs;
}

using Binary = std::vector<Row<double (*)(double, double)>>;

TEST_P(PreciseMath, RemaindersAreExact) {
  auto remainder = [](Value x, Value y) { return std::vector<Value>{x % y}; };
  Binary rows = {{"%", [](double x, double y) { return std::fmod(x, y); }, {}}};
  auto [x, y] = anyPairs<float>(4000);
  zipRows<float>(remainder, rows, x, y, 128);
  auto [a, b] = anyPairs<double>(2000);
  zipRows<double>(remainder, rows, a, b, 128);
  auto [h, k] = pairsOf(uniform<half>(60, -100, 100));
  append(h, allPatterns<half>()), append(k, std::vector<half>(65536, half(0x1.5p-20f)));
  zipRows<half, float>(remainder, rows, h, k, 128);
  std::vector<bfloat16> all = allPatterns<bfloat16>(), small(all.size(), bfloat16(0x1.5p-128f));
  zipRows<bfloat16, float>(remainder, rows, all, small, 128);
}

TEST_P(PreciseMath, PowersAndQuotients) {
  auto [x, y] = pairsOf(uniform<double>(40, 0.1, 20));
  for (double &exponent : y)
    exponent -= 10;
  zipRows<double>(
      [](Value x, Value y) {
        return std::vector<Value>{pow(x, y), div_rn(x, y), rcp(x)};
      },
      Binary{{"pow", [](double x, double y) { return std::pow(x, y); }, {2}},
             {"div_rn", [](double x, double y) { return x / y; }, {}},
             {"rcp", [](double x, double) { return 1 / x; }, {}}},
      x, y, 128);
  auto [a, b] = pairsOf(uniform<float>(40, -7, 7));
  zipRows<float>(
      [](Value x, Value y) {
        return std::vector<Value>{pow(abs(x), y), div_rn(x, y), pow(x, 3.0)};
      },
      Binary{{"pow", [](double x, double y) { return std::pow(std::fabs(x), y); }, {16}},
             {"div_rn", [](double x, double y) { return x / y; }, {}},
             {"cube", [](double x, double) { return x * x * x; }, {16}}},
      a, b, 128);
}

/// Bases and exponents whose power is a number, or just not.
template <class T> std::pair<std::vector<T>, std::vector<T>> basesAndExponents(int count) {
  Random random(8);
  std::pair<std::vector<T>, std::vector<T>> pairs;
  double most = 1.1 * std::numeric_limits<T>::max_exponent;
  for (int i = 0; i < count; ++i) {
    T base = std::fabs(anyNumber<T>(random));
    if (i % 3 == 0) // near 1, where exponents are large
      base = static_cast<T>(
          1 + std::ldexp(random.uniform(-0.5, 1), -static_cast<int>(random.bits() % 20)));
    double exponent =
        random.uniform(-1.1, 1) * most / std::max<double>(std::fabs(std::log2(base)), 1e-30);
    bool isWhole = i % 4 == 1 && std::fabs(exponent) > 2;
    if (isWhole)
      exponent = std::trunc(exponent), base *= random.bits() % 2 ? 1 : -1;
    pairs.first.push_back(base), pairs.second.push_back(static_cast<T>(exponent));
  }
  return pairs;
}

TEST_P(PreciseMath, PowersOverTheWholeRange) {
  auto power = [](Value x, Value y) { return std::vector<Value>{pow(x, y)}; };
  Binary rows = {
      {"pow", [](double x, double y) { return double(std::pow(Real(x), Real(y))); }, {16}}};
  auto [x, y] = basesAndExponents<float>(3000);
  append(x, pairsOf(floatEdges<float>()).first), append(y, pairsOf(floatEdges<float>()).second);
  zipRows<float>(power, rows, x, y, 128);
  auto [a, b] = basesAndExponents<double>(3000);
  append(a, pairsOf(floatEdges<double>()).first), append(b, pairsOf(floatEdges<double>()).second);
  zipRows<double>(power, rows, a, b, 128);
}

TEST_P(PreciseMath, QuotientsAndSumsOfProductsOverTheWholeRange) {
  auto [x, y] = anyPairs<float>(4000);
  zipRows<float>(
      [](Value x, Value y) {
        return std::vector<Value>{div_rn(x, y), fma(x, y, x), fma(x, y, -x * y)};
      },
      Binary{{"div_rn", [](double x, double y) { return x / y; }, {}},
             {"fma",
              [](double x, double y) { return double(std::fma(float(x), float(y), float(x))); },
              {}},
             {"the rest of a product",
              [](double x, double y) {
                return double(std::fma(float(x), float(y), -float(x) * float(y)));
              },
              {}}},
      x, y, 128);
  auto [a, b] = anyPairs<double>(2000);
  zipRows<double>(
      [](Value x, Value y) {
        return std::vector<Value>{div_rn(x, y), x / y, fma(x, y, x), rcp(x)};
      },
      Binary{{"div_rn", [](double x, double y) { return x / y; }, {}},
             {"/", [](double x, double y) { return x / y; }, {}},
             {"fma", [](double x, double y) { return std::fma(x, y, x); }, {}},
             {"rcp", [](double x, double) { return 1 / x; }, {}}},
      a, b, 128);
}

// A thread with many elements calls one function for each: in a loop, and under a condition.
TEST_P(PreciseMath, ManyElementsAThread) {
  static const auto program = kernel("many", [](In<f64, 1> x, Out<f64, 1> y, Const B) {
    Value i = grid1d(x, {B});
    auto sum = var(zeros(f64, {B}));
    for (auto round : range(2)) {
      sum += precise::sin(x.tile({B})(i) + cast(f64, round));
      if_(i == 1, [&] { sum += pow(abs(sum.get()), 1.5); });
    }
    y.tile({B})(i) = sum;
  });
  std::vector<double> x = uniform<double>(5000, -1000, 1000);
  auto y = output<double>({5000});
  program.consts(2048).warps(2)(stream, input({5000}, x), y.tensor());
  expectAll(y.result(),
            [&](int64_t i) {
              double sum = 0;
              for (int round = 0; round < 2; ++round) {
                sum += std::sin(x[size_t(i)] + round);
                sum += i / 2048 == 1 ? std::pow(std::fabs(sum), 1.5) : 0;
              }
              return sum;
            },
            {16, 1e-14});
}

/// Every kind of base with every kind of exponent: zeros, infinities, NaN, ones, negative bases with
/// exponents that are odd, even and no integers, and the largest odd integer of the dtype.
template <class T> std::pair<std::vector<T>, std::vector<T>> specialPowers() {
  std::vector<T> list = floatEdges<T>();
  double most = std::ldexp(1, mantissaBits(dtypeOf<T>) + 1) - 1; // odd; above, all are even
  double large = std::ldexp(1, -smallestExponent(dtypeOf<T>) / 2);
  for (double x : {5.0, 0.3, 0.999, most, most - 1, most + 1, 4 * most, large})
    for (double sign : {1, -1})
      list.push_back(static_cast<T>(static_cast<Wide<T>>(sign * x)));
  return pairsOf(list);
}

// Bases just beside 1 are among the cases: there an error in the last place of the logarithm shows in every digit.
TEST_P(PreciseMath, PowersOfSpecialCases) {
  auto check = [&]<class T>(T, double ulps) {
    SCOPED_TRACE(nameOf(dtypeOf<T>));
    auto [x, y] = specialPowers<T>();
    zipRows<T>(
        [](Value x, Value y) {
          Value power = pow(x, y);
          Value sign = select(power == 0, div_rn(1.0, power), 0.0); // an infinity of a zero's sign
          return std::vector<Value>{power, cast(dtypeOf<T>, sign)};
        },
        Binary{{"pow", [](double x, double y) { return std::pow(x, y); }, {ulps}},
               {"1 / pow, if that is 0",
                [](double x, double y) {
                  double power = roundedTo<T>(std::pow(x, y));
                  return power == 0 ? 1 / power : 0;
                },
                {}}},
        x, y, 128);
  };
  check(float(), 16), check(double(), 2), check(half(), 1), check(bfloat16(), 1);
}

TEST_P(PreciseMath, PowersOf16BitFloats) {
  auto check = [&]<class T>(T) {
    auto [x, y] = pairsOf(uniform<T>(50, -6, 6));
    zipRows<T>([](Value x, Value y) { return std::vector<Value>{pow(abs(x), y)}; },
               Binary{{"pow", [](double x, double y) { return std::pow(std::fabs(x), y); }, {1}}},
               x, y, 128);
  };
  check(half()), check(bfloat16());
}

TEST_P(PreciseMath, Roundings) {
  auto check = [&]<class T>(T) {
    std::vector<T> x = floatEdges<T>();
    for (double value : {0.4, 0.5, 1.5, 2.5, 0.49999997, 8388609.0, -0.5, -1.5, -2.7})
      x.push_back(static_cast<T>(value));
    mapRows<T>(
        [](Value x) {
          return std::vector<Value>{trunc(x), round(x), floor(x), ceil(x)};
        },
        std::vector<Row<double (*)(double)>>{{"trunc", [](double x) { return std::trunc(x); }, {}},
                                             {"round", [](double x) { return std::round(x); }, {}},
                                             {"floor", [](double x) { return std::floor(x); }, {}},
                                             {"ceil", [](double x) { return std::ceil(x); }, {}}},
        x, 128);
  };
  check(float()), check(double());
}

TEST_P(PreciseMath, MinimaThatPropagateNan) {
  auto check = [&]<class T>(T) {
    auto [x, y] = pairsOf(floatEdges<T>());
    zipRows<T>(
        [](Value x, Value y) {
          return std::vector<Value>{min_nan(x, y), max_nan(x, y)};
        },
        Binary{{"min_nan",
                [](double x, double y) {
                  return std::isnan(x) || std::isnan(y) ? NAN : std::min(x, y);
                },
                {}},
               {"max_nan",
                [](double x, double y) {
                  return std::isnan(x) || std::isnan(y) ? NAN : std::max(x, y);
                },
                {}}},
        x, y, 128);
  };
  check(float()), check(double());
}

TEST_P(PreciseMath, ClampsThatIgnoreOrPropagateNan) {
  auto check = [&]<class T>(T) {
    mapRows<T>(
        [](Value x) {
          return std::vector<Value>{clamp(x, -1, 2), clamp_nan(x, -1, 2), clamp_nan(x, x, x)};
        },
        std::vector<Row<double (*)(double)>>{
            {"clamp", [](double x) { return x != x ? -1 : std::clamp(x, -1.0, 2.0); }, {}},
            {"clamp_nan", [](double x) { return x != x ? x : std::clamp(x, -1.0, 2.0); }, {}},
            {"clamp_nan to itself", [](double x) { return x; }, {}}},
        floatEdges<T>(), 128);
  };
  check(float()), check(double()), check(half()), check(bfloat16());
  mapRows<int32_t>(
      [](Value x) {
        return std::vector<Value>{clamp(x, -5, 7), clamp_nan(x, -5, 7)};
      },
      std::vector<Row<int32_t (*)(int32_t)>>{
          {"clamp", [](int32_t x) { return std::clamp(x, -5, 7); }, {}},
          {"clamp_nan", [](int32_t x) { return std::clamp(x, -5, 7); }, {}}},
      integerEdges<int32_t>(), 128);
}

TEST_P(PreciseMath, FastFormsOfF32) {
  mapRows<float>(
      [](Value x) {
        return std::vector<Value>{log10(x), log1p(x), expm1(x), rcp(x)};
      },
      std::vector<Row<double (*)(double)>>{
          {"log10", [](double x) { return std::log10(x); }, {4, 2e-7}},
          {"log1p", [](double x) { return std::log1p(x); }, {2}},
          {"expm1", [](double x) { return std::expm1(x); }, {3}},
          {"rcp", [](double x) { return 1 / x; }, {2}}},
      uniform<float>(1000, 0.001, 1.4), 128);
  // An error of 2^-20.5 in each of sin and cos is 2^-20.5 * (1 + tan) / cos in the quotient.
  for (auto [first, last, absolute] : {std::array{0.001, 0.7, 2e-6}, {0.7, 1.4, 3e-5}})
    mapRows<float>([](Value x) { return std::vector<Value>{tan(x)}; },
                   std::vector<Row<double (*)(double)>>{
                       {"tan", [](double x) { return std::tan(x); }, {2, absolute}}},
                   uniform<float>(1000, first, last), 128);
}

template <class T> T floorDivided(T x, T y) {
  auto quotient = static_cast<T>(x / y);
  return static_cast<T>(quotient - (x % y != 0 && (x < 0) != (y < 0)));
}

TEST_P(PreciseMath, FloorDivision) {
  auto check = [&]<class T>(T) {
    std::vector<T> xs, ys;
    auto [x, y] = pairsOf(edges<T>());
    for (size_t i = 0; i < x.size(); ++i)
      if (y[i] != 0 && !(std::is_signed_v<T> && y[i] == T(-1)))
        xs.push_back(x[i]), ys.push_back(y[i]);
    zipRows<T>(
        [](Value x, Value y) {
          return std::vector<Value>{floor_div(x, y), floor_mod(x, y)};
        },
        std::vector<Row<T (*)(T, T)>>{
            {"floor_div", floorDivided<T>, {}},
            {"floor_mod",
             [](T x, T y) {
               return static_cast<T>(uint64_t(x) - uint64_t(floorDivided(x, y)) * uint64_t(y));
             },
             {}}},
        xs, ys);
  };
  check(int8_t()), check(int32_t()), check(int64_t()), check(uint16_t());
}

} // namespace
