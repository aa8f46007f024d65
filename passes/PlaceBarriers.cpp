// PlaceBarriers: looks at bytes, not at who asked for them. Going through the program it keeps the accesses since the last
// barrier; one that conflicts with any of them gets a barrier before it. Loops are gone round until nothing changes, so
// that the next iteration's first access sees this one's last.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "ir/Callable.h"
#include "ir/LayoutAttr.h"
#include "ir/gpu/SharedAccesses.h"
#include "passes/analysis/GlobalMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <limits>

namespace tile::passes {
#define GEN_PASS_DEF_PLACEBARRIERS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

/// One access: bytes of shared memory, or some of a global argument's tensor.
struct Access {
  Operation *op = nullptr;
  bool isWrite = false;
  bool isShared = false;
  int64_t begin = 0, end = 0; ///< bytes, if shared
  Value allocation;           ///< that the bytes are of, if shared and known
  bool isSlot = false;        ///< one of several of the allocation
  bool isOfTeams = false;     ///< common to all teams that carry out the program
  Value root;                 ///< the pointer argument, if global; null: any
  bool acquires = false;      ///< what comes later must wait for it, whatever it touches
  bool releases = false;      ///< it must wait for what came before

  bool operator==(const Access &) const = default;
};

using Pending = llvm::SmallSetVector<Operation *, 8>;

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

using Accesses = SmallVector<Access, 2>;

bool isForeign(Operation *op) { return isa<ir::InlinePtxOp, ir::InlineCudaOp>(op); }

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

// The bytes that an operation says it touches.
Accesses sharedAccessesOf(gpu::SharedAccessOp op) {
  Accesses accesses;
  for (const gpu::SharedAccess &part : op.getSharedAccesses()) {
    Access access = sharedAccess(op, part.isWrite, 0, std::numeric_limits<int64_t>::max());
    if (auto alloc = part.memory.getDefiningOp<gpu::SmemAllocOp>()) { // else it may be anywhere
      int64_t offset = alloc.getOffset().value_or(0);
      access.begin = offset + part.begin;
      access.end = offset + part.end;
      access.allocation = alloc.getResult();
      access.isOfTeams = alloc.getOfBlock();
    } else if (auto slot =
                   part.memory.getDefiningOp<gpu::SmemSlotOp>()) { // which is seen at run time
      gpu::SmemAllocOp slots = gpu::allocationOf(slot);
      access.allocation = slots.getResult();
      access.isSlot = true;
      access.isOfTeams = slots.getOfBlock();
      APInt distance;
      bool isKnown = matchPattern(slot.getDistance(), m_ConstantInt(&distance));
      int64_t first = isKnown ? distance.getSExtValue() : 0,
              last = isKnown ? first : (slots.getSlots() - 1) * slots.getSlotStride();
      int64_t offset = slots.getOffset().value_or(0);
      access.begin = offset + first + part.begin;
      access.end = offset + last + part.end;
    }
    accesses.push_back(access);
  }
  return accesses;
}

// What an operation touches; nothing for one without accesses. `verifyKnown` refuses those that would be overlooked.
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
  if (auto elect = dyn_cast<gpu::ElectOp>(op)) { // no barrier may stand in it: one thread is there
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
  // A function's shared memory, and that of those it calls, lies before its end; its callers' behind.
  if (auto call = dyn_cast<func::CallOp>(op)) {
    func::FuncOp callee = ir::callableOf(call);
    std::optional<int64_t> end = callee ? gpu::sharedBytesOf(callee) : std::nullopt;
    if (!end || !usesShared(callee))
      return {};
    return {sharedAccess(op, true, 0, *end)};
  }
  // What foreign code touches cannot be seen: all of global memory.
  if (isForeign(op) && !isMemoryEffectFree(op))
    return {globalAccess(op, true, Value())};
  if (auto rmw = dyn_cast<ir::AtomicRmwOp>(op))
    return {atomicAccess(op, rmw.getPtr(), rmw.getOrder())};
  if (auto cas = dyn_cast<ir::AtomicCasOp>(op))
    return {atomicAccess(op, cas.getPtr(), cas.getOrder())};
  return {};
}

bool isInShared(Type type) { return isa<gpu::SmemType, gpu::RingType>(type); }

// Does an operation touch shared memory, or hand a place in it on? Effects on no memory in particular are of global
// memory.
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

// An operation that was overlooked would race: whatever may touch shared memory says how, and bodies that may be
// executed several times or not at all are those that the pass goes through.
LogicalResult verifyKnown(Operation *op) {
  if (touchesShared(op) && !isa<gpu::SharedAccessOp, gpu::SmemAllocOp, gpu::SmemSlotOp>(op))
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

bool isAtomic(Operation *op) {
  auto store = dyn_cast<ir::ViewStoreOp>(op);
  return (store && store.getAdds()) || isa<ir::AtomicRmwOp, ir::AtomicCasOp>(op);
}

// Updates whose order cannot be seen: of one kind that commutes, with results nobody uses.
bool commute(Operation *a, Operation *b) {
  if (isa<ir::ViewStoreOp>(a) && isa<ir::ViewStoreOp>(b))
    return isAtomic(a) && isAtomic(b);
  auto first = dyn_cast<ir::AtomicRmwOp>(a), second = dyn_cast<ir::AtomicRmwOp>(b);
  return first && second && first.getKind() == second.getKind() &&
         first.getKind() != ir::AtomicKind::Xchg && first.getResult().use_empty() &&
         second.getResult().use_empty();
}

// Is the value the same in all iterations of the loops around an operation?
bool isMadeOutsideLoops(Value value, Operation *op) {
  for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>())
    if (!loop.isDefinedOutsideOfLoop(value))
      return false;
  return true;
}

// Each thread touches in both accesses exactly the elements it alone holds: program order suffices. `where` is what names
// the place (view and offsets, or the pointers).
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
  if (a->getBlock() != b->getBlock() || b->isBeforeInBlock(a)) // another iteration may be elsewhere
    return false;
  auto [placeA, typeA] = placeOf(a);
  auto [placeB, typeB] = placeOf(b);
  if (a == b && !llvm::all_of(placeA, [&](Value value) { return isMadeOutsideLoops(value, a); }))
    return false;
  return placeA == placeB && typeA == typeB && gpu::encodingOf(typeA) &&
         gpu::layoutOf(typeA).isInjective();
}

// A place as a value and what is added to it.
std::pair<Value, int64_t> baseAndDistance(Value offset) {
  APInt distance;
  if (auto sum = offset.getDefiningOp<arith::AddIOp>();
      sum && matchPattern(sum.getRhs(), m_ConstantInt(&distance)))
    return {sum.getLhs(), distance.getSExtValue()};
  return {offset, 0};
}

// Parts of one tile: along a dimension one ends before the other begins.
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

// One thread does both, and it is the same one each time.
bool areByElectedThread(const Access &earlier, const Access &later) {
  return isa<gpu::ElectOp>(earlier.op->getParentOp()) && isa<gpu::ElectOp>(later.op->getParentOp());
}

// A slot that the copy engine fills is read behind a wait for the slot's barrier, by all threads that read it.
bool isWaitedFor(const Access &earlier, const Access &later) {
  return isa<gpu::TensorCopyOp>(earlier.op) && earlier.isWrite && !later.isWrite &&
         earlier.allocation && earlier.allocation == later.allocation;
}

// The copy engine fills one of several slots again when it is known to be released, by the protocol of its ring.
bool isRefill(const Access &earlier, const Access &later) {
  return isa<gpu::TensorCopyOp>(later.op) && later.isWrite && !earlier.isWrite && later.isSlot &&
         later.allocation && earlier.allocation == later.allocation;
}

// In a loop whose loads run ahead the protocol of its ring orders accesses of the slots; LowerRings has placed its
// barriers. Fills before the loop may still meet readers of the time that it ran before.
bool areOrderedByRing(const Access &earlier, const Access &later) {
  if (!earlier.isSlot || earlier.allocation != later.allocation)
    return false;
  auto loop = earlier.op->getParentOfType<scf::ForOp>();
  gpu::ScheduleAttr schedule = loop ? gpu::scheduleOf(loop) : gpu::ScheduleAttr();
  return schedule && schedule.getStages() > 1 && loop == later.op->getParentOfType<scf::ForOp>();
}

bool conflict(const Access &earlier, const Access &later) {
  if (!earlier.isShared && !later.isShared && (earlier.acquires || later.releases))
    return true; // the order of one thread's accesses becomes that of the program's
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

// Why there is a barrier between two accesses, for reports.
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

class BarrierPlacer {
public:
  void place(func::FuncOp function) {
    Pending pending;
    do {
      changed_ = false;
      pending.clear();
      visit(function.getBody(), pending);
    } while (changed_);
    for (auto &[op, why] : barriersBefore_) {
      OpBuilder builder(op);
      gpu::BarrierOp::create(builder, op->getLoc(), why.reason).setOfBlock(why.isOfTeams);
    }
  }

private:
  void visit(Region &region, Pending &pending) {
    for (Block &block : region)
      for (Operation &op : block)
        visit(&op, pending);
  }

  void visit(Operation *op, Pending &pending) {
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return visitIf(branch, pending);
    if (isa<scf::ForOp, scf::WhileOp>(op))
      return visitLoop(op, pending);
    if (auto barrier = dyn_cast<gpu::BarrierOp>(op))
      meet(pending, barrier.getOfBlock() || barrier.getBeforeFills());
    else if (isa<ir::DebugBarrierOp>(op))
      meet(pending, /*allTeams=*/false);
    else if (auto placed = barriersBefore_.find(op); placed != barriersBefore_.end())
      meet(pending, placed->second.isOfTeams);
    Accesses accesses = accessesOf(op);
    if (accesses.empty())
      return;
    if (std::optional<Why> why = conflictWith(pending, accesses)) {
      Why &known = barriersBefore_[op];
      changed_ |= known.reason.empty() || (why->isOfTeams && !known.isOfTeams);
      known = {known.reason.empty() ? why->reason : known.reason,
               known.isOfTeams || why->isOfTeams};
      meet(pending, why->isOfTeams);
    }
    pending.insert(op);
  }

  /// Why a barrier stands somewhere, and whether all teams meet there.
  struct Why {
    std::string reason;
    bool isOfTeams = false;
  };

  // Where each team meets by itself, what others do with memory of the block is still pending.
  static void meet(Pending &pending, bool allTeams) {
    pending.remove_if([&](Operation *op) {
      return allTeams ||
             llvm::none_of(accessesOf(op), [](const Access &access) { return access.isOfTeams; });
    });
  }

  // Why the accesses must wait for one that is pending, if they must.
  static std::optional<Why> conflictWith(const Pending &pending, const Accesses &accesses) {
    for (Operation *other : pending)
      for (const Access &earlier : accessesOf(other))
        for (const Access &later : accesses)
          if (conflict(earlier, later))
            return Why{reasonFor(earlier, later), earlier.isOfTeams && later.isOfTeams};
    return std::nullopt;
  }

  void visitIf(scf::IfOp op, Pending &pending) {
    Pending otherwise = pending;
    visit(op.getThenRegion(), pending);
    visit(op.getElseRegion(), otherwise);
    pending.insert(otherwise.begin(), otherwise.end());
  }

  // What is pending at the end of an iteration is pending at the start of the next.
  void visitLoop(Operation *loop, Pending &pending) {
    size_t before;
    do {
      before = pending.size();
      Pending inside = pending;
      for (Region &region : loop->getRegions())
        visit(region, inside);
      pending.insert(inside.begin(), inside.end());
    } while (pending.size() != before);
  }

  bool changed_ = false;
  llvm::MapVector<Operation *, Why> barriersBefore_;
};

struct PlaceBarriers : passes::impl::PlaceBarriersBase<PlaceBarriers> {
  void runOnOperation() final {
    WalkResult known = getOperation().walk([](Operation *op) {
      return failed(verifyKnown(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (known.wasInterrupted())
      return signalPassFailure();
    BarrierPlacer().place(getOperation());
  }
};

} // namespace

} // namespace tile::passes
