// WaitForLaunches: a kernel that starts before the launches ahead of it have ended waits for them itself.
//
// The wait stands as late as it may: behind what a kernel does with shared memory, barriers and indices alone, before the
// first access of global memory. Each thread meets one wait on every path, so that a kernel ends after those before it, and
// the next one has to wait for this one alone. It lets the next one start at once: what that does before its own wait
// disturbs nobody, and it takes the place of blocks that have ended, since all of this kernel's have started by then.
#include "codegen/Passes.h"

#include "ir/DependentLaunch.h"
#include "ir/gpu/TileGpuDialect.h"
#include "ir/target/Target.h"
#include "ir/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tile::codegen {
#define GEN_PASS_DEF_WAITFORLAUNCHES
#include "codegen/Passes.h.inc"
} // namespace tile::codegen

using namespace mlir;

namespace tile::codegen {

namespace {

// Barriers have effects on all memory, so that accesses stay on their side, and promises have some so that they stay where
// they are; none of these touches global memory itself.
bool isOfTheBlockAlone(Operation *op) {
  return isa<gpu::BarrierOp, gpu::AsyncCommitOp, gpu::AsyncWaitOp, gpu::OrderBeginOp,
             gpu::OrderWaitOp, gpu::OrderArriveOp, gpu::OrderEndOp, ir::AssumeOp>(op);
}

// What is not known to leave global memory alone may touch it.
bool mayTouchGlobal(Operation *op) {
  if (isOfTheBlockAlone(op) || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return false; // the latter does what the operations inside do
  auto known = dyn_cast<MemoryEffectOpInterface>(op);
  if (!known)
    return true;
  SmallVector<MemoryEffects::EffectInstance> effects;
  known.getEffects(effects);
  return llvm::any_of(effects, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect()) &&
           effect.getResource() != gpu::SharedMemory::get();
  });
}

bool holdsAccess(Operation &op) {
  return op
      .walk([](Operation *inner) {
        return mayTouchGlobal(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void create(Operation *before, NVVM::GridDepActionKind kind) {
  OpBuilder b(before);
  NVVM::GriddepcontrolOp::create(b, before->getLoc(), kind);
}

void createWait(Operation *before) {
  create(before, NVVM::GridDepActionKind::wait);
  before->emitRemark()
      << "the kernel may start before the launches ahead of it have ended, and waits for them here";
}

// Does each thread execute one region of the operation?
bool hasRegionForEachThread(Operation &op) {
  auto branch = dyn_cast<scf::IfOp>(op);
  return isa<gpu::WarpSpecializeOp>(op) || (branch && !branch.getElseRegion().empty());
}

// The regions of roles and the arms of a branch wait by themselves, so that each does first what it can.
void placeWait(Block &block) {
  for (Operation &op : block) {
    bool isEnd = op.hasTrait<OpTrait::IsTerminator>();
    if (!isEnd && !holdsAccess(op))
      continue;
    if (!hasRegionForEachThread(op))
      return createWait(&op);
    for (Region &region : op.getRegions())
      placeWait(region.front());
    return;
  }
}

struct WaitForLaunches : impl::WaitForLaunchesBase<WaitForLaunches> {
  using WaitForLaunchesBase::WaitForLaunchesBase;

  void runOnOperation() final {
    func::FuncOp kernel = getOperation();
    std::optional<ir::Target> machine = ir::findTarget(target);
    if (!kernel->hasAttr(ir::kKernelAttr) || !kernel->hasAttr(ir::kDependentAttr))
      return;
    if (!machine || !machine->hasDependentLaunch) {
      kernel.emitRemark()
          << target
          << " has no launches that start early: the kernel starts when those before have ended";
      return;
    }
    Block &body = kernel.getBody().front();
    placeWait(body);
    create(&body.front(), NVVM::GridDepActionKind::launch_dependents);
  }
};

} // namespace

} // namespace tile::codegen
