// Case 1, mixed binary operators: all pairs of integers, floats and bf16 over 128 elements; the result's dtype by promotion,
// `%` is fmod, integer division is (x - fmod(x, y)) / y, mixed signedness of `/` and `%` an error that names it.
#include "tests/execution/Assembly.h"
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(MixedBinary, Targets::One);

constexpr int kElements = 128;

// --- The rules, on dtypes ---

bool isIntegral(DType type) { return !isFloat(type); }

DType promoted(DType a, DType b) {
  for (DType type : {f64, f32, f16})
    if (a == type || b == type)
      return type;
  if (a == bf16 || b == bf16)
    return a == b ? bf16 : f32;
  if (sizeOf(a) != sizeOf(b))
    return sizeOf(a) > sizeOf(b) ? a : b;
  return isUnsigned(a) ? a : b;
}

// --- The rules, on numbers: integers as 64 bits, floats as double, rounded to the result's type at the end ---

enum class Operator { Add, Sub, Mul, Div, Rem };
constexpr Operator kOperators[] = {Operator::Add, Operator::Sub, Operator::Mul, Operator::Div,
                                   Operator::Rem};
constexpr const char *kSymbols[] = {"+", "-", "*", "/", "%"};

Value apply(Operator op, Value x, Value y) {
  switch (op) {
  case Operator::Add:
    return x + y;
  case Operator::Sub:
    return x - y;
  case Operator::Mul:
    return x * y;
  case Operator::Div:
    return x / y;
  default:
    return x % y;
  }
}

template <class R> R onIntegers(Operator op, R x, R y) {
  auto wrapped = [](uint64_t bits) { return static_cast<R>(bits); };
  auto a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
  switch (op) {
  case Operator::Add:
    return wrapped(a + b);
  case Operator::Sub:
    return wrapped(a - b);
  case Operator::Mul:
    return wrapped(a * b);
  case Operator::Div:
    return static_cast<R>((x - x % y) / y);
  default:
    return static_cast<R>(x % y);
  }
}

double onFloats(Operator op, double x, double y) {
  switch (op) {
  case Operator::Add:
    return x + y;
  case Operator::Sub:
    return x - y;
  case Operator::Mul:
    return x * y;
  case Operator::Div:
    return x / y;
  default:
    return std::fmod(x, y);
  }
}

template <class T> std::vector<T> numbers(uint64_t seed) {
  Random random(seed);
  std::vector<T> values;
  for (int i = 0; i < kElements; ++i)
    if constexpr (isFloat(dtypeOf<T>))
      values.push_back(T(static_cast<Wide<T>>(random.uniform(-30, 30))));
    else
      values.push_back(static_cast<T>(random.bits()));
  return values;
}

/// Divisors that are neither zero nor -1.
template <class T> std::vector<T> divisors(uint64_t seed) {
  std::vector<T> values = numbers<T>(seed);
  for (T &value : values)
    if (static_cast<Wide<T>>(value) == 0 || static_cast<double>(static_cast<Wide<T>>(value)) == -1)
      value = T(static_cast<Wide<T>>(3));
  return values;
}

std::vector<Operator> operatorsOf(DType a, DType b) {
  bool mixed = isIntegral(a) && isIntegral(b) && isUnsigned(a) != isUnsigned(b);
  std::vector<Operator> operators(std::begin(kOperators), std::end(kOperators));
  operators.resize(mixed ? 3 : 5);
  return operators;
}

/// The type of what an operator computes and returns.
DType resultOf(Operator op, DType a, DType b) {
  DType type = promoted(a, b);
  bool divides = op == Operator::Div || op == Operator::Rem;
  return divides && isFloat(type) && type != f64 ? f32 : type;
}

/// One side of the operators, its elements widened: only the type they are computed in needs a
/// template, which keeps 144 pairs of types cheap to compile.
struct Operand {
  DType dtype;
  std::vector<int64_t> integers; ///< of integers; u64 by its bits
  std::vector<double> reals;     ///< rounded to double once
  Tensor tensor;
};
template <class T> Operand operandOf(const std::vector<T> &values, const TensorOf<T> &tensor) {
  Operand operand{dtypeOf<T>, {}, {}, tensor};
  for (T value : values) {
    operand.reals.push_back(static_cast<double>(static_cast<Wide<T>>(value)));
    if constexpr (!isFloat(dtypeOf<T>))
      operand.integers.push_back(static_cast<int64_t>(value));
  }
  return operand;
}

template <class R> Exact<R> expected(Operator op, const Operand &x, const Operand &y, size_t i) {
  if constexpr (isFloat(dtypeOf<R>))
    return onFloats(op, roundedTo<R>(x.reals[i]), roundedTo<R>(y.reals[i]));
  else
    return onIntegers<R>(op, static_cast<R>(x.integers[i]), static_cast<R>(y.integers[i]));
}

template <class R>
void expectResults(const std::vector<R> &results, size_t row, Operator op, const Operand &x,
                   const Operand &y) {
  bool isApproximate = op == Operator::Div && dtypeOf<R> == f32; // div.full
  for (size_t i = 0; i < kElements; ++i) {
    Exact<R> reference = expected<R>(op, x, y, i);
    if (isApproximate && std::isinf(roundedTo<R>(static_cast<double>(reference))))
      continue;
    auto what = [&] {
      return show(x.reals[i]) + " " + kSymbols[static_cast<int>(op)] + " " + show(y.reals[i]);
    };
    if (!expectNear<R>(results[row * kElements + i], reference,
                       isApproximate ? Within{2} : kExactly, what))
      return;
  }
}

/// The operators of a pair whose result has a dtype.
std::vector<Operator> operatorsTo(DType result, DType a, DType b) {
  std::vector<Operator> operators = operatorsOf(a, b);
  std::erase_if(operators, [&](Operator op) { return resultOf(op, a, b) != result; });
  return operators;
}

const auto mixed = kernel("mixed", [](In<any, 1> x, In<any, 1> y, Out<any, 2> z) {
  Value a = x.tile({kElements})(0), b = y.tile({kElements})(0);
  int row = 0;
  for (Operator op : operatorsTo(z.dtype(), a.dtype(), b.dtype())) {
    Value result = apply(op, a, b);
    require(result.dtype() == z.dtype(), "the dtype is not the promoted one");
    z.tile({1, kElements})(row++, 0) = expand_dims(result, 0);
  }
});

/// All operators of a pair whose result is an R, in one kernel.
template <class R>
void checkResults(const Device &device, const Stream &stream, const Operand &x, const Operand &y) {
  std::vector<Operator> operators = operatorsTo(dtypeOf<R>, x.dtype, y.dtype);
  if (operators.empty())
    return;
  Guarded<R, 2> z(device, {static_cast<int64_t>(operators.size()), kElements}, 5);
  mixed.warps(1).grid(1)(stream, x.tensor, y.tensor, z.tensor());
  std::vector<R> results = z.result();
  for (size_t row = 0; row < operators.size(); ++row)
    expectResults(results, row, operators[row], x, y);
}

template <class... T> struct Types {};
using All = Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, half,
                  bfloat16, float, double>;

template <class... T, class F> void forEach(Types<T...>, F function) {
  (function.template operator()<T>(), ...);
}

TEST_P(MixedBinary, EveryPairOfTypes) {
  std::vector<Operand> left, right;
  forEach(All(), [&]<class T>() {
    std::vector<T> x = numbers<T>(3), y = divisors<T>(4);
    left.push_back(operandOf(x, input({kElements}, x)));
    right.push_back(operandOf(y, input({kElements}, y)));
  });
  for (const Operand &x : left)
    for (const Operand &y : right) {
      SCOPED_TRACE(std::string(nameOf(x.dtype)) + " with " + nameOf(y.dtype));
      forEach(All(), [&]<class R>() { checkResults<R>(device(), stream, x, y); });
    }
}

TEST_P(MixedBinary, MixedSignednessOfDivisionIsAnErrorThatNamesIt) {
  static const auto division = kernel("division", [](In<i16, 1> x, In<u16, 1> y, Out<u16, 1> z) {
    z.tile({32})(0) = x.tile({32})(0) / y.tile({32})(0);
  });
  auto x = device().tensor<int16_t>({32});
  auto y = device().tensor<uint16_t>({32}), z = device().tensor<uint16_t>({32});
  try {
    division.grid(1)(stream, x, y, z);
    ADD_FAILURE() << "was accepted";
  } catch (const Error &error) {
    EXPECT_NE(error.message().find("mixed signedness: lhs is i16, rhs is u16"), std::string::npos)
        << error.message();
  }
}

} // namespace
