// Arithmetic, comparisons, select and casts, with operands that broadcast.
#include "tests/fuzz/Program.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tile::fuzz {
namespace {

using Integers = int64_t (*)(DType, const int64_t *);
using Reals = double (*)(const double *);
using Call = Value (*)(const std::vector<Value> &);

/// Which dtypes a row takes.
enum Class : unsigned { kSigned = 1, kUnsigned = 2, kBool = 4, kFloat = 8 };
constexpr unsigned kInteger = kSigned | kUnsigned;

unsigned classOf(DType dtype) {
  return isFloat8(dtype)     ? 0
         : dtype == i1       ? kBool
         : isFloat(dtype)    ? kFloat
         : isUnsigned(dtype) ? kUnsigned
                             : kSigned;
}

struct Row {
  const char *name;
  int arity;
  unsigned classes;
  Call call;
  Integers integers;
  Reals reals;
  bool compares = false; ///< the result is i1
};

uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }
bool below(DType dtype, int64_t a, int64_t b) {
  return isUnsigned(dtype) ? bits(a) < bits(b) : a < b;
}
int count(DType dtype, int64_t shift) {
  return static_cast<int>(bits(shift) % unsigned(bitsOf(dtype)));
}

int64_t quotient(DType dtype, const int64_t *x) {
  bool overflows =
      !isUnsigned(dtype) && x[1] == -1 && x[0] == wrapped(dtype, int64_t(1) << (bitsOf(dtype) - 1));
  if (x[1] == 0 || overflows)
    throw NotComparable("a quotient that is open");
  return isUnsigned(dtype) ? static_cast<int64_t>(bits(x[0]) / bits(x[1])) : x[0] / x[1];
}
int64_t upperHalf(DType dtype, const int64_t *x) {
  if (bitsOf(dtype) < 32)
    throw NotComparable("mulhi of a small integer");
  if (isUnsigned(dtype))
    return static_cast<int64_t>(static_cast<unsigned __int128>(bits(x[0])) * bits(x[1]) >>
                                bitsOf(dtype));
  return static_cast<int64_t>(static_cast<__int128>(x[0]) * x[1] >> bitsOf(dtype));
}

int64_t reversed(DType dtype, const int64_t *x) {
  uint64_t result = 0;
  for (int bit = 0, width = int(bitsOf(dtype)); bit < width; ++bit)
    result |= (bits(x[0]) >> bit & 1) << (width - 1 - bit);
  return wrapped(dtype, static_cast<int64_t>(result));
}

#define CALL(expression) [](const std::vector<Value> &v) -> Value { return expression; }
#define INTEGER(expression)                                                                        \
  [](DType t, const int64_t *x) -> int64_t {                                                       \
    (void)t;                                                                                       \
    return expression;                                                                             \
  }
#define REAL(expression) [](const double *x) -> double { return expression; }
const Row kRows[] = {
    {"add", 2, kInteger | kFloat, CALL(v[0] + v[1]), INTEGER(int64_t(bits(x[0]) + bits(x[1]))),
     REAL(x[0] + x[1])},
    {"sub", 2, kInteger | kFloat, CALL(v[0] - v[1]), INTEGER(int64_t(bits(x[0]) - bits(x[1]))),
     REAL(x[0] - x[1])},
    {"mul", 2, kInteger | kFloat, CALL(v[0] * v[1]), INTEGER(int64_t(bits(x[0]) * bits(x[1]))),
     REAL(x[0] * x[1])},
    {"div", 2, kInteger, CALL(v[0] / v[1]), quotient, nullptr},
    {"rem", 2, kInteger, CALL(v[0] % v[1]),
     INTEGER(int64_t(bits(x[0]) - bits(quotient(t, x)) * bits(x[1]))), nullptr},
    {"and", 2, kInteger | kBool, CALL(v[0] & v[1]), INTEGER(x[0] & x[1]), nullptr},
    {"or", 2, kInteger | kBool, CALL(v[0] | v[1]), INTEGER(x[0] | x[1]), nullptr},
    {"xor", 2, kInteger | kBool, CALL(v[0] ^ v[1]), INTEGER(x[0] ^ x[1]), nullptr},
    {"shl", 2, kInteger, CALL(v[0] << v[1]), INTEGER(int64_t(bits(x[0]) << count(t, x[1]))),
     nullptr},
    {"shr", 2, kInteger, CALL(v[0] >> v[1]),
     INTEGER(isUnsigned(t) ? int64_t(bits(x[0]) >> count(t, x[1])) : x[0] >> count(t, x[1])),
     nullptr},
    {"mulhi", 2, kInteger, CALL(mulhi(v[0], v[1])), upperHalf, nullptr},
    {"popcount", 1, kInteger, CALL(popcount(v[0])),
     INTEGER(std::popcount(bits(x[0]) << (64 - bitsOf(t)))), nullptr},
    {"clz", 1, kInteger, CALL(clz(v[0])),
     INTEGER(std::min(std::countl_zero(bits(x[0]) << (64 - bitsOf(t))), int(bitsOf(t)))), nullptr},
    {"ctz", 1, kInteger, CALL(ctz(v[0])),
     INTEGER(std::min(std::countr_zero(bits(x[0])), int(bitsOf(t)))), nullptr},
    {"reverse_bits", 1, kInteger, CALL(reverse_bits(v[0])), reversed, nullptr},
    {"min", 2, kInteger | kFloat, CALL(min(v[0], v[1])),
     INTEGER(below(t, x[1], x[0]) ? x[1] : x[0]), REAL(std::min(x[0], x[1]))},
    {"max", 2, kInteger | kFloat, CALL(max(v[0], v[1])),
     INTEGER(below(t, x[0], x[1]) ? x[1] : x[0]), REAL(std::max(x[0], x[1]))},
    {"neg", 1, kInteger | kFloat, CALL(-v[0]), INTEGER(int64_t(-bits(x[0]))), REAL(-x[0])},
    {"not", 1, kInteger | kBool, CALL(~v[0]), INTEGER(~x[0]), nullptr},
    {"abs", 1, kSigned | kFloat, CALL(abs(v[0])), INTEGER(x[0] < 0 ? int64_t(-bits(x[0])) : x[0]),
     REAL(std::abs(x[0]))},
    {"floor", 1, kFloat, CALL(floor(v[0])), nullptr, REAL(std::floor(x[0]))},
    {"ceil", 1, kFloat, CALL(ceil(v[0])), nullptr, REAL(std::ceil(x[0]))},
    {"fma", 3, kFloat, CALL(fma(v[0], v[1], v[2])), nullptr, REAL(x[0] * x[1] + x[2])},
    {"eq", 2, kInteger | kFloat, CALL(v[0] == v[1]), INTEGER(x[0] == x[1]), REAL(x[0] == x[1]),
     true},
    {"ne", 2, kInteger | kFloat, CALL(v[0] != v[1]), INTEGER(x[0] != x[1]), REAL(x[0] != x[1]),
     true},
    {"lt", 2, kInteger | kFloat, CALL(v[0] < v[1]), INTEGER(below(t, x[0], x[1])),
     REAL(x[0] < x[1]), true},
    {"ge", 2, kInteger | kFloat, CALL(v[0] >= v[1]), INTEGER(!below(t, x[0], x[1])),
     REAL(x[0] >= x[1]), true},
};
#undef CALL
#undef INTEGER
#undef REAL

/// Operands of one dtype whose shapes broadcast.
std::optional<Statement> proposeBroadcast(Choice &choice, int arity,
                                          const std::function<bool(DType)> &fits) {
  Statement statement;
  for (int operand = 0; operand < arity; ++operand) {
    auto *found = choice.pick([&](const Type &type) {
      Shape shape;
      return operand == 0 ? fits(type.dtype)
                          : type.dtype == statement.type.dtype &&
                                broadcasts(statement.type.shape, type.shape, shape) &&
                                shape.elements() <= kMostElements;
    });
    if (!found)
      return {};
    statement.operands.push_back(found->first);
    if (operand == 0)
      statement.type = found->second;
    else
      broadcasts(Shape(statement.type.shape), found->second.shape, statement.type.shape);
  }
  return statement;
}

Tile apply(const Row &row, const Statement &statement, const std::vector<const Tile *> &operands) {
  Tile result(statement.type);
  DType dtype = operands[0]->type.dtype;
  forEach(statement.type.shape, [&](const Index &index, size_t position) {
    int64_t integers[3] = {};
    double reals[3] = {};
    for (size_t i = 0; i < operands.size(); ++i) {
      Number number = broadcastAt(*operands[i], index);
      (isFloat(dtype) ? reals[i] = number.f : static_cast<double>(integers[i] = number.i));
    }
    Number &out = result.elements[position];
    if (!isFloat(dtype))
      out.i = wrapped(statement.type.dtype, row.integers(dtype, integers));
    else if (row.compares)
      out.i = row.reals(reals) != 0;
    else {
      if (row.arity == 3) // the product is rounded where it is not fused
        exactly(dtype, reals[0] * reals[1]);
      out.f = exactly(dtype, row.reals(reals));
    }
  });
  return result;
}

Operation operationOf(const Row &row) {
  auto propose = [&row](Choice &choice) {
    auto statement = proposeBroadcast(choice, row.arity, [&](DType dtype) {
      return (classOf(dtype) & row.classes) != 0 &&
             (row.integers != upperHalf || bitsOf(dtype) >= 32);
    });
    if (statement && row.compares)
      statement->type.dtype = i1;
    return statement;
  };
  return {row.name, 2, propose,
          [&row](const Statement &statement, const auto &operands, Machine &) {
            return apply(row, statement, operands);
          },
          [&row](const Statement &, const auto &values, Parameters &) { return row.call(values); }};
}

std::optional<Statement> proposeSelect(Choice &choice) {
  auto statement = proposeBroadcast(choice, 2, [](DType) { return true; });
  if (!statement)
    return {};
  Shape shape;
  auto *condition = choice.pick([&](const Type &type) {
    return type.dtype == i1 && broadcasts(type.shape, statement->type.shape, shape) &&
           shape.elements() <= kMostElements;
  });
  if (!condition)
    return {};
  statement->operands.insert(statement->operands.begin(), condition->first);
  broadcasts(condition->second.shape, Shape(statement->type.shape), statement->type.shape);
  return statement;
}
Tile evaluateSelect(const Statement &statement, const std::vector<const Tile *> &x, Machine &) {
  Tile result(statement.type);
  forEach(statement.type.shape, [&](const Index &index, size_t position) {
    result.elements[position] = broadcastAt(broadcastAt(*x[0], index).i ? *x[1] : *x[2], index);
  });
  return result;
}

Number converted(DType from, DType to, Number x) {
  if (to == i1)
    return {.i = isFloat(from) ? x.f != 0 : x.i != 0};
  if (!isFloat(from) && !isFloat(to))
    return {.i = wrapped(to, x.i)};
  if (isFloat(from) && isFloat(to))
    return {.f = exactly(to, x.f)};
  if (isFloat(to)) {
    double value = isUnsigned(from) ? static_cast<double>(bits(x.i)) : static_cast<double>(x.i);
    if (std::abs(value) > 0x1p53)
      throw NotComparable("an integer that is rounded");
    return {.f = exactly(to, value)};
  }
  // Truncates and saturates; exactly() keeps floats far inside 64 bits.
  auto value = static_cast<int64_t>(x.f);
  int width = bitsOf(to);
  if (isUnsigned(to))
    return {.i = value < 0 ? 0 : width < 64 ? std::min(value, (int64_t(1) << width) - 1) : value};
  int64_t highest = static_cast<int64_t>(~uint64_t(0) >> (65 - width));
  return {.i = std::clamp(value, -highest - 1, highest)};
}

std::optional<Statement> proposeCast(Choice &choice) {
  auto *x = choice.pick([](const Type &) { return true; });
  if (!x)
    return {};
  DType to = choice.oneOf(
      {i1, i8, i16, i32, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f32, f64, e4m3, e5m2});
  return Statement{.type = {to, x->second.shape}, .operands = {x->first}};
}

} // namespace

std::vector<Operation> elementwiseOperations() {
  std::vector<Operation> list;
  for (const Row &row : kRows)
    list.push_back(operationOf(row));
  list.push_back({"select", 4, proposeSelect, evaluateSelect,
                  [](const Statement &, const std::vector<Value> &v, Parameters &) {
                    return select(v[0], v[1], v[2]);
                  }});
  list.push_back({"cast", 6, proposeCast,
                  [](const Statement &statement, const std::vector<const Tile *> &x, Machine &) {
                    Tile result(statement.type);
                    for (size_t i = 0; i < result.elements.size(); ++i)
                      result.elements[i] =
                          converted(x[0]->type.dtype, statement.type.dtype, x[0]->elements[i]);
                    return result;
                  },
                  [](const Statement &statement, const std::vector<Value> &v, Parameters &) {
                    return cast(statement.type.dtype, v[0]);
                  }});
  return list;
}

} // namespace tile::fuzz
