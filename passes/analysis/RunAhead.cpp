#include "passes/analysis/RunAhead.h"

#include "ir/LayoutOp.h"
#include "ir/gpu/DotLayouts.h"
#include "passes/analysis/GlobalMemory.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tile::passes {

SmallVector<Value> takenBy(Operation *op) {
  llvm::SetVector<Value> taken(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), taken);
  return taken.takeVector();
}

namespace {

bool dropsUnitsAlone(ir::ReshapeOp reshape) {
  auto withoutUnits = [](Value tile) {
    return llvm::filter_to_vector(ir::shapeOf(tile.getType()), [](int64_t n) { return n != 1; });
  };
  return withoutUnits(reshape.getInput()) == withoutUnits(reshape.getResult());
}

bool keepsTile(Operation *op) {
  auto reshape = dyn_cast<ir::ReshapeOp>(op);
  return isa<gpu::ConvertLayoutOp>(op) || (reshape && dropsUnitsAlone(reshape));
}

// Is each element of the result made from one of the operand, or a copy of it?
bool keepsElements(Operation *op) {
  return keepsTile(op) || gpu::isElementwiseOnTiles(op) ||
         isa<ir::ReshapeOp, ir::PermuteOp, ir::ExpandDimsOp, ir::BroadcastOp>(op);
}

// The values that follow from `value` through operations of a kind, and through branches that give
// them; itself first.
SmallVector<Value> derivedFrom(Value value, bool (*passesOn)(Operation *)) {
  llvm::SetVector<Value> derived;
  derived.insert(value);
  for (size_t i = 0; i < derived.size(); ++i)
    for (OpOperand &use : Value(derived[i]).getUses()) {
      Operation *user = use.getOwner();
      if (passesOn(user))
        derived.insert_range(user->getResults());
      else if (auto branch = dyn_cast<scf::IfOp>(user->getParentOp());
               branch && isa<scf::YieldOp>(user))
        derived.insert(branch.getResult(use.getOperandNumber()));
    }
  return derived.takeVector();
}

// A product's operand, or staged in a ring, which is what products read.
bool isForDot(OpOperand &use) {
  return gpu::isDotOperand(use) || isa<gpu::RingPutOp>(use.getOwner());
}

// Do products, of one block if it is not null, take one of these tiles as an operand?
bool anyIsOperand(ArrayRef<Value> tiles, Block *block) {
  return llvm::any_of(tiles, [&](Value tile) {
    return llvm::any_of(tile.getUses(), [&](OpOperand &use) {
      return isForDot(use) && (!block || use.getOwner()->getBlock() == block);
    });
  });
}

// What a read of memory goes through; null if it cannot be seen.
Value rootOfRead(Operation *read) {
  if (auto load = dyn_cast<ir::ViewLoadOp>(read))
    return rootOf(load.getView());
  if (auto load = dyn_cast<ir::LoadOp>(read))
    return rootOf(load.getPtr());
  return {};
}

bool isOrdering(Operation *op) {
  auto orders = [](ir::MemoryOrder order) { return order != ir::MemoryOrder::Relaxed; };
  if (auto rmw = dyn_cast<ir::AtomicRmwOp>(op))
    return orders(rmw.getOrder());
  if (auto cas = dyn_cast<ir::AtomicCasOp>(op))
    return orders(cas.getOrder());
  return isa<ir::DebugBarrierOp>(op);
}

// What in a loop makes it matter when a read through `root` happens; empty if nothing does.
Refusal whyNotAheadOf(Value root, scf::ForOp loop) {
  std::string found;
  auto mayWrite = [&](Value written, const char *what) {
    if (mayOverlap(root, written))
      found = what;
  };
  loop.walk([&](Operation *op) {
    if (isOrdering(op))
      found = "the loop orders accesses of memory";
    else if (auto store = dyn_cast<ir::ViewStoreOp>(op))
      mayWrite(rootOf(store.getView()), "the loop stores to what may be the same memory");
    else if (auto store = dyn_cast<ir::StoreOp>(op))
      mayWrite(rootOf(store.getPtr()), "the loop stores to what may be the same memory");
    else if (isa<ir::AtomicRmwOp, ir::AtomicCasOp>(op))
      mayWrite(rootOf(op->getOperand(0)), "the loop has atomics on what may be the same memory");
    else if (isa<ir::InlinePtxOp, ir::InlineCudaOp, func::CallOp>(op) && !isMemoryEffectFree(op))
      found = "the loop calls code whose accesses of memory cannot be seen";
    return found.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return found;
}

/// Collects a slice from its values backwards.
class SliceBuilder {
public:
  explicit SliceBuilder(scf::ForOp loop) : loop_(loop) {}

  std::optional<AheadSlice> build(ValueRange values, Refusal *why) {
    SmallVector<Operation *> ops, steps;
    bool isKnown = collect(values, ops, /*mayRead=*/true);
    for (size_t i = 0; isKnown && i < slice_.carried.size(); ++i)
      isKnown = collect(nextOf(slice_.carried[i]), steps, /*mayRead=*/false);
    if (!isKnown)
      return tile::refuse(why, std::move(refusal_));
    slice_.ops = inOrder(ops), slice_.steps = inOrder(steps);
    return std::move(slice_);
  }

private:
  Value nextOf(BlockArgument variable) { return loop_.getTiedLoopYieldedValue(variable)->get(); }

  bool collect(ValueRange values, SmallVector<Operation *> &ops, bool mayRead) {
    SmallVector<Value> open(values.begin(), values.end());
    while (!open.empty()) {
      Value value = open.pop_back_val();
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        if (argument.getOwner() == loop_.getBody() && argument != loop_.getInductionVar() &&
            !addVariable(argument))
          return false;
        continue;
      }
      Operation *op = value.getDefiningOp();
      if (!loop_->isProperAncestor(op) || llvm::is_contained(ops, op))
        continue;
      if (!isRepeatable(op, mayRead))
        return false;
      ops.push_back(op);
      llvm::append_range(open, takenBy(op));
    }
    return true;
  }

  bool addVariable(BlockArgument argument) {
    if (isa<RankedTensorType>(argument.getType()))
      return refuse("its place follows from a tile that the loop carries");
    slice_.carried.insert(argument);
    return true;
  }

  bool isRepeatable(Operation *op, bool mayRead) {
    if (op->getBlock() != loop_.getBody() || (op->getNumRegions() && !isBranchOfScalars(op)))
      return refuse("its place is computed in a branch, a loop or a reduction");
    if (isa<ir::DotOp>(op))
      return refuse("its place follows from a product of the same iteration");
    if (auto load = dyn_cast<ir::ViewLoadOp>(op); load && feedsDot(load))
      return refuse("its place follows from a tile that a product reads");
    if (isMemoryEffectFree(op))
      return true;
    if (!isa<ir::LoadOp, ir::ViewLoadOp>(op) || !hasSingleEffect<MemoryEffects::Read>(op))
      return refuse("its place follows from an operation with effects");
    if (!mayRead)
      return refuse("its place follows from memory read in each iteration before");
    Refusal why = whyNotAheadOf(rootOfRead(op), loop_);
    return !why || refuse(std::move(why));
  }

  // As that to the next place of a flattened nest.
  static bool isBranchOfScalars(Operation *op) {
    return isa<scf::IfOp>(op) && isMemoryEffectFree(op) &&
           llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
  }

  bool refuse(Refusal because) {
    refusal_ = std::move(because);
    return false;
  }

  static llvm::SetVector<Operation *> inOrder(SmallVector<Operation *> ops) {
    llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    return llvm::SetVector<Operation *>(ops.begin(), ops.end());
  }

  scf::ForOp loop_;
  AheadSlice slice_;
  Refusal refusal_;
};

} // namespace

bool AheadSlice::isSpeculatable() const {
  return llvm::all_of(ops, [](Operation *op) { return isPure(op); });
}

std::optional<AheadSlice> aheadSlice(ValueRange values, scf::ForOp loop, Refusal *why) {
  return SliceBuilder(loop).build(values, why);
}

ir::ViewLoadOp loadBehind(Value operand) {
  Operation *op = operand.getDefiningOp();
  while (op && keepsTile(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<ir::ViewLoadOp>(op);
}

bool feedsDot(Value tile) { return anyIsOperand(derivedFrom(tile, keepsElements), nullptr); }

SmallVector<OpOperand *> dotsFedBy(Value tile) {
  SmallVector<OpOperand *> operands;
  for (Value derived : derivedFrom(tile, keepsElements))
    for (OpOperand &use : derived.getUses())
      if (gpu::isDotOperand(use))
        operands.push_back(&use);
  return operands;
}

bool feedsDot(ir::ViewLoadOp load) { return feedsDot(load.getResult()); }

SmallVector<gpu::ProducerAcquireOp> ringsOf(scf::ForOp loop) {
  SmallVector<gpu::ProducerAcquireOp> rings;
  for (auto acquire : loop.getBody()->getOps<gpu::ProducerAcquireOp>())
    if (!matchPattern(acquire.getFill(), m_Constant()))
      rings.push_back(acquire);
  return rings;
}

Refusal whyNotAhead(ir::ViewLoadOp load) {
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  if (!loop)
    return "it does not stand in the body of a loop itself";
  if (!anyIsOperand(derivedFrom(load.getResult(), keepsElements), loop.getBody()))
    return "its product does not stand in the same body";
  if (load.getIsVolatile())
    return "it is volatile";
  Refusal why;
  if (!aheadSlice(load->getOperands(), loop, &why))
    return why;
  return whyNotAheadOf(rootOf(load.getView()), loop);
}

} // namespace tile::passes
