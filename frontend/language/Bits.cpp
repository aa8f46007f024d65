// Functions of the bits of integers. One table maps a function to its IR operation.
#include "frontend/language/Promotion.h"
#include "frontend/trace/Trace.h"

#include <tile/Ops.h>

using namespace tile;
using namespace tile::frontend;

static Value ofBits(const char *name, const char *irName, const Arg &x, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkData(trace, name, x, loc);
  Value value = materialize(trace, x, loc);
  TileType type = trace.type(value, loc);
  if (!isInteger(type.dtype) || type.dtype == i1)
    trace.fail(loc,
               std::string(name) + ": needs an integer of 8 to 64 bits, got " + nameOf(type.dtype) +
                   ": cast or bitcast it",
               {madeNote(trace, "operand", value)});
  return trace.op(irName, type, {value}, loc);
}

#define TILE_BITS(function, operation)                                                             \
  Value tile::function(Arg x, Loc loc) { return ofBits(#function, operation, x, loc); }
TILE_BITS(popcount, "math.ctpop")
TILE_BITS(clz, "math.ctlz")
TILE_BITS(ctz, "math.cttz")
TILE_BITS(reverse_bits, "tile.reverse_bits")
#undef TILE_BITS
