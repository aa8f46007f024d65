// Elementwise functions against the C library in double: every 16-bit pattern, and f32 over the
// range where each function is interesting. f32 uses the GPU's approximate instructions, whose
// errors are the tolerances stated here.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Math, Targets::One);

using Rows = std::vector<Row<double (*)(double)>>;

double sigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }
double geluOf(double x) {
  return std::isinf(x) && x < 0 ? NAN : x * (1 + std::erf(x / std::sqrt(2.0))) / 2;
}
double siluOf(double x) { return std::isinf(x) && x < 0 ? NAN : x * sigmoidOf(x); }
double rsqrtOf(double x) { return 1 / std::sqrt(x); }
double reluOf(double x) { return std::fmax(x, 0.0); }
double absOf(double x) { return std::fabs(x); }

std::vector<Value> approximate(Value x) {
  return {exp(x),  exp2(x), log(x),     log2(x), sqrt(x), rsqrt(x),
          tanh(x), erf(x),  sigmoid(x), gelu(x), silu(x)};
}
Rows approximateRows(double ulps, double absolute) {
  // tanh.approx has 11 bits; erf has the absolute error that is documented.
  double tanhUlps = std::max(ulps, 1.0);
  return {{"exp", [](double x) { return std::exp(x); }, {ulps}},
          {"exp2", [](double x) { return std::exp2(x); }, {ulps}},
          {"log", [](double x) { return std::log(x); }, {ulps, absolute}},
          {"log2", [](double x) { return std::log2(x); }, {ulps, absolute}},
          {"sqrt", [](double x) { return std::sqrt(x); }, {ulps}},
          {"rsqrt", rsqrtOf, {ulps}},
          {"tanh", [](double x) { return std::tanh(x); }, {tanhUlps, 0x1p-10}},
          {"erf", [](double x) { return std::erf(x); }, {ulps, 4e-7}},
          {"sigmoid", sigmoidOf, {ulps, 1e-7}},
          {"gelu", geluOf, {ulps, 2e-6}},
          {"silu", siluOf, {ulps, 1e-6}}};
}

std::vector<Value> correctlyRounded(Value x) { return {floor(x), ceil(x), abs(x), relu(x), -x}; }
const Rows kCorrectlyRoundedRows = {{"floor", [](double x) { return std::floor(x); }, {}},
                                    {"ceil", [](double x) { return std::ceil(x); }, {}},
                                    {"abs", absOf, {}},
                                    {"relu", reluOf, {}},
                                    {"negate", [](double x) { return -x; }, {}}};

TEST_P(Math, F16OfEveryPattern) {
  mapRows<half>([](Value x) { return correctlyRounded(x); }, kCorrectlyRoundedRows,
                allPatterns<half>(), 1024);
  mapRows<half>([](Value x) { return approximate(x); }, approximateRows(0.6, 1e-6),
                allPatterns<half>(), 1024);
}

TEST_P(Math, Bf16OfEveryPattern) {
  mapRows<bfloat16>([](Value x) { return correctlyRounded(x); }, kCorrectlyRoundedRows,
                    allPatterns<bfloat16>(), 1024);
}

std::vector<float> positives() {
  std::vector<float> x = floatEdges<float>();
  Random random(3);
  for (int i = 0; i < 3000; ++i)
    x.push_back(static_cast<float>(std::exp2(random.uniform(-126, 127))));
  append(x, uniform<float>(1000, 0.5, 2));
  return x;
}

TEST_P(Math, F32OverItsRange) {
  mapRows<float>([](Value x) { return correctlyRounded(x); }, kCorrectlyRoundedRows, positives());
  // Rounding x * log2(e) costs exp up to |x| / 2 further ulps.
  std::vector<float> x = uniform<float>(4000, -87, 88);
  mapRows<float>([](Value x) { return approximate(x); }, approximateRows(64, 1e-6), x);
  append(x, uniform<float>(2000, -1, 1, 7));
  mapRows<float>([](Value x) { return approximate(x); }, approximateRows(64, 1e-6),
                 std::vector<float>{0, -0.0f, INFINITY, -INFINITY, NAN, 1, -1});
}

TEST_P(Math, F32NearOne) {
  mapRows<float>([](Value x) { return approximate(x); }, approximateRows(4, 4e-7),
                 uniform<float>(4000, -1, 1, 7));
  mapRows<float>(
      [](Value x) {
        return std::vector<Value>{log(x), log2(x), sqrt(x), rsqrt(x)};
      },
      Rows{{"log", [](double x) { return std::log(x); }, {4, 4e-7}},
           {"log2", [](double x) { return std::log2(x); }, {4, 4e-7}},
           {"sqrt", [](double x) { return std::sqrt(x); }, {2}},
           {"rsqrt", rsqrtOf, {4}}},
      positives());
}

// 2^-126 is the least normal number.
TEST_P(Math, ExpBelowTheNormalNumbersIsZero) {
  auto exps = [](Value x) { return std::vector<Value>{exp2(x), exp(x * 0.6931472f)}; };
  auto zero = [](double) { return 0.0; };
  auto power = [](double x) { return std::exp2(x); };
  std::vector<float> below = uniform<float>(1000, -148, -126.5, 9);
  append(below, {-150.0f, -1000.0f, -INFINITY});
  mapRows<float>(exps, Rows{{"exp2", zero, {}}, {"exp", zero, {}}}, below);
  // Its two products cost exp further ulps.
  std::vector<float> above = uniform<float>(1000, -125.9, 127.9, 10);
  append(above, {0x1p-149f, -0x1p-130f, 0x1p-126f});
  mapRows<float>(exps, Rows{{"exp2", power, {2}}, {"exp", power, {192}}}, above);
}

TEST_P(Math, ErfOverItsRange) {
  std::vector<float> x = uniform<float>(8000, -4.5, 4.5, 5);
  append(x, uniform<float>(4000, -0.1, 0.1, 6));
  append(x, floatEdges<float>());
  append(x, positives());
  mapRows<float>([](Value x) { return std::vector<Value>{erf(x)}; },
                 Rows{{"erf", [](double x) { return std::erf(x); }, {0, 4e-7}}}, x);
  // erf must not exceed 1: the difference 1 - |erf| would change its sign.
  mapRows<float, bool>(
      [](Value x) { return std::vector<Value>{abs(erf(x)) > 1.0f}; },
      std::vector<Row<bool (*)(double)>>{{"|erf| > 1", [](double) { return false; }, {}}}, x);
  mapRows<float>([](Value x) { return std::vector<Value>{erf(x)}; },
                 Rows{{"erf", [](double x) { return std::erf(x); }, {}}},
                 std::vector<float>{0, -0.0f, 5, -5, 1e30f, INFINITY, -INFINITY, NAN});
}

TEST_P(Math, SinAndCosWithinTheirRange) {
  // sin.approx: 2^-20.5 of absolute error up to pi, growing with the argument beyond.
  mapRows<float>(
      [](Value x) {
        return std::vector<Value>{sin(x), cos(x)};
      },
      Rows{{"sin", [](double x) { return std::sin(x); }, {0, 0x1p-20}},
           {"cos", [](double x) { return std::cos(x); }, {0, 0x1p-20}}},
      uniform<float>(4000, -M_PI, M_PI));
  mapRows<float>(
      [](Value x) {
        return std::vector<Value>{sin(x), cos(x)};
      },
      Rows{{"sin", [](double x) { return std::isinf(x) ? NAN : std::sin(x); }, {0, 1e-4}},
           {"cos", [](double x) { return std::isinf(x) ? NAN : std::cos(x); }, {0, 1e-4}}},
      std::vector<float>{0, 100, -100, INFINITY, -INFINITY, NAN});
}

TEST_P(Math, F64ThatNeedsNoApproximation) {
  mapRows<double>([](Value x) { return correctlyRounded(x); }, kCorrectlyRoundedRows,
                  floatEdges<double>());
}

TEST_P(Math, IsNanAndIsInf) {
  mapRows<float, bool>(
      [](Value x) {
        return std::vector<Value>{isnan(x), isinf(x)};
      },
      std::vector<Row<bool (*)(double)>>{{"isnan", [](double x) { return std::isnan(x); }, {}},
                                         {"isinf", [](double x) { return std::isinf(x); }, {}}},
      floatEdges<float>());
}

TEST_P(Math, FmaRoundsOnce) {
  auto [x, y] = pairsOf(uniform<float>(60, -10, 10));
  zipRows<float>([](Value x, Value y) { return std::vector<Value>{fma(x, y, -x * 3.0f)}; },
                 std::vector<Row<double (*)(double, double)>>{
                     {"fma",
                      [](double x, double y) {
                        return static_cast<double>(std::fmaf(float(x), float(y), -float(x) * 3.0f));
                      },
                      {}}},
                 x, y);
}

} // namespace
