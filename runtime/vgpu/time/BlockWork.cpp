#include "runtime/vgpu/time/BlockWork.h"

#include "runtime/vgpu/machine/Lanes.h"

#include <algorithm>

namespace tile::vgpu {

static constexpr uint64_t kMostCounted = 2048, kMostSteps = 4'000'000;

BlockWork::BlockWork(TimedLaunch &launch) : launch_(launch), room_(launch.makeRoom()) {
  for (const TimedOp &op : launch.program().ops)
    takesTurns_ |= op.form.kind == TimeKind::AtomicGlobal;
}

double BlockWork::of(uint64_t turn) {
  uint64_t step = launch_.blocks() / kMostCounted + 1;
  auto [found, isNew] = known_.try_emplace(turn / step);
  if (isNew)
    found->second = count(turn / step * step);
  return found->second;
}

double BlockWork::count(uint64_t turn) {
  Cta &block = launch_.begin(*room_, turn);
  fetches_ = 0;
  double loads = 0;
  if (knowsLoaders_) {
    for (uint32_t warp : loaders_)
      loads += walk(block.warps[warp]);
  } else {
    for (Warp &warp : block.warps)
      if (double some = walk(warp)) {
        loads += some;
        loaders_.push_back(warp.index);
      }
    knowsLoaders_ = !loaders_.empty(); // a first block may have nothing to do
  }
  return std::max(1.0, loads);
}

double BlockWork::walk(Warp &registers) {
  TimedWarp warp(launch_.program(), registers);
  bool byBoxes = launch_.program().usesTensorLoads;
  double loads = 0;
  for (uint64_t steps = 0; !warp.splits.empty() && steps < kMostSteps; ++steps) {
    size_t split = warp.nextSplit();
    uint32_t pc = warp.splits[split].pc, lanes = warp.activeLanes(warp.splits[split]);
    TimeKind kind = launch_.program().ops[pc].form.kind;
    if (passControl(warp, split, kind, lanes))
      continue;
    if (lanes && kind == TimeKind::AtomicGlobal)
      takeTurn(launch_, warp, pc, lanes, fetches_);
    else if (lanes && kind == TimeKind::MbarrierWait)
      warp.setPredicate(warp.operation(pc).rows[0], lanes, true);
    else
      warp.execute(pc, lanes);
    bool isLoad = byBoxes ? kind == TimeKind::BulkLoad
                          : kind == TimeKind::LoadGlobal || kind == TimeKind::AsyncCopy ||
                                kind == TimeKind::BulkLoad;
    loads += lanes && isLoad;
    warp.splits[split].pc = warp.finishInstruction(pc, lanes);
  }
  return loads;
}

} // namespace tile::vgpu
