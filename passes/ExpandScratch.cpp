// ExpandScratch: makes explicit what code generation would otherwise do behind AllocateShared's back. A change of layout
// that shuffles cannot do, and the step of a reduction that crosses warps, become alloc, store, load.
#include "passes/Passes.h"

#include "ir/LayoutAttr.h"
#include "ir/layout/Conversion.h"
#include "ir/layout/Derived.h"
#include "ir/layout/SharedAccess.h"
#include "mlir/IR/IRMapping.h"

namespace tile::passes {
#define GEN_PASS_DEF_EXPANDSCRATCH
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

// The tile in another layout, by way of shared memory.
Value exchange(OpBuilder &builder, Location loc, Value tile, RankedTensorType target) {
  auto source = cast<RankedTensorType>(tile.getType());
  auto shared = layout::scratchSwizzle(gpu::layoutOf(source), gpu::layoutOf(target),
                                       static_cast<int>(gpu::bytesOf(source.getElementType())));
  auto type = gpu::SmemType::get(builder.getContext(), source.getShape(), source.getElementType(),
                                 gpu::attributeOf(builder.getContext(), shared));
  Value smem = gpu::SmemAllocOp::create(builder, loc, type, IntegerAttr());
  gpu::SmemStoreOp::create(builder, loc, tile, smem);
  return gpu::SmemLoadOp::create(builder, loc, target, smem);
}

void expandChange(gpu::ConvertLayoutOp change) {
  Type from = change.getInput().getType(), to = change.getResult().getType();
  if (layout::planConversion(gpu::layoutOf(from), gpu::layoutOf(to)).kind != layout::ConversionKind::SharedMemory)
    return;
  OpBuilder builder(change);
  change.replaceAllUsesWith(exchange(builder, change.getLoc(), change.getInput(), cast<RankedTensorType>(to)));
  change.erase();
}

// The layout after each warp has reduced what it holds: along the axis one element a warp.
layout::Layout partialLayout(const layout::Layout &source, int axis, int64_t warpsAlongAxis) {
  layout::Shape shape = source.shape();
  shape[axis] = warpsAlongAxis;
  layout::Bases bases = source.bases();
  auto isAlong = [&](const layout::Coords &vector) { return vector[axis] != 0; };
  std::erase_if(bases[0], isAlong);
  for (layout::Coords &vector : bases[1])
    if (isAlong(vector))
      vector.assign(vector.size(), 0);
  int32_t next = 1;
  for (layout::Coords &vector : bases[2])
    if (isAlong(vector)) {
      vector.assign(vector.size(), 0);
      vector[axis] = next;
      next *= 2;
    }
  return layout::Layout::create(shape, std::move(bases)).value_or(layout::Layout());
}

// Where the second step wants the partial results: all of them in each thread that holds the result.
layout::Layout gatheredLayout(const layout::Layout &source, int axis, int64_t warpsAlongAxis) {
  if (source.rank() == 1)
    return layout::Layout::replicated({warpsAlongAxis}, source.numWarps());
  return layout::broadcast(layout::expandDims(layout::reduceAxis(source, axis), axis), axis, warpsAlongAxis);
}

RankedTensorType tileType(RankedTensorType like, const layout::Layout &layout) {
  return RankedTensorType::get(ArrayRef(layout.shape()), like.getElementType(),
                               gpu::attributeOf(like.getContext(), layout));
}

void expandReduce(ir::ReduceOp reduce) {
  auto type = cast<RankedTensorType>(reduce.getInputs()[0].getType());
  if (!gpu::encodingOf(type))
    return; // no kernel: it is not carried out
  auto axis = static_cast<int>(reduce.getAxis());
  int64_t warps = gpu::warpsAlong(gpu::encodingOf(type), axis);
  if (warps == 1)
    return;
  layout::Layout source = gpu::layoutOf(type);
  layout::Layout partial = partialLayout(source, axis, warps), gathered = gatheredLayout(source, axis, warps);
  OpBuilder builder(reduce);
  SmallVector<Type> partialTypes;
  for (Value input : reduce.getInputs())
    partialTypes.push_back(tileType(cast<RankedTensorType>(input.getType()), partial));
  auto inWarps = gpu::ReducePartialOp::create(builder, reduce.getLoc(), partialTypes, reduce.getInputs(),
                                              reduce.getAxisAttr());
  IRMapping mapping;
  reduce.getCombine().cloneInto(&inWarps.getCombine(), mapping);
  Operation *yield = inWarps.getCombine().front().getTerminator();
  OpBuilder inside(yield);
  gpu::YieldOp::create(inside, yield->getLoc(), yield->getOperands());
  yield->erase();
  for (auto [operand, result] : llvm::zip_equal(reduce->getOpOperands(), inWarps.getResults()))
    operand.set(exchange(builder, reduce.getLoc(), result, tileType(cast<RankedTensorType>(result.getType()), gathered)));
}

struct ExpandScratch : passes::impl::ExpandScratchBase<ExpandScratch> {
  void runOnOperation() final {
    SmallVector<ir::ReduceOp> reductions;
    SmallVector<gpu::ConvertLayoutOp> changes;
    getOperation().walk([&](Operation *op) {
      if (auto reduce = dyn_cast<ir::ReduceOp>(op))
        reductions.push_back(reduce);
      if (auto change = dyn_cast<gpu::ConvertLayoutOp>(op))
        changes.push_back(change);
    });
    llvm::for_each(reductions, expandReduce);
    llvm::for_each(changes, expandChange);
  }
};

} // namespace

} // namespace tile::passes
