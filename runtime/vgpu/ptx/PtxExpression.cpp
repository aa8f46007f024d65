// Constant expressions: integers of 64 bits with or without a sign, and doubles, with C's operators and precedence. Types and
// results are those of the assembler, which differ from C's here and there: `~` and `%` are unsigned, counts of shifts are
// taken modulo 64, and `?:` has the type of what it chooses.
#include "runtime/vgpu/ptx/PtxParser.h"

#include <algorithm>
#include <bit>

namespace tile::vgpu {
namespace {

constexpr int kMaxDepth = 64;

struct Operator {
  std::string_view text;
  int precedence;
};
constexpr Operator kOperators[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5},
                                   {"==", 6}, {"!=", 6}, {"<", 7},  {"<=", 7}, {">", 7},
                                   {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9},  {"-", 9},
                                   {"*", 10}, {"/", 10}, {"%", 10}};

const Operator *operatorOf(const Token &token) {
  const Operator *found = std::ranges::find_if(
      kOperators, [&](const Operator &candidate) { return token.is(candidate.text); });
  return found == std::end(kOperators) ? nullptr : found;
}

template <class T> std::optional<bool> compare(std::string_view operation, T a, T b) {
  if (operation == "==")
    return a == b;
  if (operation == "!=")
    return a != b;
  if (operation == "<")
    return a < b;
  if (operation == "<=")
    return a <= b;
  if (operation == ">")
    return a > b;
  return operation == ">=" ? std::optional(a >= b) : std::nullopt;
}

double arithmetic(std::string_view operation, double a, double b) {
  switch (operation[0]) {
  case '+':
    return a + b;
  case '-':
    return a - b;
  case '*':
    return a * b;
  default:
    return a / b;
  }
}

// Of both kinds of integers but for `/`.
uint64_t combine(std::string_view operation, uint64_t a, uint64_t b) {
  switch (operation[0]) {
  case '+':
    return a + b;
  case '-':
    return a - b;
  case '*':
    return a * b;
  case '&':
    return a & b;
  case '|':
    return a | b;
  default:
    return a ^ b;
  }
}

// The quotient of the least number and -1 does not exist.
int64_t quotient(int64_t a, int64_t b) {
  return b == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a / b;
}

} // namespace

bool PtxParser::startsConstant() const {
  return token_.kind == Token::Kind::Integer || token_.kind == Token::Kind::Float ||
         token_.is("-") || token_.is("+") || token_.is("~") || token_.is("!") || token_.is("(") ||
         token_.is("WARP_SZ");
}

PtxParser::Constant PtxParser::constantExpression() {
  return conditional(binary(unary(0), 0, 0), 0);
}

int64_t PtxParser::integerExpression() {
  Constant value = constantExpression();
  needIntegers(value);
  return value.asSigned();
}

void PtxParser::needIntegers(const Constant &value) const {
  if (value.isFloat())
    fail("a constant expression of integers is wanted here");
}

PtxParser::Constant PtxParser::conditional(Constant condition, int depth) {
  if (!accept("?"))
    return condition;
  if (depth > kMaxDepth)
    fail("a constant expression is nested too deeply");
  Constant first = conditional(binary(unary(depth + 1), 0, depth + 1), depth + 1);
  expect(":", "in a conditional constant expression");
  Constant second = conditional(binary(unary(depth + 1), 0, depth + 1), depth + 1);
  for (const Constant &value : {condition, first, second})
    needIntegers(value);
  return condition.value ? first : second;
}

// Operators of at least this precedence, to the left first.
PtxParser::Constant PtxParser::binary(Constant left, int least, int depth) {
  while (const Operator *operation = operatorOf(token_)) {
    if (operation->precedence < least)
      break;
    advance();
    Constant right = unary(depth + 1);
    for (const Operator *next = operatorOf(token_);
         next && next->precedence > operation->precedence; next = operatorOf(token_))
      right = binary(right, next->precedence, depth + 1);
    left = apply(operation->text, left, right);
  }
  return left;
}

PtxParser::Constant PtxParser::unary(int depth) {
  if (depth > kMaxDepth)
    fail("a constant expression is nested too deeply");
  if (accept("+"))
    return unary(depth + 1);
  if (accept("-")) {
    Constant value = unary(depth + 1);
    if (value.isFloat())
      value.value ^= uint64_t{1} << (value.floatBytes == 4 ? 31 : 63);
    else
      value.value = 0 - value.value;
    return value;
  }
  bool inverts = token_.is("~");
  if (inverts || token_.is("!")) {
    advance();
    Constant value = unary(depth + 1);
    needIntegers(value);
    return inverts ? Constant{Constant::Type::Unsigned, ~value.value}
                   : Constant{Constant::Type::Signed, uint64_t{value.value == 0}};
  }
  return literal(depth);
}

PtxParser::Constant PtxParser::literal(int depth) {
  if (accept("(")) {
    for (auto [cast, type] :
         {std::pair(".s64", Constant::Type::Signed), std::pair(".u64", Constant::Type::Unsigned)})
      if (accept(cast)) {
        expect(")", "after the type of a cast");
        Constant value = unary(depth + 1);
        needIntegers(value);
        value.type = type;
        return value;
      }
    Constant value = conditional(binary(unary(depth + 1), 0, depth + 1), depth + 1);
    expect(")", "in a constant expression");
    return value;
  }
  Constant value;
  if (token_.is("WARP_SZ")) {
    value.value = 32;
  } else if (token_.kind == Token::Kind::Integer) {
    bool isUnsigned = token_.text.ends_with('U') || token_.value >> 63;
    value = {isUnsigned ? Constant::Type::Unsigned : Constant::Type::Signed, token_.value};
  } else if (token_.kind == Token::Kind::Float) {
    bool isHex = token_.text.size() > 1 && (token_.text[1] | 0x20) != 'e' &&
                 std::isalpha(static_cast<unsigned char>(token_.text[1]));
    value = {isHex ? Constant::Type::Bits : Constant::Type::Double, token_.value,
             token_.floatBytes};
  } else {
    fail("expected a constant, found '" + std::string(token_.text) + "'");
  }
  advance();
  return value;
}

PtxParser::Constant PtxParser::apply(std::string_view operation, const Constant &a,
                                     const Constant &b) const {
  using Type = Constant::Type;
  auto truth = [](bool value) { return Constant{Type::Signed, uint64_t{value}}; };
  bool divides = operation == "/" || operation == "%";
  if (a.type == Type::Double && b.type == Type::Double) {
    auto x = std::bit_cast<double>(a.value), y = std::bit_cast<double>(b.value);
    if (std::optional<bool> result = compare(operation, x, y))
      return truth(*result);
    if (divides && y == 0)
      fail("a constant is divided by zero");
    if (std::string_view("+-*/").find(operation) != std::string_view::npos)
      return {Type::Double, std::bit_cast<uint64_t>(arithmetic(operation, x, y)), 8};
  }
  if (a.isFloat() || b.isFloat())
    fail("'" + std::string(operation) +
         "' does not go with these constants: both are integers, or "
         "both are decimal floats");
  if (divides && b.value == 0)
    fail("a constant is divided by zero");
  if (operation == "&&" || operation == "||")
    return truth(operation == "&&" ? a.value && b.value : a.value || b.value);
  if (operation == "<<")
    return {a.type, a.value << (b.value & 63)};
  if (operation == ">>")
    return {a.type, a.type == Type::Signed ? static_cast<uint64_t>(a.asSigned() >> (b.value & 63))
                                           : a.value >> (b.value & 63)};
  bool isSigned = a.type == Type::Signed && b.type == Type::Signed;
  if (auto result = isSigned ? compare(operation, a.asSigned(), b.asSigned())
                             : compare(operation, a.value, b.value))
    return truth(*result);
  if (operation == "%")
    return {Type::Unsigned, a.value % b.value};
  Type type = isSigned ? Type::Signed : Type::Unsigned;
  if (operation == "/")
    return {type, isSigned ? static_cast<uint64_t>(quotient(a.asSigned(), b.asSigned()))
                           : a.value / b.value};
  return {type, combine(operation, a.value, b.value)};
}

} // namespace tile::vgpu
