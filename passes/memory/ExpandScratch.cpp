// ExpandScratch: makes all use of shared memory explicit before AllocateShared. A change of layout
// that shuffles cannot do, the step of a reduction that crosses warps, and the broadcast of an
// atomic's result from the thread that executed it to others with the element become alloc, store,
// load; so do gathers and histograms.
#include "passes/Passes.h"
#include "passes/Pipeline.h"

#include "ir/KnownTarget.h"
#include "ir/LayoutAttr.h"
#include "ir/instructions/LayoutChange.h"
#include "ir/layout/Derived.h"
#include "ir/layout/Scan.h"
#include "ir/layout/SharedAccess.h"
#include "passes/memory/LayoutExchange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

namespace tile::passes {
#define GEN_PASS_DEF_EXPANDSCRATCH
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

void expandChange(gpu::ConvertLayoutOp change, int64_t mostBytes, int64_t bytesOfBlock) {
  auto to = cast<RankedTensorType>(change.getResult().getType());
  if (gpu::planOf(change).kind != layout::ConversionKind::SharedMemory)
    return;
  OpBuilder builder(change);
  change.replaceAllUsesWith(
      exchangeWithin(mostBytes, bytesOfBlock, builder, change.getLoc(), change.getInput(), to));
  change.erase();
}

// Uses memory as large as the larger of both tiles, cleared first if the operand does not cover it.
void expandResize(ir::ResizeOp resize) {
  auto from = cast<RankedTensorType>(resize.getInput().getType()),
       to = cast<RankedTensorType>(resize.getResult().getType());
  if (!gpu::encodingOf(from))
    return; // not part of a kernel, never executed
  layout::Shape shape;
  std::vector<int32_t> order;
  for (auto [dim, extents] : llvm::enumerate(llvm::zip_equal(from.getShape(), to.getShape()))) {
    shape.push_back(std::max(std::get<0>(extents), std::get<1>(extents)));
    order.insert(order.begin(), static_cast<int32_t>(dim));
  }
  auto whole = RankedTensorType::get(shape, from.getElementType());
  int bytes = bytesOfElement(from);
  OpBuilder builder(resize);
  Location loc = resize.getLoc();
  Value smem =
      allocateShared(builder, loc, whole, layout::SharedLayout::swizzled(shape, order, bytes));
  if (from.getShape() != whole.getShape()) {
    auto spread = layout::Layout::coalesced(shape, order, layout::kMaxVectorBytes / bytes,
                                            gpu::layoutOf(from).numWarps());
    auto type = gpu::withLayout(whole, gpu::attributeOf(builder.getContext(), spread));
    Value zero =
        arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(type)));
    gpu::SmemStoreOp::create(builder, loc, zero, smem);
  }
  gpu::SmemStoreOp::create(builder, loc, resize.getInput(), smem);
  resize.replaceAllUsesWith(gpu::SmemLoadOp::create(builder, loc, to, smem).getResult());
  resize.erase();
}

// The layout after each warp has reduced its elements: one element per warp along the axis.
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

// The layout of partial results for the second step: each thread that holds the result has all of
// them.
layout::Layout gatheredLayout(const layout::Layout &source, int axis, int64_t warpsAlongAxis) {
  if (source.rank() == 1)
    return layout::Layout::replicated({warpsAlongAxis}, source.numWarps());
  return layout::broadcast(layout::expandDims(layout::reduceAxis(source, axis), axis), axis,
                           warpsAlongAxis);
}

RankedTensorType tileType(RankedTensorType like, const layout::Layout &layout) {
  return RankedTensorType::get(ArrayRef(layout.shape()), like.getElementType(),
                               gpu::attributeOf(like.getContext(), layout));
}

// Moves the combine region of an operation of `tile` to one of `tilegpu`.
void copyCombine(Region &from, Region &to) {
  IRMapping mapping;
  from.cloneInto(&to, mapping);
  Operation *yield = to.front().getTerminator();
  OpBuilder inside(yield);
  gpu::YieldOp::create(inside, yield->getLoc(), yield->getOperands());
  yield->erase();
}

void expandReduce(ir::ReduceOp reduce) {
  auto type = cast<RankedTensorType>(reduce.getInputs()[0].getType());
  if (!gpu::encodingOf(type))
    return; // not part of a kernel, never executed
  auto axis = static_cast<int>(reduce.getAxis());
  int64_t warps = gpu::warpsAlong(gpu::encodingOf(type), axis);
  if (warps == 1)
    return;
  layout::Layout source = gpu::layoutOf(type);
  layout::Layout partial = partialLayout(source, axis, warps),
                 gathered = gatheredLayout(source, axis, warps);
  OpBuilder builder(reduce);
  SmallVector<Type> partialTypes;
  for (Value input : reduce.getInputs())
    partialTypes.push_back(tileType(cast<RankedTensorType>(input.getType()), partial));
  auto inWarps = gpu::ReducePartialOp::create(builder, reduce.getLoc(), partialTypes,
                                              reduce.getInputs(), reduce.getAxisAttr());
  copyCombine(reduce.getCombine(), inWarps.getCombine());
  for (auto [operand, result] : llvm::zip_equal(reduce->getOpOperands(), inWarps.getResults()))
    operand.set(exchange(builder, reduce.getLoc(), result,
                         tileType(cast<RankedTensorType>(result.getType()), gathered)));
}

// Only the first of the threads that hold an element has the result of its atomic.
void shareResult(Operation *atomic) {
  Value result = atomic->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  layout::Layout layout = gpu::layoutOf(type);
  bool isRepeated = layout.freeMask(layout::In::Lane) || layout.freeMask(layout::In::Warp);
  if (result.use_empty() || !isRepeated)
    return;
  OpBuilder builder(atomic);
  builder.setInsertionPointAfter(atomic);
  Value smem = allocateShared(builder, atomic->getLoc(), type,
                              layout::scratchSwizzle(layout, layout, bytesOfElement(type)));
  auto store =
      gpu::SmemStoreOp::create(builder, atomic->getLoc(), result, smem, /*first_holder=*/true);
  Value shared = gpu::SmemLoadOp::create(builder, atomic->getLoc(), type, smem);
  result.replaceAllUsesExcept(shared, store);
}

layout::SharedLayout rowMajor(RankedTensorType tile) {
  std::vector<int32_t> order;
  for (int32_t dim = tile.getRank(); dim-- > 0;)
    order.push_back(dim);
  return layout::SharedLayout::rowMajor({tile.getShape().begin(), tile.getShape().end()}, order);
}

void expandGather(ir::GatherOp gather) {
  OpBuilder builder(gather);
  auto source = cast<RankedTensorType>(gather.getSource().getType());
  Value smem = allocateShared(builder, gather.getLoc(), source, rowMajor(source));
  gpu::SmemStoreOp::create(builder, gather.getLoc(), gather.getSource(), smem);
  Value picked = gpu::SmemGatherOp::create(builder, gather.getLoc(), gather.getResult().getType(),
                                           smem, gather.getIndices(), gather.getAxis());
  gather.replaceAllUsesWith(picked);
  gather.erase();
}

// Zeroes the counters, increments one per element, and reads them.
void expandHistogram(ir::HistogramOp histogram) {
  OpBuilder builder(histogram);
  Location loc = histogram.getLoc();
  auto counts = cast<RankedTensorType>(histogram.getResult().getType());
  Value smem = allocateShared(builder, loc, counts, rowMajor(counts));
  Value zeros =
      arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(counts)));
  gpu::SmemStoreOp::create(builder, loc, zeros, smem);
  gpu::SmemCountOp::create(builder, loc, histogram.getInput(), smem, histogram.getMask());
  histogram.replaceAllUsesWith(gpu::SmemLoadOp::create(builder, loc, counts, smem).getResult());
  histogram.erase();
}

// scan -> scan within warps, totals to all threads, and each warp's pieces combined with the totals
// before them.
void expandScan(ir::ScanOp scan) {
  auto type = cast<RankedTensorType>(scan.getInputs()[0].getType());
  auto axis = static_cast<int>(scan.getAxis());
  if (gpu::warpsAlong(gpu::encodingOf(type), axis) == 1)
    return;
  layout::Layout source = gpu::layoutOf(type), totals = layout::pieceTotals(source, axis);
  layout::Layout gathered = gatheredLayout(source, axis, totals.shape()[axis]);
  OpBuilder builder(scan);
  SmallVector<Type> partialTypes(scan.getInputs().getTypes());
  for (Value input : scan.getInputs())
    partialTypes.push_back(tileType(cast<RankedTensorType>(input.getType()), totals));
  auto inWarps = gpu::ScanPartialOp::create(builder, scan.getLoc(), partialTypes, scan.getInputs(),
                                            scan.getAxisAttr(), scan.getReverseAttr());
  copyCombine(scan.getCombine(), inWarps.getCombine());
  SmallVector<Value> operands(inWarps.getResults());
  for (Value &total : MutableArrayRef(operands).drop_front(scan.getInputs().size()))
    total = exchange(builder, scan.getLoc(), total,
                     tileType(cast<RankedTensorType>(total.getType()), gathered));
  auto carry = gpu::ScanCarryOp::create(builder, scan.getLoc(), scan.getResultTypes(), operands,
                                        scan.getAxisAttr(), scan.getReverseAttr());
  copyCombine(scan.getCombine(), carry.getCombine());
  scan.replaceAllUsesWith(carry.getResults());
  scan.erase();
}

struct ExpandScratch : passes::impl::ExpandScratchBase<ExpandScratch> {
  using Base::Base;
  void runOnOperation() final {
    FailureOr<ir::Target> found = ir::knownTarget(getOperation(), target);
    if (failed(found))
      return signalPassFailure();
    SmallVector<ir::ReduceOp> reductions;
    SmallVector<ir::ScanOp> scans;
    SmallVector<gpu::ConvertLayoutOp> changes;
    SmallVector<Operation *> atomics;
    SmallVector<ir::GatherOp> gathers;
    SmallVector<ir::HistogramOp> histograms;
    SmallVector<ir::ResizeOp> resizes;
    getOperation().walk([&](Operation *op) {
      if (auto reduce = dyn_cast<ir::ReduceOp>(op))
        reductions.push_back(reduce);
      if (auto scan = dyn_cast<ir::ScanOp>(op))
        scans.push_back(scan);
      if (auto change = dyn_cast<gpu::ConvertLayoutOp>(op))
        changes.push_back(change);
      if (isa<ir::AtomicRmwOp, ir::AtomicCasOp>(op))
        atomics.push_back(op);
      if (auto gather = dyn_cast<ir::GatherOp>(op))
        gathers.push_back(gather);
      if (auto histogram = dyn_cast<ir::HistogramOp>(op))
        histograms.push_back(histogram);
      if (auto resize = dyn_cast<ir::ResizeOp>(op))
        resizes.push_back(resize);
    });
    llvm::for_each(reductions, expandReduce);
    llvm::for_each(scans, expandScan);
    for (gpu::ConvertLayoutOp change : changes)
      expandChange(change, mostBytes, found->maxSharedBytesPerBlock);
    llvm::for_each(atomics, shareResult);
    llvm::for_each(gathers, expandGather);
    llvm::for_each(histograms, expandHistogram);
    llvm::for_each(resizes, expandResize);
  }
};

} // namespace

} // namespace tile::passes
