#include "passes/pipelining/analysis/RoleSlice.h"

#include "ir/gpu/TileGpuDialect.h"
#include "passes/analysis/GlobalMemory.h"
#include "passes/analysis/RunAhead.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tile::passes {

RoleSlice::RoleSlice(ArrayRef<Operation *> roots, gpu::RoleKind role) : role_(role) {
  for (Operation *root : roots)
    need(root);
  while (!open_.empty())
    need(open_.pop_back_val());
}

// Results of a loop or branch are needed one by one; any other operation is needed as a whole.
void RoleSlice::need(Operation *op) {
  if (isa<func::FuncOp>(op) || !ops_.insert(op))
    return;
  if (isa<scf::ForOp>(op))
    llvm::append_range(open_, op->getOperands().take_front(3)); // bounds and step
  else if (isa<scf::IfOp>(op))
    llvm::append_range(open_, op->getOperands());
  else if (auto number = dyn_cast<ir::ByRoleOp>(op))
    open_.push_back(takenFrom(number));
  else
    llvm::append_range(open_, takenBy(op));
  need(op->getParentOp());
}

void RoleSlice::need(Value value) {
  if (auto result = dyn_cast<OpResult>(value)) {
    if (isa<scf::ForOp, scf::IfOp>(result.getOwner()))
      return needResult(result);
    return need(result.getOwner());
  }
  Operation *owner = cast<BlockArgument>(value).getOwner()->getParentOp();
  auto loop = dyn_cast<scf::ForOp>(owner);
  if (loop && value != loop.getInductionVar())
    return needResult(loop.getTiedLoopResult(cast<BlockArgument>(value)));
  need(owner);
}

void RoleSlice::needResult(OpResult result) {
  if (!results_.insert(result).second)
    return;
  need(result.getOwner());
  unsigned number = result.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(result.getOwner())) {
    open_.push_back(loop.getInitArgs()[number]);
    open_.push_back(loop.getYieldedValues()[number]);
    return;
  }
  auto branch = cast<scf::IfOp>(result.getOwner());
  open_.push_back(branch.thenYield().getOperand(number));
  open_.push_back(branch.elseYield().getOperand(number));
}

// The pointer or view that an operation reads through; null if unknown.
static Value rootOfRead(Operation *op) {
  if (auto load = dyn_cast<ir::ViewLoadOp>(op))
    return rootOf(load.getView());
  if (auto load = dyn_cast<ir::LoadOp>(op))
    return rootOf(load.getPtr());
  return {};
}

static bool mayWrite(Operation *op, Value root) {
  if (auto store = dyn_cast<ir::ViewStoreOp>(op))
    return mayOverlap(root, rootOf(store.getView()));
  if (auto store = dyn_cast<gpu::TensorStoreOp>(op))
    return mayOverlap(root, rootOf(store.getView()));
  if (auto store = dyn_cast<ir::StoreOp>(op))
    return mayOverlap(root, rootOf(store.getPtr()));
  return isa<ir::AtomicRmwOp, ir::AtomicCasOp>(op) && mayOverlap(root, rootOf(op->getOperand(0)));
}

static bool isWritten(Value root, Operation *kernel) {
  return kernel
      ->walk([&](Operation *op) {
        return mayWrite(op, root) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Refusal whyNotApart(const RoleSlice &slice, Operation *kernel,
                    llvm::function_ref<bool(Operation *)> isOfRole) {
  for (Operation *op : slice.operations()) {
    if (isa<ir::TeamIdOp>(op))
      return "what is loaded, or how often, follows from the number of a team";
    if (isa<scf::ForOp, scf::IfOp, gpu::RingAllocOp, gpu::SmemAllocOp>(op) || isOfRole(op))
      continue;
    if (llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
      return "what is loaded, or how often, follows from a tile";
    if (isMemoryEffectFree(op))
      continue;
    if (!isa<ir::LoadOp, ir::ViewLoadOp>(op) || !hasSingleEffect<MemoryEffects::Read>(op))
      return "what is loaded, or how often, follows from an operation with effects";
    if (isWritten(rootOfRead(op), kernel))
      return "what is loaded, or how often, follows from memory that the kernel writes";
  }
  return {};
}

} // namespace tile::passes
