#include "passes/pipelining/RingMemory.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/layout/WgmmaOperand.h"
#include "passes/pipelining/RingRuns.h"
#include "passes/staging/StagingLayout.h"

using namespace mlir;

namespace tile::passes {

// Swizzle patterns repeat every 1024 bytes, and TMA and wgmma apply them to addresses.
static int32_t alignmentOf(gpu::SmemType tile, const RingForm &form) {
  bool hasPattern = !isRow(tile.getShape()) && (form.isReadByWgmma || form.hasTmaCopies);
  return hasPattern ? layout::kWgmmaAlignment : gpu::kSharedAlignment;
}

RingMemory::RingMemory(gpu::RingAllocOp ring, const RingForm &form)
    : ring_(ring), form_(form), stages_(ring.getRing().getType().getStages()) {
  OpBuilder b(ring);
  for (gpu::SmemType tile : ring.getRing().getType().getTiles()) {
    tiles_.push_back(
        gpu::SmemAllocOp::create(b, ring.getLoc(), tile, stages_, alignmentOf(tile, form)));
    shareByTeams(tiles_.back());
  }
  if (!form.hasTmaCopies)
    return;
  barriers_ = allocateBarriers(b);
  if (form.warpgroupsRunIndependently)
    releases_ = allocateBarriers(b);
}

void RingMemory::shareByTeams(gpu::SmemAllocOp memory) {
  if (form_.isSharedByTeams)
    memory.setScope(gpu::Scope::Block);
}

gpu::SmemAllocOp RingMemory::allocateBarriers(OpBuilder &b) {
  auto row = gpu::attributeOf(b.getContext(), layout::SharedLayout::rowMajor({stages_}, {0}));
  auto barriers = gpu::SmemAllocOp::create(
      b, ring_.getLoc(), gpu::SmemType::get(b.getContext(), {stages_}, b.getI64Type(), row));
  shareByTeams(barriers);
  return barriers;
}

SmallVector<int64_t> RingMemory::strides() const {
  SmallVector<int64_t> strides;
  for (gpu::SmemAllocOp memory : tiles_)
    strides.push_back(memory.getStageStride());
  if (barriers_)
    strides.push_back(gpu::kBarrierBytes);
  return strides;
}

// The fence makes the mbarriers, and earlier writes to the stages' memory, visible to TMA. After
// the only run nothing else gets that memory, so that nothing is invalidated.
void RingMemory::initializeBarriers() {
  OpBuilder b(ring_);
  SmallVector<RingRun> runs = runsOf(ring_);
  bool isOnly = runs.size() == 1 && executesAtMostOncePer(runs.front().first, ring_);
  for (RingRun run : runs) {
    gpu::BarrierOp other = initBarrierBefore(run);
    bool servesBoth = other && other.getScope() == scopeOfBarrier();
    b.setInsertionPoint(servesBoth ? other->getPrevNode() : run.first); // before its fence
    initialize(b);
    if (!servesBoth) {
      gpu::ProxyFenceOp::create(b, ring_.getLoc());
      gpu::BarrierOp::create(b, ring_.getLoc(), "the mbarriers of the stages are initialized",
                             scopeOfBarrier());
    }
    if (isOnly)
      return;
    b.setInsertionPointAfter(run.last);
    invalidate(b);
  }
}

// *empty* expects one arrival per consumer warp: of all teams that read each fill, in all blocks
// that share the copies.
void RingMemory::initialize(OpBuilder &b) {
  inOneThread(b, scope(), [&] {
    gpu::MbarrierInitOp::create(b, ring_.getLoc(), barriers_, 1);
    int64_t teams = form_.isSharedByTeams && !form_.isPingPong ? ir::teamsOf(ring_) : 1,
            blocks = form_.isOfCluster() ? ir::clusterOf(ring_) : 1;
    if (releases_)
      gpu::MbarrierInitOp::create(b, ring_.getLoc(), releases_,
                                  static_cast<uint32_t>(ir::warpsOf(ring_) * teams * blocks));
  });
}

void RingMemory::invalidate(OpBuilder &b) {
  inOneThread(b, scope(), [&] {
    gpu::MbarrierInvalOp::create(b, ring_.getLoc(), barriers_);
    if (releases_)
      gpu::MbarrierInvalOp::create(b, ring_.getLoc(), releases_);
  });
}

// The barrier after the initialization joins all that use the mbarriers: other blocks, too, if they
// multicast to this block's memory.
gpu::Scope RingMemory::scopeOfBarrier() const {
  if (form_.isOfCluster())
    return gpu::Scope::Cluster;
  return form_.warpgroupsRunIndependently ? gpu::Scope::Block : gpu::Scope::Team;
}

void RingMemory::arrive(OpBuilder &b, Location loc, Value distance, Value predicate) {
  gpu::MbarrierArriveOp::create(b, loc, releases_, distance, predicate, form_.isReadByThreads,
                                form_.isOfCluster() ? gpu::Scope::Cluster : gpu::Scope::Block);
}

void RingMemory::inOneThread(OpBuilder &b, gpu::Scope scope, llvm::function_ref<void()> make,
                             Value predicate) {
  auto elect = gpu::ElectOp::create(b, ring_.getLoc(), predicate, scope);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&elect.getBody().front());
  make();
}

} // namespace tile::passes
