#include "passes/memory/MemoryAccess.h"

#include "ir/Callable.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/gpu/SharedAccesses.h"
#include "passes/analysis/GlobalMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include <limits>

using namespace mlir;

namespace tile::passes {

bool isForeign(Operation *op) { return isa<ir::InlinePtxOp, ir::InlineCudaOp>(op); }

namespace {

Access globalAccess(Operation *op, bool isWrite, Value root) {
  Access access;
  access.op = op, access.isWrite = isWrite;
  access.root = root;
  return access;
}

Access sharedAccess(Operation *op, bool isWrite, int64_t begin, int64_t end) {
  Access access;
  access.op = op, access.isWrite = isWrite, access.isShared = true;
  access.begin = begin, access.end = end;
  return access;
}

Access atomicAccess(Operation *op, Value pointers, ir::MemoryOrder order) {
  Access access = globalAccess(op, true, rootOf(pointers));
  access.acquires = order == ir::MemoryOrder::Acquire || order == ir::MemoryOrder::AcqRel;
  access.releases = order == ir::MemoryOrder::Release || order == ir::MemoryOrder::AcqRel;
  return access;
}

bool usesShared(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        auto call = dyn_cast<func::CallOp>(op);
        func::FuncOp callee = call ? ir::callableOf(call) : func::FuncOp();
        bool uses = isa<gpu::SmemAllocOp>(op) || (callee && usesShared(callee));
        return uses ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Accesses sharedAccessesOf(gpu::SharedAccessOp op) {
  Accesses accesses;
  for (const gpu::SharedAccess &part : op.getSharedAccesses()) {
    Access access = sharedAccess(op, part.isWrite, 0, std::numeric_limits<int64_t>::max());
    if (auto alloc = part.memory.getDefiningOp<gpu::SmemAllocOp>()) { // else it may be anywhere
      int64_t offset = alloc.getOffset().value_or(0);
      access.begin = offset + part.begin;
      access.end = offset + part.end;
      access.allocation = alloc.getResult();
      access.isOfTeams = alloc.getScope() == gpu::Scope::Block;
    } else if (auto stage = part.memory.getDefiningOp<gpu::SmemStageOp>()) { // at a run-time offset
      gpu::SmemAllocOp stages = gpu::allocationOf(stage);
      access.allocation = stages.getResult();
      access.isStage = true;
      access.isOfTeams = stages.getScope() == gpu::Scope::Block;
      APInt distance;
      bool isKnown = matchPattern(stage.getDistance(), m_ConstantInt(&distance));
      int64_t first = isKnown ? distance.getSExtValue() : 0,
              last = isKnown ? first : (stages.getStages() - 1) * stages.getStageStride();
      int64_t offset = stages.getOffset().value_or(0);
      access.begin = offset + first + part.begin;
      access.end = offset + last + part.end;
    }
    accesses.push_back(access);
  }
  return accesses;
}

bool isInShared(Type type) { return isa<gpu::SmemType, gpu::RingType>(type); }

// Does an operation access shared memory, or yield a reference to it? Effects on the default
// resource are on global memory.
bool touchesShared(Operation *op) {
  if (llvm::any_of(op->getOperandTypes(), isInShared) ||
      llvm::any_of(op->getResultTypes(), isInShared))
    return true;
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto withEffects = dyn_cast<MemoryEffectOpInterface>(op))
    withEffects.getEffects(effects);
  return llvm::any_of(effects, [](const MemoryEffects::EffectInstance &effect) {
    return isa<gpu::SharedMemory>(effect.getResource());
  });
}

} // namespace

Accesses accessesOf(Operation *op) {
  if (isa<gpu::CopyAsyncOp, gpu::TensorCopyOp>(op)) {
    Accesses accesses = sharedAccessesOf(cast<gpu::SharedAccessOp>(op));
    accesses.push_back(globalAccess(op, false, rootOf(op->getOperand(0))));
    return accesses;
  }
  if (auto store = dyn_cast<gpu::TensorStoreOp>(op)) {
    Accesses accesses = sharedAccessesOf(store);
    accesses.push_back(globalAccess(op, true, rootOf(store.getView())));
    return accesses;
  }
  if (auto elect = dyn_cast<gpu::ElectOp>(op)) { // holds no barrier: only one thread executes it
    Accesses accesses;
    for (Operation &inner : elect.getBody().front())
      accesses.append(accessesOf(&inner));
    return accesses;
  }
  if (auto shared = dyn_cast<gpu::SharedAccessOp>(op))
    return sharedAccessesOf(shared);
  if (auto load = dyn_cast<ir::ViewLoadOp>(op))
    return {globalAccess(op, false, rootOf(load.getView()))};
  if (auto store = dyn_cast<ir::ViewStoreOp>(op))
    return {globalAccess(op, true, rootOf(store.getView()))};
  if (auto load = dyn_cast<ir::LoadOp>(op))
    return {globalAccess(op, false, rootOf(load.getPtr()))};
  if (auto store = dyn_cast<ir::StoreOp>(op))
    return {globalAccess(op, true, rootOf(store.getPtr()))};
  if (isa<gpu::WorkspaceAddOp, gpu::WorkspaceLoadOp, gpu::WorkspaceStoreOp>(op))
    return {globalAccess(op, isa<gpu::WorkspaceStoreOp>(op), rootOf(op->getOperands().back()))};
  // The shared memory of a function and its callees ends at `end`; that of its callers follows.
  if (auto call = dyn_cast<func::CallOp>(op)) {
    func::FuncOp callee = ir::callableOf(call);
    std::optional<int64_t> end = callee ? gpu::sharedBytesOf(callee) : std::nullopt;
    if (!end || !usesShared(callee))
      return {};
    return {sharedAccess(op, true, 0, *end)};
  }
  // Foreign code may access all of global memory.
  if (isForeign(op) && !isMemoryEffectFree(op))
    return {globalAccess(op, true, Value())};
  if (auto rmw = dyn_cast<ir::AtomicRmwOp>(op))
    return {atomicAccess(op, rmw.getPtr(), rmw.getOrder())};
  if (auto cas = dyn_cast<ir::AtomicCasOp>(op))
    return {atomicAccess(op, cas.getPtr(), cas.getOrder())};
  return {};
}

LogicalResult verifyAccessesKnown(Operation *op) {
  if (touchesShared(op) && !isa<gpu::SharedAccessOp, gpu::SmemAllocOp, gpu::SmemStageOp>(op))
    return op->emitOpError(
        "touches shared memory, but does not say which bytes: barriers cannot be "
        "placed; implement SharedAccessOp");
  bool isWalked = isa<func::FuncOp, scf::ForOp, scf::IfOp, scf::WhileOp, gpu::ElectOp>(op);
  if (op->getNumRegions() && !isWalked && !isMemoryEffectFree(op))
    return op->emitOpError(
        "has a body that accesses memory, but barriers cannot be placed in it: when it is executed "
        "is not known");
  return success();
}

} // namespace tile::passes
