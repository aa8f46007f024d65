#include "runtime/vgpu/time/BlockWork.h"

#include "runtime/vgpu/time/UntimedWalk.h"

#include <algorithm>

namespace tile::vgpu {

static constexpr uint64_t kMostCounted = 2048;

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

double BlockWork::walk(Warp &warp) {
  double loads = 0;
  walkUntimed(launch_, warp, fetches_, [&](TimedWarp &, uint32_t pc, uint32_t) {
    TimeKind kind = launch_.program().ops[pc].form.kind;
    bool isPlain = kind == TimeKind::LoadGlobal || kind == TimeKind::AsyncCopy;
    loads += kind == TimeKind::BulkLoad || (isPlain && !launch_.program().usesTensorLoads);
    return true;
  });
  return loads;
}

} // namespace tile::vgpu
