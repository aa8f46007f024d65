// griddepcontrol.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/machine/Cluster.h"
#include "runtime/vgpu/machine/Launch.h"

namespace tile::vgpu {
namespace {

// griddepcontrol.wait: the launches before have ended by the time this one runs.
void waitForGrids(Warp &warp, const Op &) {
  warp.clock.acquireGrids(warp.mask);
  warp.cta->launch->noteWait();
}

void launchDependents(Warp &warp, const Op &) {
  auto lane = static_cast<unsigned>(std::countr_zero(warp.mask));
  warp.cta->launch->startDependents(warp.clock.of(lane).hasAcquiredGrids());
}

void decodeGriddepcontrol(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view what = suffixes.takeOneOf({"wait", "launch_dependents"});
  if (what.empty())
    decoder.unsupported("expected griddepcontrol.wait or .launch_dependents");
  decoder.wantOperands(instruction, 0);
  decoder.program().startsDependents |= what == "launch_dependents";
  decoder.emit(what == "wait" ? waitForGrids : launchDependents, {}, {});
}

const OpcodeInfo kOpcodes[] = {
    {.name = "griddepcontrol",
     .decode = decodeGriddepcontrol,
     .time = alwaysCosts<Cost::Issue>,
     .kind = always<InstructionClass::Other>,
     .requirements = {{"", 90, 78}}},
};

} // namespace

OpcodeRows gridControlOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
