// How layouts go through each operation of `tile` (LayoutOp). Derived from the algebra, so that
// nothing moves.
#include "ir/LayoutAttr.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/gpu/DotLayouts.h"
#include "ir/layout/Derived.h"
#include "ir/layout/Exchange.h"
#include "ir/layout/Reduce.h"
#include "ir/layout/Scan.h"

using namespace mlir;

namespace tile::ir {

using gpu::LayoutAttr;
using gpu::LayoutClaim;
using gpu::Strength;

using Values = SmallVector<Value>;

namespace {

RankedTensorType tileOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

layout::Layout laid(Value tile, LayoutAttr layout) {
  return gpu::layoutOf(tileOf(tile).getShape(), layout);
}

LayoutAttr attributeOf(Operation *op, const layout::Layout &layout) {
  return gpu::attributeOf(op->getContext(), layout);
}

LayoutClaim defaultClaim(Value tile, int64_t warps) {
  return tileOf(tile) ? LayoutClaim{gpu::defaultLayout(tileOf(tile), warps), Strength::Default}
                      : LayoutClaim();
}

// Of operations whose results lie as their operand goes through them, when nothing is known of the
// operand.
LayoutClaim throughDefault(gpu::LayoutOp op, Value operand, int64_t warps) {
  LayoutAttr result = op.getResultLayout(gpu::defaultLayout(tileOf(operand), warps));
  return result ? LayoutClaim{result, Strength::Default} : LayoutClaim();
}

} // namespace

// --- Accesses of memory: neighbours in memory are neighbours in a warp ------------------------------

static LayoutClaim claimOfLoad(Operation *load, int64_t warps) {
  RankedTensorType tile = tileOf(load->getResult(0));
  if (!tile)
    return {};
  gpu::AccessAttr known = gpu::accessOf(load);
  int64_t vector = known ? known.getVector() : 0;
  bool fillsWord = vector * gpu::bytesOf(tile.getElementType()) >= layout::kMaxVectorBytes;
  return {gpu::coalescedLayout(load, tile, warps), Strength::Access, fillsWord ? vector : 0};
}

Values ViewLoadOp::getLayoutSources() { return {}; }
LayoutClaim ViewLoadOp::getWantedLayout(int64_t warps) { return claimOfLoad(*this, warps); }

Values LoadOp::getLayoutSources() { return {}; }
LayoutClaim LoadOp::getWantedLayout(int64_t warps) { return claimOfLoad(*this, warps); }
LayoutAttr LoadOp::getOperandLayout(OpOperand &, LayoutAttr result) { return result; }

// Atomics go element by element: neighbours in neighbouring lanes.
static LayoutClaim claimOfAtomic(Operation *atomic, int64_t warps) {
  RankedTensorType tile = tileOf(atomic->getResult(0));
  layout::Shape shape(tile.getShape().begin(), tile.getShape().end());
  std::vector<int32_t> order;
  for (int32_t dim = tile.getRank(); dim-- > 0;)
    order.push_back(dim);
  return {attributeOf(atomic, layout::Layout::coalesced(shape, order, 1, warps)), Strength::Access};
}

LayoutClaim AtomicRmwOp::getWantedLayout(int64_t warps) { return claimOfAtomic(*this, warps); }
LayoutAttr AtomicRmwOp::getResultLayout(LayoutAttr source) { return source; }
LayoutAttr AtomicRmwOp::getOperandLayout(OpOperand &, LayoutAttr result) { return result; }

LayoutClaim AtomicCasOp::getWantedLayout(int64_t warps) { return claimOfAtomic(*this, warps); }
LayoutAttr AtomicCasOp::getResultLayout(LayoutAttr source) { return source; }
LayoutAttr AtomicCasOp::getOperandLayout(OpOperand &, LayoutAttr result) { return result; }

// --- Products: the variant decides ------------------------------------------------------------------

Values DotOp::getLayoutSources() { return {}; }

LayoutClaim DotOp::getWantedLayout(int64_t) {
  auto layouts = gpu::layoutsOf(*this);
  return layouts ? LayoutClaim{attributeOf(*this, layouts->acc), Strength::Product} : LayoutClaim();
}

LayoutAttr DotOp::getOperandLayout(OpOperand &operand, LayoutAttr result) {
  if (!gpu::isDotOperand(operand))
    return result;
  auto layouts = gpu::layoutsOf(*this);
  auto fragment = !layouts ? std::nullopt : operand.getOperandNumber() ? layouts->b : layouts->a;
  return fragment ? attributeOf(*this, *fragment) : LayoutAttr();
}

// Factors without a fragment are read from shared memory.
bool DotOp::takesAnyLayout(OpOperand &operand) {
  return gpu::isDotOperand(operand) && gpu::readsSharedMemory(operand);
}

// --- Changes of shape ---------------------------------------------------------------------------------

// Broadcasts and what leads to them are made where they are needed, from the collapsed layout:
// nothing moves.
Values BroadcastOp::getLayoutSources() { return {}; }

LayoutAttr BroadcastOp::getOperandLayout(OpOperand &, LayoutAttr result) {
  layout::Layout target = laid(getResult(), result);
  RankedTensorType from = tileOf(getInput()), to = tileOf(getResult());
  for (int64_t dim = 0; dim < to.getRank(); ++dim)
    if (from.getDimSize(dim) != to.getDimSize(dim))
      target = layout::collapse(target, dim);
  return attributeOf(*this, target);
}

Values ExpandDimsOp::getLayoutSources() { return {}; }

LayoutAttr ExpandDimsOp::getOperandLayout(OpOperand &, LayoutAttr result) {
  return attributeOf(*this, layout::reduceAxis(laid(getResult(), result), getAxis()));
}

// What is resized goes through shared memory.
Values ResizeOp::getLayoutSources() { return {}; }
bool ResizeOp::takesAnyLayout(OpOperand &) { return true; }

// So is what blocks of a cluster add up, once: the sum is asked for in no other layout.
Values ClusterSumOp::getLayoutSources() { return {}; }
LayoutClaim ClusterSumOp::getWantedLayout(int64_t warps) {
  return {gpu::defaultLayout(tileOf(getResult()), warps), Strength::Access};
}
bool ClusterSumOp::takesAnyLayout(OpOperand &) { return true; }

// Programs hand over what each thread has, and each thread adds up its own.
LayoutAttr GridSumOp::getResultLayout(LayoutAttr source) { return source; }
LayoutAttr GridSumOp::getOperandLayout(OpOperand &, LayoutAttr result) { return result; }

LayoutAttr PermuteOp::getResultLayout(LayoutAttr source) {
  return attributeOf(*this, layout::permute(laid(getInput(), source), getOrder().vec()));
}

LayoutAttr PermuteOp::getOperandLayout(OpOperand &, LayoutAttr result) {
  std::vector<int32_t> inverse(getOrder().size());
  for (auto [i, dim] : llvm::enumerate(getOrder()))
    inverse[dim] = i;
  return attributeOf(*this, layout::permute(laid(getResult(), result), inverse));
}

// Null where an odd factor would not stay outermost in its dimension.
static LayoutAttr reshaped(Operation *op, const layout::Layout &from, Value to) {
  ArrayRef<int64_t> shape = tileOf(to).getShape();
  auto result = layout::reshape(from, layout::Shape(shape.begin(), shape.end()));
  return result ? attributeOf(op, *result) : LayoutAttr();
}

LayoutAttr ReshapeOp::getResultLayout(LayoutAttr source) {
  return reshaped(*this, laid(getInput(), source), getResult());
}

LayoutAttr ReshapeOp::getOperandLayout(OpOperand &, LayoutAttr result) {
  return reshaped(*this, laid(getResult(), result), getInput());
}

// --- Pairs --------------------------------------------------------------------------------------------

LayoutAttr JoinOp::getResultLayout(LayoutAttr source) {
  return attributeOf(*this, layout::joined(laid(getA(), source)));
}

LayoutAttr JoinOp::getOperandLayout(OpOperand &, LayoutAttr result) {
  layout::Layout target = laid(getResult(), result);
  return attributeOf(*this, layout::reduceAxis(target, target.rank() - 1));
}

LayoutAttr HalfOp::getResultLayout(LayoutAttr source) {
  layout::Layout from = laid(getInput(), source);
  return attributeOf(*this, layout::reduceAxis(from, from.rank() - 1));
}

LayoutAttr HalfOp::getOperandLayout(OpOperand &, LayoutAttr result) {
  return attributeOf(*this, layout::joined(laid(getResult(), result)));
}

// Where mirroring a tile moves nothing between warps.
static layout::Layout mirrored(const layout::Layout &source, FlipOp flip) {
  auto axis = static_cast<int>(flip.getAxis());
  return layout::exchangeable(source, axis, static_cast<int32_t>(source.pow2Shape()[axis] - 1));
}

LayoutClaim FlipOp::getWantedLayout(int64_t warps) {
  return throughDefault(cast<gpu::LayoutOp>(getOperation()), getInput(), warps);
}

LayoutAttr FlipOp::getResultLayout(LayoutAttr source) {
  return attributeOf(*this, mirrored(laid(getInput(), source), *this));
}

LayoutAttr FlipOp::getOperandLayout(OpOperand &, LayoutAttr result) {
  layout::Layout target = laid(getResult(), result);
  return mirrored(target, *this) == target ? result : LayoutAttr();
}

// --- Along an axis ------------------------------------------------------------------------------------

LayoutClaim ReduceOp::getWantedLayout(int64_t warps) {
  return throughDefault(cast<gpu::LayoutOp>(getOperation()), getInputs()[0], warps);
}

LayoutAttr ReduceOp::getResultLayout(LayoutAttr source) {
  layout::Layout from = laid(getInputs()[0], source);
  if (from.rank() == 1)
    return {};
  auto axis = static_cast<int>(getAxis());
  return attributeOf(*this, layout::reduceAxis(layout::reducible(from, axis), axis));
}

LayoutAttr ReduceOp::getReducibleLayout(LayoutAttr source) {
  layout::Layout from = laid(getInputs()[0], source);
  return attributeOf(*this, layout::reducible(from, static_cast<int>(getAxis())));
}

LayoutClaim ScanOp::getWantedLayout(int64_t warps) {
  return throughDefault(cast<gpu::LayoutOp>(getOperation()), getInputs()[0], warps);
}

LayoutAttr ScanOp::getResultLayout(LayoutAttr source) {
  layout::Layout from = laid(getInputs()[0], source);
  return attributeOf(*this, layout::scannable(from, static_cast<int>(getAxis())));
}

LayoutAttr ScanOp::getOperandLayout(OpOperand &, LayoutAttr result) { return result; }

// --- By index: data go through shared memory ------------------------------------------------------------

Values GatherOp::getLayoutSources() { return {getIndices()}; }
LayoutClaim GatherOp::getWantedLayout(int64_t warps) { return defaultClaim(getResult(), warps); }
LayoutAttr GatherOp::getResultLayout(LayoutAttr source) { return source; }
LayoutAttr GatherOp::getOperandLayout(OpOperand &, LayoutAttr result) { return result; }
bool GatherOp::takesAnyLayout(OpOperand &operand) { return operand.getOperandNumber() == 0; }

Values HistogramOp::getLayoutSources() { return {}; }
LayoutClaim HistogramOp::getWantedLayout(int64_t warps) { return defaultClaim(getResult(), warps); }

// --- Foreign code takes elements of all tiles together, wherever they lie -------------------------------

LayoutClaim InlinePtxOp::getWantedLayout(int64_t warps) {
  return getNumResults() ? defaultClaim(getResult(0), warps) : LayoutClaim();
}
LayoutAttr InlinePtxOp::getResultLayout(LayoutAttr source) { return source; }
LayoutAttr InlinePtxOp::getOperandLayout(OpOperand &, LayoutAttr result) { return result; }

LayoutClaim InlineCudaOp::getWantedLayout(int64_t warps) {
  return defaultClaim(getResult(), warps);
}
LayoutAttr InlineCudaOp::getResultLayout(LayoutAttr source) { return source; }
LayoutAttr InlineCudaOp::getOperandLayout(OpOperand &, LayoutAttr result) { return result; }

} // namespace tile::ir
