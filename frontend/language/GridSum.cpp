// Sums over programs of a launch.
#include "frontend/language/Summand.h"
#include "frontend/trace/Settings.h"

#include <tile/Grid.h>

using namespace tile;
using namespace tile::frontend;

namespace {

// All programs come, once, or who comes last would not be known.
void checkPlace(Trace &trace, Loc loc) {
  if (trace.scope() != 0)
    trace.fail(loc,
               "grid_sum: all programs carry it out once: call it at the top of a kernel, outside "
               "staged loops, branches and callables");
  if (trace.cluster > 1 || trace.teams > 1)
    trace.fail(loc, "grid_sum: programs that add up are one block and one team each; cluster_sum "
                    "is for the blocks of a cluster");
}

} // namespace

void tile::grid_sum(Arg x, int programs, detail::FunctionRef<void(Value)> body, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value value = summand(trace, "grid_sum", x, loc);
  checkPlace(trace, loc);
  if (std::string wrong = wrongProgramsOfSum(programs); !wrong.empty())
    trace.fail(loc, "grid_sum: " + wrong, {}, ErrorCode::InvalidShape);
  if (programs == 1)
    return body(value);
  trace.addsUpPrograms = true;
  Node node;
  node.name = "tile.grid_sum";
  node.effect = Effect::Write;
  node.loc = loc;
  node.operands = {value.node()};
  node.results = {trace.type(value, loc), TileType{TileType::Data, i1, {}}};
  node.attributes = {{Attribute::I32, "programs", {programs}}};
  NodeId id = trace.add(std::move(node));
  Value sum = trace.handle(trace.resultOf(id, 0)), isLast = trace.handle(trace.resultOf(id, 1));
  if_(
      Arg(isLast, loc), [&] { body(sum); }, loc);
}
