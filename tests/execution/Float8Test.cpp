// 8-bit floats beyond casts: arithmetic in f32 rounded once, comparisons, shapes, reductions, masks, loops, scalars. Every
// pair of patterns where an operation has two operands.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Float8);

using Binary = std::vector<Row<double (*)(double, double)>>;
using Unary = std::vector<Row<double (*)(double)>>;

double single(double x) { return static_cast<double>(static_cast<float>(x)); }

std::vector<Value> arithmetic(Value x, Value y) {
  return {x + y, x - y, x * y, min(x, y), max(x, y), -x, abs(x), select(x < y, x, y), fma(x, y, x)};
}
const Binary kArithmetic = {
    {"+", [](double x, double y) { return single(x + y); }, {}},
    {"-", [](double x, double y) { return single(x - y); }, {}},
    {"*", [](double x, double y) { return x * y; }, {}},
    {"min", [](double x, double y) { return std::fmin(x, y); }, {}},
    {"max", [](double x, double y) { return std::fmax(x, y); }, {}},
    {"-x", [](double x, double) { return -x; }, {}},
    {"abs", [](double x, double) { return std::fabs(x); }, {}},
    {"select", [](double x, double y) { return x < y ? x : y; }, {}},
    {"fma", [](double x, double y) { return single(x * y + x); }, {}},
};

template <class T> std::pair<std::vector<T>, std::vector<T>> everyPair() {
  // Infinities of e5m2 become the largest number in the first operation; as operands they are tested by comparisons.
  std::vector<T> finite;
  for (T x : allPatterns<T>())
    if (!std::isinf(static_cast<float>(x)))
      finite.push_back(x);
  return pairsOf(finite);
}

#define FLOAT8_TEST(name, T)                                                                       \
  TEST_P(Float8, name) {                                                                           \
    auto [x, y] = everyPair<T>();                                                                  \
    zipRows<T>([](Value x, Value y) { return arithmetic(x, y); }, kArithmetic, x, y, 1024);        \
    auto [a, b] = pairsOf(allPatterns<T>());                                                       \
    zipRows<T, bool>(                                                                              \
        [](Value x, Value y) {                                                                     \
          return std::vector<Value>{x == y, x != y, x<y, x <= y, x> y, x >= y, isnan(x)};          \
        },                                                                                         \
        std::vector<Row<bool (*)(double, double)>>{                                                \
            {"==", [](double x, double y) { return x == y; }, {}},                                 \
            {"!=", [](double x, double y) { return x != y; }, {}},                                 \
            {"<", [](double x, double y) { return x < y; }, {}},                                   \
            {"<=", [](double x, double y) { return x <= y; }, {}},                                 \
            {">", [](double x, double y) { return x > y; }, {}},                                   \
            {">=", [](double x, double y) { return x >= y; }, {}},                                 \
            {"isnan", [](double x, double) { return std::isnan(x); }, {}}},                        \
        a, b, 1024);                                                                               \
  }
FLOAT8_TEST(E4m3OfEveryPair, float8_e4m3)
FLOAT8_TEST(E5m2OfEveryPair, float8_e5m2)

TEST_P(Float8, MathIsComputedInF32) {
  mapRows<float8_e4m3>(
      [](Value x) {
        return std::vector<Value>{exp(x), sqrt(x), sigmoid(x), x + 0.5, x * 3};
      },
      Unary{{"exp", [](double x) { return std::exp(x); }, {0.51}},
            {"sqrt", [](double x) { return std::sqrt(x); }, {0.51}},
            {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, {0.51}},
            {"+ 0.5", [](double x) { return x + 0.5; }, {}},
            {"* 3", [](double x) { return x * 3; }, {}}},
      allPatterns<float8_e4m3>());
}

/// Small whole numbers, which sums keep exact.
template <class T> std::vector<T> wholeNumbers(int64_t count) {
  std::vector<T> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(T(static_cast<float>(i * 7 % 5 - 2)));
  return values;
}

/// A tile of 16 x 64 over fewer elements: masked in both dimensions.
constexpr int kRows = 13, kColumns = 50;
template <class T> auto shapes() {
  return kernel("shapes",
                [](In<dtypeOf<T>, 2> x, Out<dtypeOf<T>, 2> transposed, Out<f32, 1> sums,
                   Out<dtypeOf<T>, 1> largest, Out<dtypeOf<T>, 2> sorted, Scalar<dtypeOf<T>> s) {
                  Value tile = x.tile({16, 64})(0, 0);
                  transposed.tile({64, 16})(0, 0) = trans(tile);
                  sums.tile({16})(0) = sum(cast(f32, tile), 1);
                  largest.tile({16})(0) = reduce_max(tile, 1);
                  sorted.tile({16, 64})(0, 0) = sort(select(tile > 0, tile, s));
                });
}

TEST_P(Float8, Shapes) {
  auto check = [&]<class T>(T) {
    static const auto program = shapes<T>();
    std::vector<T> values = wholeNumbers<T>(kRows * kColumns);
    auto transposed = this->output<T>({kColumns, kRows}, 3);
    auto sorted = this->output<T>({kRows, kColumns});
    auto sums = this->output<float>({kRows});
    auto largest = this->output<T>({kRows});
    program.warps(4).grid(1)(stream, this->input({kRows, kColumns}, values), transposed.tensor(),
                             sums.tensor(), largest.tensor(), sorted.tensor(), -1.5f);
    auto at = [&](int64_t row, int64_t column) {
      return static_cast<double>(
          static_cast<float>(values[static_cast<size_t>(row * kColumns + column)]));
    };
    this->expectAll(transposed.result(), [&](int64_t i) { return at(i % kRows, i / kRows); });
    this->expectAll(sums.result(), [&](int64_t row) {
      double total = 0;
      for (int column = 0; column < kColumns; ++column)
        total += at(row, column);
      return total;
    });
    this->expectAll(largest.result(), [](int64_t) { return 2.0; });
    this->expectAll(sorted.result(), [&](int64_t i) { // the masked 14 zeros become -1.5 too
      std::vector<double> row;
      for (int column = 0; column < 64; ++column) {
        double x = column < kColumns ? at(i / kColumns, column) : 0;
        row.push_back(x > 0 ? x : -1.5);
      }
      std::sort(row.begin(), row.end());
      return row[static_cast<size_t>(i % kColumns)];
    });
  };
  check(float8_e4m3()), check(float8_e5m2());
}

TEST_P(Float8, CarriedThroughLoopsAndBranches) {
  static const auto program = kernel("carried", [](In<e4m3, 1> x, Out<e4m3, 1> y, Const B) {
    auto most = var(full(e4m3, {B}, -448));
    for (auto i : range(cdiv(x.dim(0), B))) {
      Value tile = x.tile({B}).pad(-448)(i);
      if_(i < 3, [&] { most = max(most, tile); });
    }
    y.tile({B})(0) = most;
  });
  std::vector<float8_e4m3> x = uniform<float8_e4m3>(300, -400, 400);
  auto y = output<float8_e4m3>({64});
  program.consts(64).grid(1)(stream, input({300}, x), y.tensor());
  expectAll(y.result(), [&](int64_t i) {
    double most = -448;
    for (int64_t at = i; at < 3 * 64; at += 64)
      most = std::max(most, static_cast<double>(static_cast<float>(x[static_cast<size_t>(at)])));
    return most;
  });
}

TEST_P(Float8, ConstantsSaturateAsCastsDo) {
  static const auto program = kernel("constants", [](Out<e4m3, 1> a, Out<e5m2, 1> b) {
    a.tile({16})(0) = full(e4m3, {16}, INFINITY);
    b.tile({16})(0) = full(e5m2, {16}, -INFINITY);
  });
  auto a = output<float8_e4m3>({16});
  auto b = output<float8_e5m2>({16});
  program.grid(1)(stream, a.tensor(), b.tensor());
  expectAll(a.result(), [](int64_t) { return 448.0; });
  expectAll(b.result(), [](int64_t) { return -57344.0; });
}

TEST_P(Float8, BitcastReadsTheBits) {
  std::vector<uint8_t> bits(256);
  for (size_t i = 0; i < 256; ++i)
    bits[i] = static_cast<uint8_t>(i);
  map<uint8_t, float>([](Value x) { return cast(f32, bitcast(e4m3, x)); },
                      [](uint8_t x) {
                        float8_e4m3 value;
                        value.bits = x;
                        return static_cast<double>(static_cast<float>(value));
                      },
                      kExactly, bits);
  map<float, int32_t>([](Value x) { return bitcast(i32, x); },
                      [](double x) { return std::bit_cast<int32_t>(static_cast<float>(x)); },
                      kExactly, floatEdges<float>());
}

} // namespace
