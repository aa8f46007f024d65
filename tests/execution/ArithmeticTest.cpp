// Operators, comparisons, select, min and max, on every dtype, with the edges of each.
#include "tests/execution/Assembly.h"
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

const bool gate = assembleEverything(Spills::Allowed);

EXECUTION_SUITE(Arithmetic, Targets::One);

// --- Integers ------------------------------------------------------------------------------------

template <class T> using Binary = std::vector<Row<T (*)(T, T)>>;
template <class T> using Unsigned = std::make_unsigned_t<T>;

/// x op y without the undefined overflow of signed C++.
template <class T, class Op> T wrapped(T x, T y, Op op) {
  return static_cast<T>(op(static_cast<uint64_t>(x), static_cast<uint64_t>(y)));
}

template <class T> constexpr int kWidth = static_cast<int>(sizeof(T)) * 8;

template <class T> Binary<T> ringRows() {
  return {
      {"+", [](T x, T y) { return wrapped(x, y, std::plus<uint64_t>()); }, {}},
      {"-", [](T x, T y) { return wrapped(x, y, std::minus<uint64_t>()); }, {}},
      {"*", [](T x, T y) { return wrapped(x, y, std::multiplies<uint64_t>()); }, {}},
      {"&", [](T x, T y) { return static_cast<T>(x & y); }, {}},
      {"|", [](T x, T y) { return static_cast<T>(x | y); }, {}},
      {"^", [](T x, T y) { return static_cast<T>(x ^ y); }, {}},
      {"<<",
       [](T x, T y) {
         return static_cast<T>(static_cast<uint64_t>(x) << (static_cast<uint64_t>(y) % kWidth<T>));
       },
       {}},
      {">>",
       [](T x, T y) { return static_cast<T>(x >> (static_cast<uint64_t>(y) % kWidth<T>)); },
       {}},
      {"min", [](T x, T y) { return std::min(x, y); }, {}},
      {"max", [](T x, T y) { return std::max(x, y); }, {}},
      {"~", [](T x, T) { return static_cast<T>(~x); }, {}},
      {"-x", [](T x, T) { return wrapped<T>(0, x, std::minus<uint64_t>()); }, {}},
      {"abs", [](T x, T) { return x < 0 ? wrapped<T>(0, x, std::minus<uint64_t>()) : x; }, {}},
  };
}

std::vector<Value> ring(Value x, Value y) {
  return {x + y,  x - y,     x * y,     x & y, x | y, x ^ y, x << y,
          x >> y, min(x, y), max(x, y), ~x,    -x,    abs(x)};
}

/// Division where it is defined; the guard must survive optimisation.
template <class T> bool divides(T x, T y) {
  return y != 0 && !(std::is_signed_v<T> && x == std::numeric_limits<T>::min() && y == T(-1));
}
std::vector<Value> division(Value x, Value y) {
  return {select(y != 0, x / y, 5), select(y != 0, x % y, 6)};
}
template <class T> Binary<T> divisionRows() {
  return {{"/", [](T x, T y) { return y == 0 ? T(5) : static_cast<T>(x / y); }, {}},
          {"%", [](T x, T y) { return y == 0 ? T(6) : static_cast<T>(x % y); }, {}}};
}

template <class T> using Relation = std::vector<Row<bool (*)(Exact<T>, Exact<T>)>>;
std::vector<Value> relations(Value x, Value y) {
  return {x == y, x != y, x<y, x <= y, x> y, x >= y};
}
template <class T> Relation<T> relationRows() {
  using E = Exact<T>;
  return {{"==", [](E x, E y) { return x == y; }, {}}, {"!=", [](E x, E y) { return x != y; }, {}},
          {"<", [](E x, E y) { return x < y; }, {}},   {"<=", [](E x, E y) { return x <= y; }, {}},
          {">", [](E x, E y) { return x > y; }, {}},   {">=", [](E x, E y) { return x >= y; }, {}}};
}

#define INTEGER_TEST(name, T)                                                                      \
  TEST_P(Arithmetic, name) {                                                                       \
    auto [x, y] = pairsOf(edges<T>());                                                             \
    Random random(5);                                                                              \
    for (int i = 0; i < 500; ++i)                                                                  \
      x.push_back(static_cast<T>(random.bits())), y.push_back(static_cast<T>(random.bits()));      \
    zipRows<T>([](Value x, Value y) { return ring(x, y); }, ringRows<T>(), x, y);                  \
    zipRows<T, bool>([](Value x, Value y) { return relations(x, y); }, relationRows<T>(), x, y);   \
    std::vector<T> dividends, divisors;                                                            \
    for (size_t i = 0; i < x.size(); ++i)                                                          \
      if (y[i] == 0 || divides(x[i], y[i]))                                                        \
        dividends.push_back(x[i]), divisors.push_back(y[i]);                                       \
    zipRows<T>([](Value x, Value y) { return division(x, y); }, divisionRows<T>(), dividends,      \
               divisors);                                                                          \
  }

INTEGER_TEST(I8, int8_t)
INTEGER_TEST(I16, int16_t)
INTEGER_TEST(I32, int32_t)
INTEGER_TEST(I64, int64_t)
INTEGER_TEST(U8, uint8_t)
INTEGER_TEST(U16, uint16_t)
INTEGER_TEST(U32, uint32_t)
INTEGER_TEST(U64, uint64_t)

TEST_P(Arithmetic, DivisionThatIsUndefinedSpoilsNothingElse) {
  // x / 0 and INT_MIN / -1 may give anything, but neither trap nor change what select picks.
  auto [x, y] = pairsOf(edges<int32_t>());
  zipRows<int32_t>(
      [](Value x, Value y) {
        Value safe = (y != 0) & ~((x == std::numeric_limits<int32_t>::min()) & (y == -1));
        return std::vector<Value>{select(safe, x / y, 7), select(safe, x % y, 8)};
      },
      Binary<int32_t>{{"/", [](int32_t x, int32_t y) { return divides(x, y) ? x / y : 7; }, {}},
                      {"%", [](int32_t x, int32_t y) { return divides(x, y) ? x % y : 8; }, {}}},
      x, y);
}

TEST_P(Arithmetic, DivisionByConstants) {
  std::vector<int32_t> x = edges<int32_t>();
  append(x, uniform<int32_t>(300, -1e9, 1e9));
  mapRows<int32_t>(
      [](Value x) {
        return std::vector<Value>{x / 7, x % 7, x / -3, x / 16, x % 16, cdiv(x & 1023, 48)};
      },
      std::vector<Row<int32_t (*)(int32_t)>>{
          {"/7", [](int32_t x) { return x / 7; }, {}},
          {"%7", [](int32_t x) { return x % 7; }, {}},
          {"/-3", [](int32_t x) { return x / -3; }, {}},
          {"/16", [](int32_t x) { return x / 16; }, {}},
          {"%16", [](int32_t x) { return x % 16; }, {}},
          {"cdiv", [](int32_t x) { return ((x & 1023) + 47) / 48; }, {}}},
      x);
}

TEST_P(Arithmetic, I1) {
  std::vector<bool> list = {false, true};
  auto [x, y] = pairsOf(list);
  zipRows<bool>(
      [](Value x, Value y) {
        return std::vector<Value>{x & y, x | y, x ^ y, ~x, x == y, select(x, y, ~y)};
      },
      std::vector<Row<bool (*)(bool, bool)>>{
          {"&", [](bool x, bool y) { return x && y; }, {}},
          {"|", [](bool x, bool y) { return x || y; }, {}},
          {"^", [](bool x, bool y) { return x != y; }, {}},
          {"~", [](bool x, bool) { return !x; }, {}},
          {"==", [](bool x, bool y) { return x == y; }, {}},
          {"select", [](bool x, bool y) { return x ? y : !y; }, {}}},
      x, y);
  zipRows<bool>([](Value x, Value y) { return relations(x, y); }, relationRows<bool>(), x, y);
}

// In memory any byte but zero is true; what is stored is 0 or 1, whether vectors of bytes move or one.
TEST_P(Arithmetic, I1OfAnyByte) {
  static const auto program =
      kernel("i1_bytes", [](In<i1, 1> x, Out<u8, 2> y, Out<i1, 2> z, Const B) {
        Value i = grid1d(x, {B}), at = i * B + arange(B);
        Value tile = x.tile({B})(i), loaded = load(x.ptr() + at, at < x.dim(0), false);
        Value rows[] = {tile, loaded, ~tile, tile == loaded};
        for (int row = 0; row < 4; ++row) {
          y.tile({1, B})(row, i) = expand_dims(cast(u8, rows[row]), 0);
          z.tile({1, B})(row, i) = expand_dims(rows[row], 0);
        }
      });
  for (int64_t size : {1, 256, 300}) {
    std::vector<uint8_t> x = uniform<uint8_t>(size, 0, 256);
    for (size_t i = 0; i < x.size(); i += 3)
      x[i] = i % 2 ? 0 : i % 4 ? 128 : 2;
    auto tensor = device().tensor<bool>({size});
    tensor.uploadBytes(x.data(), x.size());
    auto y = output<uint8_t>({4, size}), z = output<uint8_t>({4, size}, 5);
    auto stored = ref(static_cast<bool *>(z.tensor().data()), {4, size}, {size + 5, 1});
    program.consts(256)(stream, tensor, y.tensor(), stored);
    auto expected = [&](int64_t i) {
      bool isTrue = x[size_t(i % size)] != 0;
      return i / size < 2 ? isTrue : i / size == 2 ? !isTrue : true;
    };
    expectAll(y.result(), expected);
    expectAll(z.result(), expected);
  }
}

// --- Floats --------------------------------------------------------------------------------------

using Floats = std::vector<Row<double (*)(double, double)>>;

double minimumOf(double x, double y) { return std::fmin(x, y); }
double maximumOf(double x, double y) { return std::fmax(x, y); }

std::vector<Value> field(Value x, Value y) {
  return {x + y, x - y, x * y, min(x, y), max(x, y), select(x < y, x, y)};
}
const Floats kFieldRows = {{"+", [](double x, double y) { return x + y; }, {}},
                           {"-", [](double x, double y) { return x - y; }, {}},
                           {"*", [](double x, double y) { return x * y; }, {}},
                           {"min", minimumOf, {}},
                           {"max", maximumOf, {}},
                           {"select", [](double x, double y) { return x < y ? x : y; }, {}}};

#define FLOAT_TEST(name, T)                                                                        \
  TEST_P(Arithmetic, name) {                                                                       \
    auto [x, y] = pairsOf(edges<T>());                                                             \
    append(x, uniform<T>(1000, -100, 100)), append(y, uniform<T>(1000, -100, 100, 2));             \
    zipRows<T>([](Value x, Value y) { return field(x, y); }, kFieldRows, x, y);                    \
    zipRows<T, bool>([](Value x, Value y) { return relations(x, y); }, relationRows<T>(), x, y);   \
  }

FLOAT_TEST(F16, half)
FLOAT_TEST(Bf16, bfloat16)
FLOAT_TEST(F32, float)
FLOAT_TEST(F64, double)

TEST_P(Arithmetic, FloatDivision) {
  auto [x, y] = pairsOf(uniform<float>(60, -100, 100));
  Floats quotient = {{"/", [](double x, double y) { return x / y; }, {2}}};
  auto divide = [](Value x, Value y) { return std::vector<Value>{x / y}; };
  zipRows<float>(divide, quotient, x, y);
  auto [edgeX, edgeY] = pairsOf(std::vector<float>{0, 1, -1, 3, INFINITY, -INFINITY, NAN});
  zipRows<float>(divide, quotient, edgeX, edgeY);
}

TEST_P(Arithmetic, HalfDivisionIsF32) {
  auto [x, y] = pairsOf(uniform<half>(60, -100, 100));
  zipRows<half, float>([](Value x, Value y) { return std::vector<Value>{x / y}; },
                       Floats{{"/", [](double x, double y) { return x / y; }, {2}}}, x, y);
}

TEST_P(Arithmetic, HostNumbersAndPromotion) {
  map<half>([](Value x) { return x * 2 + 1; }, [](double x) { return x * 2 + 1; }, kExactly,
            std::vector<half>{half(0), half(1), half(-2.5f), half(1000)});
  map<int32_t, float>([](Value x) { return cast(f32, x) * 0.5f; },
                      [](int32_t x) { return x * 0.5; }, kExactly,
                      std::vector<int32_t>{0, 1, -7, 1000001});
  map<int8_t, int32_t>([](Value x) { return x + splat(cast(i32, program_id(0)), {256}); },
                       [](int8_t x) { return int32_t(x); }, kExactly, edges<int8_t>());
  map<float>([](Value x) { return clamp(x, -1.0f, 0.5f); },
             [](double x) { return std::fmin(std::fmax(x, -1.0), 0.5); }, kExactly,
             uniform<float>(300, -3, 3));
}

// --- Tiles, sizes, warps -------------------------------------------------------------------------

TEST_P(Arithmetic, EverySizeAroundEveryTile) {
  for (int tile : {1, 2, 16, 96, 128, 176, 1024})
    for (int64_t size : sizesAround(tile))
      if (size > 0) {
        SCOPED_TRACE("tile " + std::to_string(tile) + ", size " + std::to_string(size));
        map<float>([](Value x) { return x + 1.0f; },
                   [](double x) { return static_cast<double>(static_cast<float>(x) + 1.0f); },
                   kExactly, uniform<float>(size), tile, tile % 3 == 0 ? 2 : 4);
      }
}

TEST_P(Arithmetic, EveryNumberOfWarps) {
  for (int warps : {1, 2, 4, 8})
    for (int tile : {32, 80, 512}) {
      SCOPED_TRACE("warps " + std::to_string(warps) + ", tile " + std::to_string(tile));
      map<half>([](Value x) { return x * x; }, [](double x) { return x * x; }, kExactly,
                uniform<half>(2 * tile + 1), tile, warps);
    }
}

} // namespace
