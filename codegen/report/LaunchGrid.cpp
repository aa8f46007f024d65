// How many programs the launch has that a report is about.
#include "codegen/report/MakeReport.h"

#include "codegen/compiled/Occupancy.h"

#include <algorithm>

namespace tile::codegen {

static int64_t valueOf(GridExpression::Symbol symbol, const LaunchFacts &launch) {
  const LaunchFacts::Argument &argument = launch.arguments[symbol.arg];
  return symbol.dim < 0 ? argument.value.value_or(0) : argument.extents[symbol.dim];
}

std::optional<std::array<int64_t, 3>> programsOf(const LaunchFacts &launch,
                                                 const CompiledKernel &kernel, int64_t registers) {
  if (launch.grid)
    return launch.grid;
  Occupancy occupancy =
      occupancyOf(*ir::findTarget(kernel.target), kernel.threads, registers, kernel.sharedBytes);
  int64_t atOnce = std::max<int64_t>(1, launch.multiprocessors * occupancy.blocksPerSm /
                                            std::max(1, kernel.cluster));
  if (!kernel.grid.isDerived())
    return kernel.persistent ? std::optional<std::array<int64_t, 3>>({atOnce, 1, 1}) : std::nullopt;
  std::vector<int64_t> values;
  for (GridExpression::Symbol symbol : kernel.grid.symbols())
    values.push_back(valueOf(symbol, launch));
  std::array<int64_t, 3> programs = kernel.grid.evaluate(values);
  if (kernel.persistent)
    programs[0] = fewestPrograms(programs[0], atOnce);
  return programs;
}

} // namespace tile::codegen
