// Values, variables and their operators. One table maps an operator and a dtype to its IR
// operation; integer division and shifts are guarded here, because LLVM would otherwise treat x / 0
// as a promise that it does not happen.
#include "frontend/language/Checks.h"
#include "frontend/language/Promotion.h"
#include "frontend/trace/Trace.h"

#include <limits>

using namespace tile;
using namespace tile::frontend;

// --- Value, Var, Arg -----------------------------------------------------------------------------

Value &Value::operator=(const Value &other) & {
  Trace *trace = Trace::currentOrNull();
  if (trace && trace->encloses(home_, trace->region()) && home_ != trace->region()) {
    bool known = other.trace_ == trace->id();
    Loc loc = known ? trace->at(other.node_).loc : Loc{};
    std::vector<std::string> notes = {"the staged region begins at " +
                                      text(trace->scopeAt(trace->region()).opened)};
    if (trace_ == trace->id())
      notes.insert(notes.begin(), "its value before was made at " + text(trace->at(node_).loc));
    trace->fail(loc,
                "a plain Value from outside is assigned in a staged region, which would be lost at "
                "its end: "
                "declare with var(...)",
                std::move(notes), ErrorCode::InvalidHandle);
  }
  trace_ = other.trace_;
  node_ = other.node_;
  return *this;
}

Value &Value::operator+=(Arg rhs) & { return *this = Arg(*this, rhs.loc()) + rhs; }
Value &Value::operator-=(Arg rhs) & { return *this = Arg(*this, rhs.loc()) - rhs; }
Value &Value::operator*=(Arg rhs) & { return *this = Arg(*this, rhs.loc()) * rhs; }
Value &Value::operator/=(Arg rhs) & { return *this = Arg(*this, rhs.loc()) / rhs; }

static TileType typeOf(const Value &value) { return Trace::current({}).type(value, {}); }

DType Value::dtype() const { return typeOf(*this).dtype; }
bool Value::is_pointer() const { return typeOf(*this).category == TileType::Pointer; }
Shape Value::shape() const { return typeOf(*this).shape; }
Value Value::T(Loc loc) const { return trans(Arg(*this, loc), loc); }

Var tile::var(Arg init) {
  Trace &trace = Trace::current(init.loc());
  return Var(trace.id(), trace.declare(materialize(trace, init, init.loc()), init.loc()),
             init.loc());
}

Value Var::get(Loc loc) const {
  Trace &trace = Trace::current(loc);
  trace.checkVariable(trace_, slot_, loc);
  return trace.handle(trace.read(slot_, trace.scope()));
}

Var &Var::operator=(Arg value) {
  Trace &trace = Trace::current(value.loc());
  trace.checkVariable(trace_, slot_, value.loc());
  TileType expected = trace.variable(slot_).type;
  bool isNumber = !value.isStaged() && expected.category == TileType::Data;
  Value stored = isNumber
                     ? convertTo(trace, expected.dtype, value, "var", value.loc(), expected.shape)
                     : materialize(trace, value, value.loc());
  TileType actual = trace.type(stored, value.loc());
  if (actual != expected) {
    bool sameShape = actual.shape == expected.shape;
    trace.fail(value.loc(),
               "var: the variable holds " + expected.str() + ", but " + actual.str() +
                   " is assigned: " + (sameShape ? "cast it" : "a variable keeps its shape"),
               {"the variable was made at " + text(trace.variable(slot_).madeAt),
                madeNote(trace, "the value was", stored)},
               sameShape ? ErrorCode::InvalidArgument : ErrorCode::InvalidShape);
  }
  trace.write(slot_, stored.node(), trace.scope());
  return *this;
}

Var &Var::operator=(const Var &other) {
  return *this = Arg(other.get(other.madeAt_), other.madeAt_);
}
Var &Var::operator+=(Arg rhs) { return *this = Arg(Arg(*this, rhs.loc()) + rhs, rhs.loc()); }
Var &Var::operator-=(Arg rhs) { return *this = Arg(Arg(*this, rhs.loc()) - rhs, rhs.loc()); }
Var &Var::operator*=(Arg rhs) { return *this = Arg(Arg(*this, rhs.loc()) * rhs, rhs.loc()); }
Var &Var::operator/=(Arg rhs) { return *this = Arg(Arg(*this, rhs.loc()) / rhs, rhs.loc()); }
DType Var::dtype() const { return get().dtype(); }
Shape Var::shape() const { return get().shape(); }

double Arg::asDouble() const {
  if (kind_ == Kind::Float)
    return float_;
  return kind_ == Kind::UInt ? static_cast<double>(static_cast<uint64_t>(int_))
                             : static_cast<double>(int_);
}

// --- Arithmetic ----------------------------------------------------------------------------------

namespace {

/// An operator's IR operation by dtype; null where it has none.
struct BinaryOp {
  const char *symbol;
  const char *onFloats, *onSigned, *onUnsigned;
};

constexpr BinaryOp kAdd = {"+", "arith.addf", "arith.addi", "arith.addi"};
constexpr BinaryOp kSub = {"-", "arith.subf", "arith.subi", "arith.subi"};
constexpr BinaryOp kMul = {"*", "arith.mulf", "arith.muli", "arith.muli"};
constexpr BinaryOp kDiv = {"/", "arith.divf", "arith.divsi", "arith.divui"};
constexpr BinaryOp kRem = {"%", "arith.remf", "arith.remsi", "arith.remui"};
constexpr BinaryOp kAnd = {"&", nullptr, "arith.andi", "arith.andi"};
constexpr BinaryOp kOr = {"|", nullptr, "arith.ori", "arith.ori"};
constexpr BinaryOp kXor = {"^", nullptr, "arith.xori", "arith.xori"};
constexpr BinaryOp kShl = {"<<", nullptr, "arith.shli", "arith.shli"};
constexpr BinaryOp kShr = {">>", nullptr, "arith.shrsi", "arith.shrui"};

Loc locOf(const Arg &lhs, const Arg &rhs) {
  return lhs.isStaged() || *lhs.loc().file ? lhs.loc() : rhs.loc();
}

const char *nameFor(Trace &trace, const BinaryOp &op, DType type, const Arg &lhs, const Arg &rhs,
                    Loc loc) {
  const char *name = isFloat(type) ? op.onFloats : isUnsigned(type) ? op.onUnsigned : op.onSigned;
  if (!name)
    trace.fail(loc, std::string("'") + op.symbol + "' is for integers, got " + nameOf(type),
               {madeNote(trace, lhs, rhs)});
  return name;
}

Value binary(const BinaryOp &op, const Arg &lhs, const Arg &rhs) {
  Loc loc = locOf(lhs, rhs);
  Trace &trace = Trace::current(loc);
  checkData(trace, op.symbol, lhs, loc), checkData(trace, op.symbol, rhs, loc);
  DType type = commonType(trace, op.symbol, {&lhs, &rhs}, loc);
  Shape shape = commonShape(trace, op.symbol, {&lhs, &rhs}, loc);
  const char *name = nameFor(trace, op, type, lhs, rhs, loc);
  Value a = unifyToCompute(trace, type, shape, lhs, op.symbol, loc),
        b = unifyToCompute(trace, type, shape, rhs, op.symbol, loc);
  checkOverflow(trace, name, a, b, loc);
  Value result = trace.op(name, {TileType::Data, computedIn(type), shape}, {a, b}, loc);
  return castValue(trace, type, result, loc);
}

// --- Division, shifts ---

void refuseMixedSigns(Trace &trace, const char *symbol, const Arg &lhs, const Arg &rhs, Loc loc) {
  if (!lhs.isStaged() || !rhs.isStaged())
    return;
  DType a = trace.type(lhs.value(), loc).dtype, b = trace.type(rhs.value(), loc).dtype;
  if (isInteger(a) && isInteger(b) && isUnsigned(a) != isUnsigned(b))
    trace.fail(loc,
               std::string("'") + symbol + "' on mixed signedness: lhs is " + nameOf(a) +
                   ", rhs is " + nameOf(b) + "; cast one of them",
               {madeNote(trace, lhs, rhs)});
}

int64_t smallestOf(DType type) {
  return std::numeric_limits<int64_t>::min() >> (64 - widthOf(type));
}

Value equals(Trace &trace, const Value &a, int64_t number, Loc loc) {
  TileType type = trace.type(a, loc);
  Value constant = trace.integer(type.dtype, number, loc, type.shape);
  return trace.op("arith.cmpi", {TileType::Data, i1, type.shape}, {a, constant}, loc,
                  {{Attribute::I64, "predicate", {0}}});
}

/// A divisor that is neither 0 nor, with the smallest dividend, -1: those become 1.
Value guardedDivisor(Trace &trace, const Value &dividend, const Value &divisor, Loc loc) {
  TileType type = trace.type(divisor, loc);
  const Node &source = trace.at(trace.graph().resolve(divisor.node()));
  bool isConstant = source.kind == Node::Constant;
  if (isConstant && source.integer != 0 && (isUnsigned(type.dtype) || source.integer != -1))
    return divisor;
  TileType condition{TileType::Data, i1, type.shape};
  NodeId bad = equals(trace, divisor, 0, loc).node();
  if (!isUnsigned(type.dtype)) {
    Value overflows = trace.op(
        "arith.andi", condition,
        {equals(trace, dividend, smallestOf(type.dtype), loc), equals(trace, divisor, -1, loc)},
        loc);
    bad = trace.op("arith.ori", condition, {trace.handle(bad), overflows}, loc).node();
  }
  Value one = trace.integer(type.dtype, 1, loc, type.shape);
  return trace.op("arith.select", type, {trace.handle(bad), one, divisor}, loc);
}

Value divide(const BinaryOp &op, const Arg &lhs, const Arg &rhs) {
  Loc loc = locOf(lhs, rhs);
  Trace &trace = Trace::current(loc);
  checkData(trace, op.symbol, lhs, loc), checkData(trace, op.symbol, rhs, loc);
  refuseMixedSigns(trace, op.symbol, lhs, rhs, loc);
  DType type = commonType(trace, op.symbol, {&lhs, &rhs}, loc);
  if (isFloat(type) && type != f64)
    type = f32;
  if (type == i1)
    trace.fail(loc, std::string("'") + op.symbol + "' needs numbers, got i1: cast it",
               {madeNote(trace, lhs, rhs)});
  Shape shape = commonShape(trace, op.symbol, {&lhs, &rhs}, loc);
  Value a = unify(trace, type, shape, lhs, op.symbol, loc),
        b = unify(trace, type, shape, rhs, op.symbol, loc);
  checkDivision(trace, a, b, loc);
  Value divisor = isFloat(type) ? b : guardedDivisor(trace, a, b, loc);
  return trace.op(nameFor(trace, op, type, lhs, rhs, loc), {TileType::Data, type, shape},
                  {a, divisor}, loc);
}

Value shift(const BinaryOp &op, const Arg &lhs, const Arg &rhs) {
  Loc loc = locOf(lhs, rhs);
  Trace &trace = Trace::current(loc);
  checkData(trace, op.symbol, lhs, loc), checkData(trace, op.symbol, rhs, loc);
  DType type = commonType(trace, op.symbol, {&lhs, &rhs}, loc);
  const char *name = nameFor(trace, op, type, lhs, rhs, loc);
  if (type == i1)
    trace.fail(loc, std::string("'") + op.symbol + "' needs integers of 8 bits or more, got i1",
               {madeNote(trace, lhs, rhs)});
  Shape shape = commonShape(trace, op.symbol, {&lhs, &rhs}, loc);
  TileType result{TileType::Data, type, shape};
  Value a = unify(trace, type, shape, lhs, op.symbol, loc),
        count = unify(trace, type, shape, rhs, op.symbol, loc);
  Value mask = trace.integer(type, widthOf(type) - 1, loc, shape);
  return trace.op(name, result, {a, trace.op("arith.andi", result, {count, mask}, loc)}, loc);
}

// --- Comparison ---

/// A comparison's predicate numbers in arith: ordered floats, signed, unsigned integers.
struct Comparison {
  const char *symbol;
  int onFloats, onSigned, onUnsigned;
};

Value compare(const Comparison &comparison, const Arg &lhs, const Arg &rhs) {
  Loc loc = locOf(lhs, rhs);
  Trace &trace = Trace::current(loc);
  checkData(trace, comparison.symbol, lhs, loc), checkData(trace, comparison.symbol, rhs, loc);
  DType type = commonType(trace, comparison.symbol, {&lhs, &rhs}, loc);
  Shape shape = commonShape(trace, comparison.symbol, {&lhs, &rhs}, loc);
  Value a = unifyToCompute(trace, type, shape, lhs, comparison.symbol, loc);
  Value b = unifyToCompute(trace, type, shape, rhs, comparison.symbol, loc);
  int predicate = isFloat(type)      ? comparison.onFloats
                  : isUnsigned(type) ? comparison.onUnsigned
                                     : comparison.onSigned;
  return trace.op(isFloat(type) ? "arith.cmpf" : "arith.cmpi", {TileType::Data, i1, shape}, {a, b},
                  loc, {{Attribute::I64, "predicate", {predicate}}});
}

// --- Pointers ---

bool isPointer(const Arg &operand, Loc loc) {
  return operand.isStaged() &&
         Trace::current(loc).type(operand.value(), loc).category == TileType::Pointer;
}

/// An offset as addptr takes it: i32 or i64, unsigned ones zero-extended.
Value offsetOf(Trace &trace, const Arg &offset, Loc loc) {
  Value value = materialize(trace, offset, loc);
  TileType type = trace.type(value, loc);
  if (type.category == TileType::Pointer)
    trace.fail(loc, "'+' on two pointers: add an integer offset to one pointer",
               {madeNote(trace, "rhs", value)});
  if (type.category != TileType::Data || !isInteger(type.dtype) || type.dtype == i1)
    trace.fail(loc,
               "a pointer's offset must be an integer or a tile of integers, got " + type.str(),
               {madeNote(trace, "the offset", value)});
  bool narrow = widthOf(type.dtype) < 32 || type.dtype == i32;
  return castValue(trace, narrow ? i32 : i64, value, loc);
}

Value addPointer(const Arg &pointer, const Arg &offset, bool negate, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value elements = offsetOf(trace, offset, loc);
  if (negate) {
    TileType type = trace.type(elements, loc);
    Value zero = trace.integer(type.dtype, 0, loc, type.shape);
    return addPointer(pointer, Arg(trace.op("arith.subi", type, {zero, elements}, loc), loc), false,
                      loc);
  }
  Arg offsets(elements, loc);
  Shape shape = commonShape(trace, "+", {&pointer, &offsets}, loc);
  TileType type = trace.type(pointer.value(), loc);
  type.shape = shape;
  return trace.op(
      "tile.addptr", type,
      {broadcastTo(trace, pointer.value(), shape, loc), broadcastTo(trace, elements, shape, loc)},
      loc);
}

} // namespace

namespace tile::detail {

Value operator+(Arg lhs, Arg rhs) {
  Loc loc = locOf(lhs, rhs);
  if (isPointer(lhs, loc))
    return addPointer(lhs, rhs, false, loc);
  return isPointer(rhs, loc) ? addPointer(rhs, lhs, false, loc) : binary(kAdd, lhs, rhs);
}
Value operator-(Arg lhs, Arg rhs) {
  Loc loc = locOf(lhs, rhs);
  return isPointer(lhs, loc) ? addPointer(lhs, rhs, true, loc) : binary(kSub, lhs, rhs);
}
Value operator*(Arg lhs, Arg rhs) { return binary(kMul, lhs, rhs); }
Value operator/(Arg lhs, Arg rhs) { return divide(kDiv, lhs, rhs); }
Value operator%(Arg lhs, Arg rhs) { return divide(kRem, lhs, rhs); }
Value operator&(Arg lhs, Arg rhs) { return binary(kAnd, lhs, rhs); }
Value operator|(Arg lhs, Arg rhs) { return binary(kOr, lhs, rhs); }
Value operator^(Arg lhs, Arg rhs) { return binary(kXor, lhs, rhs); }
Value operator<<(Arg lhs, Arg rhs) { return shift(kShl, lhs, rhs); }
Value operator>>(Arg lhs, Arg rhs) { return shift(kShr, lhs, rhs); }

// arith's predicates: floats oeq 1, ogt 2, oge 3, olt 4, ole 5, une 13; integers eq 0, ne 1, slt ..
// sge 2-5, ult .. uge 6-9.
Value operator==(Arg lhs, Arg rhs) { return compare({"==", 1, 0, 0}, lhs, rhs); }
Value operator!=(Arg lhs, Arg rhs) { return compare({"!=", 13, 1, 1}, lhs, rhs); }
Value operator<(Arg lhs, Arg rhs) { return compare({"<", 4, 2, 6}, lhs, rhs); }
Value operator<=(Arg lhs, Arg rhs) { return compare({"<=", 5, 3, 7}, lhs, rhs); }
Value operator>(Arg lhs, Arg rhs) { return compare({">", 2, 4, 8}, lhs, rhs); }
Value operator>=(Arg lhs, Arg rhs) { return compare({">=", 3, 5, 9}, lhs, rhs); }

Value operator-(Arg operand) {
  Trace &trace = Trace::current(operand.loc());
  checkData(trace, "-", operand, operand.loc());
  TileType type = trace.type(operand.value(), operand.loc());
  if (isFloat(type.dtype))
    return computeFloat(trace, "arith.negf", operand.value(), operand.loc());
  return binary(kSub, Arg(0, operand.loc()), operand);
}

Value operator~(Arg operand) {
  Trace &trace = Trace::current(operand.loc());
  checkData(trace, "~", operand, operand.loc());
  TileType type = trace.type(operand.value(), operand.loc());
  if (isFloat(type.dtype))
    trace.fail(operand.loc(), std::string("'~' is for integers, got ") + nameOf(type.dtype));
  Value ones = trace.integer(type.dtype, type.dtype == i1 ? 1 : -1, operand.loc(), type.shape);
  return trace.op("arith.xori", type, {operand.value(), ones}, operand.loc());
}

} // namespace tile::detail
