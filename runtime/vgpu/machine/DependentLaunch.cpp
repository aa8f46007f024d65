// griddepcontrol, and where blocks are in their grids.
#include "runtime/vgpu/machine/DependentLaunch.h"

#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/machine/Cluster.h"
#include "runtime/vgpu/machine/Launch.h"

namespace tile::vgpu {

// Clusters tile the grid; ranks count inside them, x first.
uint64_t Grid::blockIndex(uint64_t cluster, uint32_t rank) const {
  const device::Dim3 &grid = config.grid, &shape = config.cluster;
  uint64_t across = grid.x / shape.x, down = grid.y / shape.y;
  uint64_t x = cluster % across * shape.x + rank % shape.x;
  uint64_t y = cluster / across % down * shape.y + rank / shape.x % shape.y;
  uint64_t z = cluster / across / down * shape.z + rank / shape.x / shape.y;
  return (z * grid.y + y) * grid.x + x;
}

device::Dim3 Grid::placeOf(uint64_t block) const {
  const device::Dim3 &grid = config.grid;
  return {static_cast<uint32_t>(block % grid.x), static_cast<uint32_t>(block / grid.x % grid.y),
          static_cast<uint32_t>(block / grid.x / grid.y)};
}

namespace {

// All that was launched before has ended.
void waitForGrids(Warp &warp, const Op &) { warp.clock.learnOfGrids(warp.mask); }

void launchDependents(Warp &warp, const Op &) {
  auto lane = static_cast<unsigned>(std::countr_zero(warp.mask));
  warp.cta->launch->startDependents(warp.clock.of(lane).knowsOfGrids());
}

void decodeGriddepcontrol(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view what = suffixes.takeOneOf({"wait", "launch_dependents"});
  if (what.empty())
    decoder.unsupported("expected griddepcontrol.wait or .launch_dependents");
  decoder.wantOperands(instruction, 0);
  decoder.program().startsDependents |= what == "launch_dependents";
  decoder.emit(what == "wait" ? waitForGrids : launchDependents, {}, {});
}

} // namespace

void registerDependentLaunch(OpcodeTable &table) { table["griddepcontrol"] = decodeGriddepcontrol; }

} // namespace tile::vgpu
