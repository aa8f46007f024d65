#include "frontend/language/Summand.h"

#include "frontend/language/Checks.h"
#include "frontend/language/Promotion.h"

namespace tile::frontend {

static bool isAddedUp(DType dtype) {
  return dtype == f32 || dtype == f64 || (isInteger(dtype) && sizeOf(dtype) >= 4);
}

Value summand(Trace &trace, const std::string &op, const Arg &x, Loc loc) {
  checkData(trace, op.c_str(), x, loc);
  Value value = materialize(trace, x, loc);
  TileType type = trace.type(value, loc);
  if (trace.graph().scopes[trace.scope()].kind == Scope::Combine)
    trace.fail(loc, op + ": not in a combine function");
  if (type.isScalar())
    trace.fail(loc, op + ": needs a tile, got a scalar, " + type.str() + ": broadcast it to {1}",
               {madeNote(trace, "operand", value)}, ErrorCode::InvalidShape);
  if (!isAddedUp(type.dtype))
    trace.fail(loc,
               op + ": sums are f32, f64 or integers of 32 and 64 bits, got " + type.str() +
                   ": cast it",
               {madeNote(trace, "operand", value)});
  return value;
}

} // namespace tile::frontend
