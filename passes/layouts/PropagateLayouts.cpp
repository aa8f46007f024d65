// PropagateLayouts: changes of layout cost shuffles or shared memory, so they are merged, moved to
// where the elements are narrow, taken out of loops, or absorbed by the load that feeds them.
#include "ir/annotations/AccessAnnotations.h"
#include "passes/Passes.h"

#include "ir/LayoutAttr.h"
#include "ir/LayoutOp.h"
#include "ir/gpu/DotLayouts.h"
#include "passes/analysis/RunAhead.h"
#include "passes/layouts/DotStores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace tile::passes {
#define GEN_PASS_DEF_PROPAGATELAYOUTS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {
using gpu::ConvertLayoutOp;
namespace {

int64_t elementBits(Value tile) { return gpu::bytesOf(ir::elementTypeOf(tile.getType())) * 8; }

// Operations so cheap that threads which hold the same elements may each compute them.
bool isCheap(Operation *op) {
  return gpu::isElementwiseOnTiles(op) && isPure(op) && !isa<math::MathDialect>(op->getDialect()) &&
         !isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
              arith::RemUIOp>(op);
}

// The load, which will be staged for products of its loop, that a value follows from by cheap
// operations on its elements; null if there is none, or if a second load or anything else takes
// part.
ir::ViewLoadOp stagedLoadBehind(Value tile) {
  if (auto load = loadBehind(tile))
    return feedsDot(load) && !whyNotAhead(load) ? load : ir::ViewLoadOp();
  Operation *op = tile.getDefiningOp();
  if (!op || !isCheap(op))
    return {};
  ir::ViewLoadOp found;
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()) || matchPattern(operand, m_Constant()))
      continue;
    ir::ViewLoadOp load = stagedLoadBehind(operand);
    if (!load || (found && load != found))
      return {};
    found = load;
  }
  return found;
}

// convert_layout(convert_layout(x)) -> convert_layout(x)
struct MergeChanges : OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvertLayoutOp op, PatternRewriter &rewriter) const final {
    auto producer = op.getInput().getDefiningOp<ConvertLayoutOp>();
    if (!producer)
      return rewriter.notifyMatchFailure(op, "the operand is not another change of layout");
    rewriter.replaceOpWithNewOp<ConvertLayoutOp>(op, op.getResult().getType(), producer.getInput());
    return success();
  }
};

// convert_layout(widen(x)) -> widen(convert_layout(x)): half the bytes move.
struct ChangeBeforeWidening : OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvertLayoutOp op, PatternRewriter &rewriter) const final {
    auto widen = op.getInput().getDefiningOp<ir::ConvertOp>();
    if (!widen || !widen->hasOneUse())
      return rewriter.notifyMatchFailure(op, "the operand is not a conversion used only here");
    if (elementBits(widen.getInput()) >= elementBits(widen.getResult()))
      return rewriter.notifyMatchFailure(op, "the conversion does not widen");
    auto layout = gpu::encodingOf(op.getResult().getType());
    rewriter.setInsertionPoint(widen);
    Value moved = ConvertLayoutOp::create(rewriter, op.getLoc(),
                                          gpu::withLayout(widen.getInput().getType(), layout),
                                          widen.getInput());
    rewriter.replaceOpWithNewOp<ir::ConvertOp>(op, op.getResult().getType(), moved,
                                               widen.getSourceUnsigned(), widen.getResultUnsigned(),
                                               widen.getRounding());
    return success();
  }
};

// narrow(convert_layout(x)) -> convert_layout(narrow(x))
struct ChangeAfterNarrowing : OpRewritePattern<ir::ConvertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ir::ConvertOp op, PatternRewriter &rewriter) const final {
    auto change = op.getInput().getDefiningOp<ConvertLayoutOp>();
    if (!change || !change->hasOneUse())
      return rewriter.notifyMatchFailure(op,
                                         "the operand is not a change of layout used only here");
    if (elementBits(op.getInput()) <= elementBits(op.getResult()))
      return rewriter.notifyMatchFailure(op, "the conversion does not narrow");
    if (stagedLoadBehind(change.getInput()))
      return rewriter.notifyMatchFailure(op, "the operand is read from shared memory as it is");
    auto layout = gpu::encodingOf(change.getInput().getType());
    Value narrow = ir::ConvertOp::create(
        rewriter, op.getLoc(), gpu::withLayout(op.getResult().getType(), layout), change.getInput(),
        op.getSourceUnsigned(), op.getResultUnsigned(), op.getRounding());
    rewriter.replaceOpWithNewOp<ConvertLayoutOp>(op, op.getResult().getType(), narrow);
    return success();
  }
};

// convert_layout(f(x)) -> f(convert_layout(x)) where x is loaded for products and f is cheap: x
// lies in shared memory, from where each thread reads what it computes an operand of. What f gives
// would have to go there again.
struct ComputeOperandInPlace : OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvertLayoutOp op, PatternRewriter &rewriter) const final {
    Operation *producer = op.getInput().getDefiningOp();
    if (!producer || !isCheap(producer) || !stagedLoadBehind(op.getInput()))
      return rewriter.notifyMatchFailure(op, "not computed from a tile that is staged");
    gpu::LayoutAttr layout = gpu::encodingOf(op.getResult().getType());
    IRMapping moved;
    for (Value operand : producer->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        moved.map(operand, inLayout(operand, layout, op, rewriter));
    Operation *there = rewriter.clone(*producer, moved);
    rewriter.modifyOpInPlace(there, [&] { there->getResult(0).setType(op.getResult().getType()); });
    rewriter.replaceOp(op, there);
    return success();
  }

private:
  static Value inLayout(Value tile, gpu::LayoutAttr layout, ConvertLayoutOp place,
                        PatternRewriter &rewriter) {
    auto type = gpu::withLayout(tile.getType(), layout);
    if (SplatElementsAttr splat; matchPattern(tile, m_Constant(&splat)))
      return arith::ConstantOp::create(rewriter, place.getLoc(),
                                       splat.resizeSplat(cast<ShapedType>(type)));
    for (Operation *user : tile.getUsers())
      if (auto change = dyn_cast<ConvertLayoutOp>(user);
          change && change.getResult().getType() == type &&
          change->getBlock() == place->getBlock() && change->isBeforeInBlock(place))
        return change;
    return ConvertLayoutOp::create(rewriter, place.getLoc(), type, tile);
  }
};

// A load whose tile is only wanted in another layout loads it there, if neighbours in that layout
// are neighbours in memory. Operands of products stay: they go through shared memory anyway.
struct LoadInPlace : OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvertLayoutOp op, PatternRewriter &rewriter) const final {
    auto load = op.getInput().getDefiningOp<ir::ViewLoadOp>();
    if (!load || !load->hasOneUse())
      return rewriter.notifyMatchFailure(op, "the operand is not a load used only here");
    if (llvm::any_of(op->getUses(), gpu::isDotOperand) || stagedLoadBehind(op.getInput()))
      return rewriter.notifyMatchFailure(op, "operand of a product");
    auto layout = gpu::encodingOf(op.getResult().getType());
    gpu::AccessAttr access = gpu::accessOf(load);
    ArrayRef<int32_t> registers = layout.getRegisters();
    if (!access || registers.empty() || registers[access.getOrder()[0]] != 1 ||
        !gpu::isSeparable(layout))
      return rewriter.notifyMatchFailure(op, "registers do not follow memory");
    rewriter.modifyOpInPlace(
        load, [&] { load.getResult().setType(cast<RankedTensorType>(op.getResult().getType())); });
    rewriter.replaceOp(op, load.getResult());
    return success();
  }
};

struct PropagateLayouts : passes::impl::PropagateLayoutsBase<PropagateLayouts> {
  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns.add<MergeChanges, ChangeBeforeWidening, ChangeAfterNarrowing, ComputeOperandInPlace,
                 LoadInPlace>(&getContext());
    ConvertLayoutOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    settleDotStores(getOperation());
    getOperation().walk([](LoopLikeOpInterface loop) {
      if (!loop->hasAttr(ir::kNoLicmAttr))
        moveLoopInvariantCode(loop);
    });
  }
};

} // namespace

} // namespace tile::passes
