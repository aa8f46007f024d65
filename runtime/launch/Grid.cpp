#include "runtime/launch/Grid.h"

#include "base/StackArray.h"
#include "frontend/call/ArgFacts.h"

#include <algorithm>
#include <array>
#include <limits>

namespace tile::launch {
namespace {

using detail::HostArg;

/// Of the values that a grid follows from.
constexpr size_t kUsualSymbols = 16;
constexpr int64_t kMaxGrid[3] = {std::numeric_limits<int32_t>::max(), 65535, 65535};

/// Whether calls of one form have one grid: it may depend on extents, but on no number.
bool followsFromForm(const codegen::GridExpression &grid) {
  return std::ranges::none_of(grid.symbols(), [](auto symbol) { return symbol.dim < 0; });
}

int64_t symbolValue(codegen::GridExpression::Symbol symbol, std::span<const HostArg> args) {
  const HostArg &arg = args[symbol.arg];
  if (symbol.dim >= 0)
    return arg.extents[symbol.dim];
  return frontend::integerOf(arg.dtype, arg.bits);
}

std::array<int64_t, 3> programsOf(const Named &record, const LoadedKernel &kernel,
                                  std::span<const HostArg> args,
                                  const detail::LaunchOptions &options) {
  if (options.hasGrid)
    return {options.grid[0], options.grid[1], options.grid[2]};
  if (!kernel.grid.isDerived() && kernel.mostPrograms > 0)
    return {kernel.mostPrograms, 1, 1};
  if (!kernel.grid.isDerived())
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "kernel '" + record.name +
                    "' has no grid helper: give its grid, as in .grid(n)(stream, ...)",
                record.where);
  std::span<const codegen::GridExpression::Symbol> symbols = kernel.grid.symbols();
  base::StackArray<int64_t, kUsualSymbols> values(symbols.size());
  for (size_t i = 0; i < symbols.size(); ++i)
    values[i] = symbolValue(symbols[i], args);
  std::array<int64_t, 3> grid = kernel.grid.evaluate(values);
  if (kernel.mostPrograms > 0)
    grid[0] = codegen::fewestPrograms(grid[0], kernel.mostPrograms);
  return grid;
}

void checkGrid(const Named &record, const std::array<int64_t, 3> &grid) {
  for (int axis = 0; axis < 3; ++axis)
    if (grid[axis] < 0 || grid[axis] > kMaxGrid[axis])
      throw Error(Fault::User, ErrorCode::InvalidShape,
                  "the grid of kernel '" + record.name + "' has " + std::to_string(grid[axis]) +
                      " programs along " + "xyz"[axis] + ", between 0 and " +
                      std::to_string(kMaxGrid[axis]) +
                      " are possible: use larger tiles, or fold this axis into x",
                  record.where);
}

// Programs add up tiles with those that follow them.
void checkSums(const Named &record, const LoadedKernel &kernel, device::Dim3 grid) {
  const auto programs = static_cast<uint64_t>(kernel.workspace.programs);
  if (grid.count() % programs != 0)
    throw Error(Fault::User, ErrorCode::InvalidShape,
                "kernel '" + record.name + "' adds up tiles of " + std::to_string(programs) +
                    " programs that follow each other (grid_sum), but its launch has " +
                    std::to_string(grid.count()) + ": give it a multiple of them",
                record.where);
}

} // namespace

device::Dim3 gridOf(const Named &named, const LoadedKernel &kernel, std::span<const HostArg> args,
                    const detail::LaunchOptions &options, std::optional<device::Dim3> &known) {
  if (known && !options.hasGrid)
    return *known;
  std::array<int64_t, 3> blocks = programsOf(named, kernel, args, options);
  blocks[0] *= kernel.blocks;
  checkGrid(named, blocks);
  device::Dim3 grid = {static_cast<uint32_t>(blocks[0]), static_cast<uint32_t>(blocks[1]),
                       static_cast<uint32_t>(blocks[2])};
  checkSums(named, kernel, grid);
  if (!options.hasGrid && followsFromForm(kernel.grid))
    known = grid;
  return grid;
}

} // namespace tile::launch
