// Sums over the blocks of a cluster.
#include "frontend/language/Checks.h"
#include "frontend/language/Summand.h"

#include <tile/Grid.h>

using namespace tile;
using namespace tile::frontend;

namespace {

bool isPowerOfTwo(int64_t extent) { return extent > 0 && (extent & (extent - 1)) == 0; }

/// The tile to add up, in a kernel whose programs are divided among blocks.
Value tileOfBlock(Trace &trace, const std::string &op, const Arg &x, Loc loc) {
  Value value = summand(trace, op, x, loc);
  if (!trace.cluster)
    trace.fail(loc, op + ": the kernel's programs are not divided: call cluster(count) before");
  if (trace.teams > 1)
    trace.fail(loc, op + ": programs are divided among blocks or teams, not both");
  return value;
}

void checkParts(Trace &trace, const Value &value, Loc loc) {
  TileType type = trace.type(value, loc);
  for (int dim = 0; dim < type.shape.rank(); ++dim)
    if (!isPowerOfTwo(type.shape[dim]))
      trace.fail(loc,
                 "cluster_sum_scatter: extents must be powers of two, got " + type.str() +
                     ": cluster_sum takes any",
                 {madeNote(trace, "operand", value)}, ErrorCode::InvalidShape);
  if (type.shape[0] % trace.cluster != 0)
    trace.fail(loc,
               "cluster_sum_scatter: dimension 0 has a part for each of " +
                   std::to_string(trace.cluster) + " blocks, but the tile is " + type.str(),
               {madeNote(trace, "operand", value)}, ErrorCode::InvalidShape);
}

/// Written down where it stands, whether its result is used or not, since all blocks meet at it.
Value record(Trace &trace, const Value &value, TileType result, std::vector<Attribute> attributes,
             Loc loc) {
  Node node;
  node.name = "tile.cluster_sum";
  node.effect = Effect::Write;
  node.loc = loc;
  node.operands = {value.node()};
  node.results = {std::move(result)};
  node.attributes = std::move(attributes);
  return trace.handle(trace.resultOf(trace.add(std::move(node))));
}

} // namespace

Value tile::cluster_sum(Arg x, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value value = tileOfBlock(trace, "cluster_sum", x, loc);
  return trace.cluster == 1 ? value : record(trace, value, trace.type(value, loc), {}, loc);
}

Value tile::cluster_sum_scatter(Arg x, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value value = tileOfBlock(trace, "cluster_sum_scatter", x, loc);
  checkParts(trace, value, loc);
  TileType part = trace.type(value, loc);
  if (trace.cluster == 1)
    return value;
  part.shape[0] /= trace.cluster;
  return record(trace, value, part, {{Attribute::Unit, "scatter", {}}}, loc);
}
