#include "codegen/report/ScalarCompute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace tile::codegen {

namespace {

// As results are kept: i1 as 0 or 1, wider ones sign-extended.
int64_t wrapped(int64_t value, unsigned bits) {
  if (bits >= 64)
    return value;
  uint64_t low = static_cast<uint64_t>(value) & ((uint64_t(1) << bits) - 1);
  bool isNegative = bits > 1 && (low >> (bits - 1)) != 0;
  return static_cast<int64_t>(isNegative ? low | (~uint64_t(0) << bits) : low);
}

uint64_t unsignedOf(int64_t value, unsigned bits) {
  auto whole = static_cast<uint64_t>(value);
  return bits >= 64 ? whole : whole & ((uint64_t(1) << bits) - 1);
}

Scalar known(uint64_t value) { return {static_cast<int64_t>(value), true}; }
Scalar known(int64_t value) { return {value, true}; }

bool compared(arith::CmpIPredicate predicate, int64_t a, int64_t b, unsigned bits) {
  auto number = [&](int64_t value) {
    return APInt(bits, static_cast<uint64_t>(value), /*isSigned=*/false, /*implicitTrunc=*/true);
  };
  return arith::applyCmpPredicate(predicate, number(a), number(b));
}

Scalar divided(Compute what, int64_t a, int64_t b, unsigned bits) {
  uint64_t ua = unsignedOf(a, bits), ub = unsignedOf(b, bits);
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min()))
    return {};
  int64_t quotient = a / b, rest = a % b;
  bool isInexact = rest != 0, isBelowZero = (a < 0) != (b < 0);
  switch (what) {
  case Compute::DivS:
    return known(quotient);
  case Compute::RemS:
    return known(rest);
  case Compute::FloorDiv:
    return known(quotient - (isInexact && isBelowZero));
  case Compute::CeilDiv:
    return known(quotient + (isInexact && !isBelowZero));
  case Compute::DivU:
    return known(ua / ub);
  case Compute::CeilDivU:
    return known(ua / ub + (ua % ub != 0));
  default: // RemU
    return known(ua % ub);
  }
}

Scalar shifted(Compute what, int64_t a, int64_t by, unsigned bits) {
  if (by < 0 || by >= static_cast<int64_t>(bits))
    return {};
  if (what == Compute::Shl)
    return known(static_cast<uint64_t>(a) << by);
  return what == Compute::ShrS ? known(a >> by) : known(unsignedOf(a, bits) >> by);
}

// Of two known numbers.
Scalar combined(Compute what, int64_t a, int64_t b, unsigned bits) {
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  bool isLess = unsignedOf(a, bits) < unsignedOf(b, bits);
  switch (what) {
  case Compute::Add:
    return known(ua + ub);
  case Compute::Sub:
    return known(ua - ub);
  case Compute::Mul:
    return known(ua * ub);
  case Compute::MaxS:
    return known(std::max(a, b));
  case Compute::MinS:
    return known(std::min(a, b));
  case Compute::MaxU:
    return known(isLess ? b : a);
  case Compute::MinU:
    return known(isLess ? a : b);
  case Compute::And:
    return known(ua & ub);
  case Compute::Or:
    return known(ua | ub);
  case Compute::Xor:
    return known(ua ^ ub);
  case Compute::Shl:
  case Compute::ShrS:
  case Compute::ShrU:
    return shifted(what, a, b, bits);
  default:
    return divided(what, a, b, bits);
  }
}

// One operand may decide: nothing times anything, false and anything, true or anything.
Scalar decidedByOne(Compute what, Scalar a, Scalar b, unsigned bits) {
  Scalar one = a.isKnown ? a : b;
  if (!one.isKnown)
    return {};
  bool isZero = one.value == 0 && (what == Compute::Mul || what == Compute::And);
  bool isTrue = one.value == 1 && bits == 1 && what == Compute::Or;
  return isZero || isTrue ? one : Scalar();
}

} // namespace

Scalar compute(const ScalarStep &step, ArrayRef<Scalar> values, const Runner &runner) {
  auto at = [&](ScalarId id) { return id == kNoScalar ? Scalar() : values[id]; };
  Scalar a = at(step.a), b = at(step.b);
  switch (step.compute) {
  case Compute::ProgramId:
    return runner.program[step.index];
  case Compute::NumPrograms:
    return runner.programs[step.index];
  case Compute::TeamId:
    return known(runner.team);
  case Compute::ClusterRank:
    return known(runner.rank);
  case Compute::ByRole:
    return runner.isProducer ? a : b;
  case Compute::Copy:
    return a;
  case Compute::Truncate:
    return a.isKnown ? known(wrapped(a.value, step.bits)) : Scalar();
  case Compute::ExtendUnsigned:
    return a.isKnown ? known(unsignedOf(a.value, step.bits)) : Scalar();
  case Compute::Select:
    return a.isKnown ? (a.value ? b : at(step.c)) : Scalar();
  case Compute::Unknown:
    return {};
  default:
    break;
  }
  if (!a.isKnown || !b.isKnown)
    return decidedByOne(step.compute, a, b, step.bits);
  if (step.compute == Compute::Compare)
    return known(static_cast<int64_t>(
        compared(static_cast<arith::CmpIPredicate>(step.index), a.value, b.value, step.bits)));
  Scalar result = combined(step.compute, a.value, b.value, step.bits);
  result.value = wrapped(result.value, step.bits);
  return result;
}

} // namespace tile::codegen
