// How tiles of registers are stored to views.
#include "ir/LayoutAttr.h"
#include "ir/LayoutOp.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/gpu/DotLayouts.h"
#include "passes/analysis/GlobalMemory.h"
#include "passes/analysis/Sign.h"
#include "passes/variants/TensorAlignment.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tile::passes {

namespace {

// Threads hold a tile as a product by wgmma leaves it if it is computed from the product's result,
// element by element.
bool isComputedFromGroups(Value tile) {
  llvm::SetVector<Value> open;
  auto add = [&](Value value) {
    if (isa<RankedTensorType>(value.getType()))
      open.insert(value);
  };
  add(tile);
  for (size_t i = 0; i < open.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(open[i])) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (loop && argument != loop.getInductionVar())
        add(loop.getTiedLoopYieldedValue(argument)->get());
      continue;
    }
    auto result = cast<OpResult>(open[i]);
    Operation *op = result.getOwner();
    if (auto dot = dyn_cast<ir::DotOp>(op); dot && gpu::isWgmma(dot))
      return true;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      add(loop.getYieldedValues()[result.getResultNumber()]);
    else if (isa<ir::ReshapeOp, ir::ExpandDimsOp, ir::GridSumOp>(op) ||
             gpu::isElementwiseOnTiles(op))
      llvm::for_each(op->getOperands(), add);
  }
  return false;
}

// What both ways beyond plain stores ask of a store.
Refusal whyNotFromDot(ir::ViewStoreOp store) {
  constexpr int64_t kBytes = 2;
  if (store.getAdds())
    return "it adds; threads do so, with what they hold";
  Type element = ir::elementTypeOf(store.getValue().getType());
  if (gpu::bytesOf(element) != kBytes)
    return "its elements have no 16 bits; of others threads store whole sectors";
  if (!isComputedFromGroups(store.getValue()))
    return "no product by wgmma gives the tile";
  return {};
}

// Is at most one of two operations ever carried out, as they are in two arms of a branch that comes
// once?
bool areAlternatives(Operation *a, Operation *b) {
  for (auto branch = a->getParentOfType<scf::IfOp>(); branch;
       branch = branch->getParentOfType<scf::IfOp>())
    if (branch->isProperAncestor(b))
      return !branch->getParentOfType<LoopLikeOpInterface>() &&
             branch.getThenRegion().isAncestor(a->getParentRegion()) !=
                 branch.getThenRegion().isAncestor(b->getParentRegion());
  return false;
}

// Stores by the engine are not ordered with other accesses of the same memory.
bool isAccessedElsewhere(ir::ViewStoreOp store) {
  Value root = rootOf(store.getView());
  auto touches = [&](Operation *op) {
    if (auto load = dyn_cast<ir::ViewLoadOp>(op))
      return mayOverlap(root, rootOf(load.getView()));
    if (auto other = dyn_cast<ir::ViewStoreOp>(op))
      return mayOverlap(root, rootOf(other.getView()));
    if (isa<ir::LoadOp, ir::StoreOp, ir::AtomicRmwOp, ir::AtomicCasOp>(op))
      return mayOverlap(
          root, rootOf(isa<ir::StoreOp>(op) ? cast<ir::StoreOp>(op).getPtr() : op->getOperand(0)));
    return isa<ir::InlinePtxOp, ir::InlineCudaOp, func::CallOp>(op) && !isMemoryEffectFree(op);
  };
  return store->getParentOfType<func::FuncOp>()
      .walk([&](Operation *op) {
        return op != store && touches(op) && !areAlternatives(store, op) ? WalkResult::interrupt()
                                                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

// What is not negative, or outside as a whole if it is: the engine drops what is behind the view's
// end, but takes no place before its beginning.
bool mayBeginBefore(ir::ViewStoreOp store) {
  ArrayRef<gpu::Bounds> bounds = gpu::accessOf(store).getBounds();
  return llvm::any_of(llvm::zip_equal(store.getOffsets(), bounds), [](auto place) {
    auto [offset, bound] = place;
    return bound == gpu::Bounds::EachElement && !isNeverNegative(offset);
  });
}

Refusal refuseTmaStore(Operation *op, const ir::Target &) {
  auto store = cast<ir::ViewStoreOp>(op);
  auto refused = [](const std::string &why) { return "tma refused: " + why; };
  if (Refusal why = whyNotFromDot(store))
    return refused(*why);
  if (store.getCache() != ir::CacheMode::Default || store.getEvict() != ir::Eviction::Normal ||
      store.getIsVolatile())
    return refused("the store asks for a cache mode or is volatile, which it does not take");
  if (Refusal why = whyNoTensor(store, store.getView(), store.getOffsets()))
    return refused(*why);
  if (mayBeginBefore(store))
    return refused("the tile may begin before the view, where it stores nothing");
  if (isAccessedElsewhere(store))
    return refused("the kernel has other accesses of what may be the same memory");
  return {};
}

Refusal refuseQuad(Operation *op, const ir::Target &) {
  constexpr int64_t kElements = 8;
  if (Refusal why = whyNotFromDot(cast<ir::ViewStoreOp>(op)))
    return "quad refused: " + *why;
  if (int64_t vector = gpu::accessOf(op).getVector(); vector < kElements)
    return "quad refused: only " + std::to_string(vector) +
           " elements are known to be neighbours at an address aligned for them; it takes 8";
  return {};
}

const Variant<gpu::StoreVariant> kStoreVariants[] = {
    {gpu::StoreVariant::Tma, refuseTmaStore, &ir::Target::hasTma},
    {gpu::StoreVariant::Quad, refuseQuad, &ir::Target::hasWgmma},
    {gpu::StoreVariant::Vector, refuseVector},
    {gpu::StoreVariant::Scalar, refuseNothing}};

} // namespace

// Stores through pointers have the last two.
ArrayRef<Variant<gpu::StoreVariant>> storeVariants(Operation *store) {
  return isa<ir::ViewStoreOp>(store) ? ArrayRef(kStoreVariants)
                                     : ArrayRef(kStoreVariants).drop_front(2);
}

} // namespace tile::passes
