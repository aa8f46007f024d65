#include "runtime/vgpu/time/UntimedWalk.h"

namespace tile::vgpu {
namespace {

constexpr uint64_t kMostSteps = 4'000'000;

void perform(TimedLaunch &launch, TimedWarp &warp, uint32_t pc, uint32_t lanes, uint64_t &fetches) {
  switch (launch.program().ops[pc].form.kind) {
  case TimeKind::AtomicGlobal:
    takeTurn(launch, warp, pc, lanes, fetches);
    break;
  case TimeKind::MbarrierWait:
    warp.setPredicate(warp.operation(pc).rows[0], lanes, true);
    break;
  default:
    warp.execute(pc, lanes);
  }
}

} // namespace

void walkUntimed(TimedLaunch &launch, Warp &registers, uint64_t &fetches,
                 const WalkVisitor &visit) {
  TimedWarp warp(launch.program(), registers);
  try {
    for (uint64_t steps = 0; !warp.splits.empty() && steps < kMostSteps; ++steps) {
      size_t split = warp.nextSplit();
      uint32_t pc = warp.splits[split].pc, lanes = warp.activeLanes(warp.splits[split]);
      if (passControl(warp, split, launch.program().ops[pc].form.kind, lanes))
        continue;
      if (lanes) {
        if (!visit(warp, pc, lanes))
          return;
        perform(launch, warp, pc, lanes, fetches);
      }
      warp.splits[split].pc = warp.finishInstruction(pc, lanes);
    }
  } catch (const StopCta &) {
    throw errorOfStop(*registers.cta);
  }
}

} // namespace tile::vgpu
