#include "passes/memory/AccessConflicts.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/LoopAnnotations.h"
#include "passes/analysis/GlobalMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include <limits>

using namespace mlir;

namespace tile::passes {

namespace {

bool isAtomic(Operation *op) {
  auto store = dyn_cast<ir::ViewStoreOp>(op);
  return (store && store.getAdds()) || isa<ir::AtomicRmwOp, ir::AtomicCasOp>(op);
}

// Updates whose order cannot be observed: of one kind that commutes, and whose results are unused.
bool commute(Operation *a, Operation *b) {
  if (isa<ir::ViewStoreOp>(a) && isa<ir::ViewStoreOp>(b))
    return isAtomic(a) && isAtomic(b);
  auto first = dyn_cast<ir::AtomicRmwOp>(a), second = dyn_cast<ir::AtomicRmwOp>(b);
  return first && second && first.getKind() == second.getKind() &&
         first.getKind() != ir::AtomicKind::Xchg && first.getResult().use_empty() &&
         second.getResult().use_empty();
}

// Is the value invariant in all loops around an operation?
bool isMadeOutsideLoops(Value value, Operation *op) {
  for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>())
    if (!loop.isDefinedOutsideOfLoop(value))
      return false;
  return true;
}

// Does each thread access the same elements in both, which no other thread holds? Then program
// order suffices.
bool isSamePlaceInSameThread(Operation *a, Operation *b) {
  auto placeOf = [](Operation *op) -> std::pair<SmallVector<Value>, Type> {
    if (auto load = dyn_cast<ir::ViewLoadOp>(op))
      return {SmallVector<Value>(load->getOperands()), load.getResult().getType()};
    if (auto store = dyn_cast<ir::ViewStoreOp>(op))
      return {SmallVector<Value>(store->getOperands().drop_front()), store.getValue().getType()};
    if (auto load = dyn_cast<ir::LoadOp>(op))
      return {{load.getPtr()}, load.getResult().getType()};
    return {{cast<ir::StoreOp>(op).getPtr()}, op->getOperand(0).getType()};
  };
  if (a->getBlock() != b->getBlock() ||
      b->isBeforeInBlock(a)) // another iteration may access other elements
    return false;
  auto [placeA, typeA] = placeOf(a);
  auto [placeB, typeB] = placeOf(b);
  if (a == b && !llvm::all_of(placeA, [&](Value value) { return isMadeOutsideLoops(value, a); }))
    return false;
  return placeA == placeB && typeA == typeB && gpu::encodingOf(typeA) &&
         gpu::layoutOf(typeA).isInjective();
}

// An offset as a value plus a constant.
std::pair<Value, int64_t> baseAndDistance(Value offset) {
  APInt distance;
  if (auto sum = offset.getDefiningOp<arith::AddIOp>();
      sum && matchPattern(sum.getRhs(), m_ConstantInt(&distance)))
    return {sum.getLhs(), distance.getSExtValue()};
  return {offset, 0};
}

// Are these two subtiles of one tile, disjoint along some dimension?
bool areApart(Operation *a, Operation *b) {
  auto first = dyn_cast<ir::ViewStoreOp>(a), second = dyn_cast<ir::ViewStoreOp>(b);
  if (!first || !second || first.getView() != second.getView() || a->getBlock() != b->getBlock() ||
      !a->isBeforeInBlock(b)) // else of another iteration
    return false;
  ArrayRef<int64_t> shape = ir::shapeOf(first.getValue().getType()),
                    other = ir::shapeOf(second.getValue().getType());
  for (auto [dim, offsets] :
       llvm::enumerate(llvm::zip_equal(first.getOffsets(), second.getOffsets()))) {
    auto [base, distance] = baseAndDistance(std::get<0>(offsets));
    auto [otherBase, otherDistance] = baseAndDistance(std::get<1>(offsets));
    if (base == otherBase &&
        (distance + shape[dim] <= otherDistance || otherDistance + other[dim] <= distance))
      return true;
  }
  return false;
}

// One thread executes both, and it is the same thread each time.
bool areByElectedThread(const Access &earlier, const Access &later) {
  return isa<gpu::ElectOp>(earlier.op->getParentOp()) && isa<gpu::ElectOp>(later.op->getParentOp());
}

// Every thread that reads a stage which TMA fills has waited at the stage's *full* mbarrier.
bool isWaitedFor(const Access &earlier, const Access &later) {
  return isa<gpu::TensorCopyOp>(earlier.op) && earlier.isWrite && !later.isWrite &&
         earlier.allocation && earlier.allocation == later.allocation;
}

// TMA refills one of several stages only after its release, by the protocol of its ring.
bool isRefill(const Access &earlier, const Access &later) {
  return isa<gpu::TensorCopyOp>(later.op) && later.isWrite && !earlier.isWrite && later.isStage &&
         later.allocation && earlier.allocation == later.allocation;
}

// In a loop whose loads run ahead the ring's protocol orders accesses to its stages, and LowerRings
// has placed the barriers. Fills before the loop may still conflict with readers of an earlier run.
bool areOrderedByRing(const Access &earlier, const Access &later) {
  if (!earlier.isStage || earlier.allocation != later.allocation)
    return false;
  auto loop = earlier.op->getParentOfType<scf::ForOp>();
  gpu::LoopPlanAttr plan = loop ? gpu::loopPlanOf(loop) : gpu::LoopPlanAttr();
  return plan && plan.getStages() > 1 && loop == later.op->getParentOfType<scf::ForOp>();
}

} // namespace

bool conflict(const Access &earlier, const Access &later) {
  if (!earlier.isShared && !later.isShared && (earlier.acquires || later.releases))
    return true; // orders all threads of the program, through this one
  if (earlier.isShared != later.isShared || (!earlier.isWrite && !later.isWrite))
    return false;
  if (earlier.isShared)
    return earlier.begin < later.end && later.begin < earlier.end &&
           !areOrderedByRing(earlier, later) && !isWaitedFor(earlier, later) &&
           !isRefill(earlier, later) && !areByElectedThread(earlier, later);
  if (!mayOverlap(earlier.root, later.root))
    return false;
  if (isForeign(earlier.op) || isForeign(later.op))
    return true;
  if (isAtomic(earlier.op) || isAtomic(later.op)) // its elements may share an address
    return !commute(earlier.op, later.op);
  if (isa<gpu::TensorStoreOp>(earlier.op) || isa<gpu::TensorStoreOp>(later.op))
    return !areByElectedThread(earlier, later);
  return !isSamePlaceInSameThread(earlier.op, later.op) && !areApart(earlier.op, later.op);
}

std::string reasonFor(const Access &earlier, const Access &later) {
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  std::string what = earlier.isShared ? "shared memory" : "global memory";
  if (earlier.isShared && earlier.end != kEnd && later.end != kEnd)
    what += " bytes " + std::to_string(std::max(earlier.begin, later.begin)) + " to " +
            std::to_string(std::min(earlier.end, later.end) - 1);
  auto verb = [](const Access &access) { return std::string(access.isWrite ? "write" : "read"); };
  bool isRoundLoop = earlier.op == later.op || (earlier.op->getBlock() == later.op->getBlock() &&
                                                later.op->isBeforeInBlock(earlier.op));
  return verb(later) + " after " + verb(earlier) + " of " + what +
         (isRoundLoop ? " in the iteration before" : "");
}

} // namespace tile::passes
