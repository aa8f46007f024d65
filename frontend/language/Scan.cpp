// Scans: prefix combinations along an axis, and the library of them.
#include "frontend/language/Combine.h"
#include "frontend/language/Promotion.h"

using namespace tile;
using namespace tile::frontend;

static std::vector<Value> scanTiles(const char *op, const std::vector<Value> &tiles, int axis,
                                    Combine combine, bool isReverse, Loc loc) {
  Trace &trace = Trace::current(loc);
  std::vector<TileType> types = tileTypes(trace, op, tiles, loc);
  int dim = checkAxis(trace, op, axis, types[0].shape.rank(), loc);
  CombineOp scan = {"tile.scan", op, {{Attribute::I32, "axis", {dim}}}};
  if (isReverse)
    scan.attributes.push_back({Attribute::Unit, "reverse", {}});
  return combineTiles(trace, scan, tiles, types, types, combine, loc);
}

template <class Function>
static Value scanOne(const char *op, const Value &tile, int axis, bool isReverse, Loc loc,
                     Function combine) {
  auto combineLists = onTuples(combine);
  return scanTiles(op, {tile}, axis, combineLists, isReverse, loc)[0];
}

/// Scans in the dtype of accumulation, and narrows the result.
template <class Function>
static Value accumulate(const char *op, const Arg &x, int axis, const ScanOptions &options, Loc loc,
                        Function combine) {
  return accumulated(Trace::current(loc), op, x, options.dtype, loc, [&](const Value &wide) {
    return scanOne(op, wide, axis, options.reverse, loc, combine);
  });
}

Value tile::scan(Arg x, int axis, detail::FunctionRef<Value(Value, Value)> combine, bool reverse,
                 Loc loc) {
  return scanOne("scan", tileOperand(Trace::current(loc), "scan", x, loc), axis, reverse, loc,
                 combine);
}

std::vector<Value> tile::scan(const std::vector<Value> &tiles, int axis, Combine combine,
                              bool reverse, Loc loc) {
  return scanTiles("scan", tiles, axis, combine, reverse, loc);
}

Value tile::cumsum(Arg x, int axis, ScanOptions options, Loc loc) {
  return accumulate("cumsum", x, axis, options, loc,
                    [&](Value a, Value b) { return added(a, b, loc); });
}

Value tile::cumprod(Arg x, int axis, ScanOptions options, Loc loc) {
  return accumulate("cumprod", x, axis, options, loc,
                    [&](Value a, Value b) { return multiplied(a, b, loc); });
}
