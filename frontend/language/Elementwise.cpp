// Which operations are of each element by itself.
#include <tile/detail/Elementwise.h>

#include "frontend/language/Promotion.h"
#include "frontend/trace/Trace.h"

#include <algorithm>
#include <array>
#include <string_view>

using namespace tile;
using namespace tile::frontend;

namespace {

/// Those that combine elements, move them, or make them from their place in the tile or from the program.
constexpr auto kOfTiles = std::to_array<std::string_view>(
    {"tile.arange", "tile.cluster_rank", "tile.cluster_sum", "tile.dot", "tile.flip", "tile.gather",
     "tile.grid_sum", "tile.half", "tile.histogram", "tile.join", "tile.num_programs",
     "tile.permute", "tile.program_id", "tile.reduce", "tile.reshape", "tile.scan"});

} // namespace

detail::ElementwisePart::ElementwisePart(const char *op)
    : op_(op), first_(Trace::current({}).graph().nodes.size()) {}

void detail::ElementwisePart::check() const {
  const Trace &trace = Trace::current({});
  const auto &nodes = trace.graph().nodes;
  for (size_t i = first_; i < nodes.size(); ++i)
    if (nodes[i].kind == Node::Op && std::ranges::find(kOfTiles, nodes[i].name) != kOfTiles.end())
      trace.fail(nodes[i].loc, std::string(op_) +
                                   ": the function is called with tiles of any extents, so each of "
                                   "its operations is of each element by itself, and " +
                                   nodes[i].name + " is not: use an op or a kernel of your own");
}

void detail::ElementwisePart::checkResult(const Value &result, const Shape &extents) const {
  const Trace &trace = Trace::current({});
  const Shape shape = result.shape();
  if (!broadcasts(shape, extents))
    trace.fail(trace.graph().nodes.back().loc,
               std::string(op_) + ": the function returns a tile of " + shape.str() +
                   " for tiles of " + extents.str() +
                   ": its result has their shape, or is a scalar",
               {}, ErrorCode::InvalidShape);
}
