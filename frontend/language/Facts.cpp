// Promises: recorded for the compiler; in checked builds asserted as well.
#include <tile/Facts.h>

#include "frontend/language/Checks.h"
#include "frontend/language/Promotion.h"

#include <tile/Ops.h>

using namespace tile;
using namespace tile::frontend;

namespace {

struct Promise {
  const char *name;      ///< of the function
  const char *attribute; ///< of `tile.facts`
};

/// The positions along a dimension, in the tile's shape.
Value positions(const Shape &shape, int dim, Loc loc) {
  return broadcast_to(Arg(index(dim, shape, loc), loc), shape, loc);
}

/// In checked builds: what the promise says of one dimension.
void verify(Trace &trace, const Promise &promise, const Value &x, int dim, int64_t number,
            Loc loc) {
  TileType type = trace.type(x, loc);
  std::string message = std::string(promise.name) + ": the promise of " + std::to_string(number) +
                        (type.isScalar() ? "" : " along dimension " + std::to_string(dim)) +
                        " is broken";
  Arg value(x, loc), count(number, loc);
  bool isMultiple = promise.attribute == std::string_view("multiple");
  if (type.isScalar())
    return recordAssert(trace, Arg(value % count, loc) == Arg(0, loc), message, loc);
  Value at = positions(type.shape, dim, loc);
  Value inRun = Arg(at, loc) % count;
  if (isMultiple) {
    Value holds = Arg(value % count, loc) == Arg(0, loc);
    Value counts = Arg(inRun, loc) != Arg(0, loc);
    return recordAssert(trace, Arg(holds, loc) | Arg(counts, loc), message, loc);
  }
  Value first = gather(value, Arg(Arg(at, loc) - Arg(inRun, loc), loc), dim, loc);
  Value expected = promise.attribute == std::string_view("contiguous")
                       ? Arg(first, loc) + Arg(cast(type.dtype, Arg(inRun, loc), loc), loc)
                       : first;
  recordAssert(trace, value == Arg(expected, loc), message, loc);
}

Value promised(const Promise &promise, const Arg &x, const Shape &numbers, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkData(trace, promise.name, x, loc);
  Value value = materialize(trace, x, loc);
  TileType type = trace.type(value, loc);
  if (!isInteger(type.dtype) || type.dtype == i1)
    trace.fail(loc,
               std::string(promise.name) + ": needs integers of 8 bits or more, got " + type.str(),
               {madeNote(trace, "operand", value)});
  bool isMultiple = promise.attribute == std::string_view("multiple");
  if (type.isScalar() && !isMultiple)
    trace.fail(loc, std::string(promise.name) + ": runs are of tiles, got a scalar, " + type.str());
  int dims = std::max(1, type.shape.rank());
  if (numbers.rank() != dims)
    trace.fail(loc, std::string(promise.name) + ": needs " + std::to_string(dims) +
                        " numbers, one a dimension, got " + std::to_string(numbers.rank()));
  std::vector<int64_t> list;
  for (int dim = 0; dim < dims; ++dim) {
    if (numbers[dim] < 1)
      trace.fail(loc, std::string(promise.name) + ": a number must be at least 1, got " +
                          std::to_string(numbers[dim]));
    list.push_back(numbers[dim]);
  }
  if (isChecked(trace)) {
    WithoutChecks quiet(trace);
    for (int dim = 0; dim < dims; ++dim)
      if (list[dim] > 1)
        verify(trace, promise, value, dim, list[dim], loc);
  }
  return trace.op("tile.facts", type, {value}, loc,
                  {{Attribute::I64Array, promise.attribute, list}});
}

} // namespace

Value tile::multiple_of(Arg x, Shape numbers, Loc loc) {
  return promised({"multiple_of", "multiple"}, x, numbers, loc);
}
Value tile::max_contiguous(Arg x, Shape lengths, Loc loc) {
  return promised({"max_contiguous", "contiguous"}, x, lengths, loc);
}
Value tile::max_constancy(Arg x, Shape lengths, Loc loc) {
  return promised({"max_constancy", "constancy"}, x, lengths, loc);
}

void tile::assume(Arg condition, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkData(trace, "assume", condition, loc);
  if (!condition.isStaged())
    trace.fail(loc, "assume: the condition is a host value; use require(...)");
  TileType type = trace.type(condition.value(), loc);
  if (!type.isScalar() || type.dtype != i1)
    trace.fail(loc, "assume: the condition must be an i1 scalar, got " + type.str(),
               {madeNote(trace, "condition", condition.value())});
  if (trace.graph().scopes[trace.scope()].kind == Scope::Combine)
    trace.fail(loc, "assume: not in a combine function");
  if (isChecked(trace))
    recordAssert(trace, condition.value(), "assume: the promise is broken", loc);
  Node node;
  node.name = "tile.assume";
  node.effect = Effect::Write;
  node.loc = loc;
  node.operands = {condition.value().node()};
  trace.add(std::move(node));
}
