#include "frontend/language/Checks.h"

#include "frontend/language/Promotion.h"

#include <limits>
#include <string_view>

namespace tile::frontend {

bool isChecked(const Trace &trace) {
  return trace.settings.checked && trace.function() == kNoScope &&
         trace.graph().scopes[trace.scope()].kind != Scope::Combine;
}

void recordAssert(Trace &trace, const Value &condition, std::string message, Loc loc) {
  Node node;
  node.name = "tile.assert";
  node.effect = Effect::Write;
  node.loc = loc;
  node.operands = {trace.use(condition, loc)};
  node.attributes = {{Attribute::String, "message", {}, std::move(message)}};
  trace.add(std::move(node));
}

static Value compare(Trace &trace, int predicate, const Value &a, const Value &b, Loc loc) {
  return trace.op("arith.cmpi", {TileType::Data, i1, trace.type(a, loc).shape}, {a, b}, loc,
                  {{Attribute::I64, "predicate", {predicate}}});
}
constexpr int kEqual = 0, kNotEqual = 1;

void checkOverflow(Trace &trace, const char *name, const Value &a, const Value &b, Loc loc) {
  TileType type = trace.type(a, loc);
  std::string_view operation(name);
  const char *symbol = operation == "arith.addi"   ? "+"
                       : operation == "arith.subi" ? "-"
                       : operation == "arith.muli" ? "*"
                                                   : nullptr;
  bool isNarrow = isInteger(type.dtype) && type.dtype != i1 && widthOf(type.dtype) < 64;
  if (!symbol || !isNarrow || !isChecked(trace))
    return;
  // Products of two numbers of 32 bits fit 64, and equal their own low half exactly if they fit it.
  TileType wide{TileType::Data, i64, type.shape};
  Value exact =
      trace.op(name, wide, {castValue(trace, i64, a, loc), castValue(trace, i64, b, loc)}, loc);
  Value wrapped = castValue(trace, i64, castValue(trace, type.dtype, exact, loc), loc);
  recordAssert(trace, compare(trace, kEqual, exact, wrapped, loc),
               std::string(symbol) + " overflows " + nameOf(type.dtype), loc);
}

void checkDivision(Trace &trace, const Value &dividend, const Value &divisor, Loc loc) {
  TileType type = trace.type(divisor, loc);
  if (!isInteger(type.dtype) || !isChecked(trace))
    return;
  auto number = [&](int64_t value) { return trace.integer(type.dtype, value, loc, type.shape); };
  recordAssert(trace, compare(trace, kNotEqual, divisor, number(0), loc), "division by zero", loc);
  if (isUnsigned(type.dtype))
    return;
  int64_t least = std::numeric_limits<int64_t>::min() >> (64 - widthOf(type.dtype));
  Value either = trace.op("arith.ori", {TileType::Data, i1, type.shape},
                          {compare(trace, kNotEqual, dividend, number(least), loc),
                           compare(trace, kNotEqual, divisor, number(-1), loc)},
                          loc);
  recordAssert(trace, either, std::string("/ overflows ") + nameOf(type.dtype), loc);
}

} // namespace tile::frontend
