// Changes of the element type, by value and by bits.
#include "frontend/language/Promotion.h"
#include "frontend/trace/Trace.h"

using namespace tile;
using namespace tile::frontend;

Value tile::cast(DType dtype, Arg x, Loc loc) { return cast(dtype, x, Round::rtne, loc); }

Value tile::cast(DType dtype, Arg x, Round round, Loc loc) {
  Trace &trace = Trace::current(loc);
  if (dtype == any)
    trace.fail(loc, "cast: 'any' is not an element type to cast to");
  checkData(trace, "cast", x, loc);
  if (round == Round::rtne)
    return convertTo(trace, dtype, x, "cast", loc);
  Value value = materialize(trace, x, loc);
  DType from = trace.type(value, loc).dtype;
  if (!isFloat(from) || !isFloat(dtype))
    trace.fail(loc,
               std::string("cast: rounding toward zero is for floats, got ") + nameOf(from) +
                   " to " + nameOf(dtype),
               {madeNote(trace, "operand", value)});
  return castValue(trace, dtype, value, loc, round);
}

Value tile::bitcast(DType dtype, Arg x, Loc loc) {
  Trace &trace = Trace::current(loc);
  if (dtype == any)
    trace.fail(loc, "bitcast: 'any' is not an element type to cast to");
  checkData(trace, "bitcast", x, loc);
  Value value = materialize(trace, x, loc);
  TileType type = trace.type(value, loc);
  auto bits = [](DType each) { return each == i1 ? size_t(1) : 8 * sizeOf(each); };
  if (bits(type.dtype) != bits(dtype))
    trace.fail(loc,
               std::string("bitcast: ") + nameOf(type.dtype) + " has " +
                   std::to_string(bits(type.dtype)) + " bits, " + nameOf(dtype) + " has " +
                   std::to_string(bits(dtype)) + " bits: cast changes the width",
               {madeNote(trace, "operand", value)});
  if (sameInIr(type.dtype, dtype))
    return castValue(trace, dtype, value, loc);
  type.dtype = dtype;
  return trace.op("arith.bitcast", type, {value}, loc);
}
