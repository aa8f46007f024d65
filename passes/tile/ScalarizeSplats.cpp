// ScalarizeSplats: arithmetic on splats becomes scalar arithmetic, which a thread executes once and
// not per element.
#include "passes/Passes.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tile::passes {
#define GEN_PASS_DEF_SCALARIZESPLATS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

// The scalar of a splat, created for constants; null if the tile is not a splat.
Value splattedScalar(Value tile, PatternRewriter &rewriter) {
  if (auto splat = tile.getDefiningOp<ir::SplatOp>())
    return splat.getValue();
  SplatElementsAttr constant;
  if (matchPattern(tile, m_Constant(&constant)))
    return arith::ConstantOp::create(rewriter, tile.getLoc(),
                                     cast<TypedAttr>(constant.getSplatValue<Attribute>()));
  return {};
}

// op(splat a, splat b) -> splat(op(a, b))
struct MoveSplatOutwards : RewritePattern {
  explicit MoveSplatOutwards(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const final {
    if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1 || !isPure(op))
      return rewriter.notifyMatchFailure(op, "not a pure elementwise operation");
    if (!isa<RankedTensorType>(op->getResult(0).getType()))
      return rewriter.notifyMatchFailure(op, "scalar already");
    bool anySplat =
        llvm::any_of(op->getOperands(), [](Value v) { return v.getDefiningOp<ir::SplatOp>(); });
    bool allSplat = llvm::all_of(op->getOperands(), [](Value v) {
      return v.getDefiningOp<ir::SplatOp>() || matchPattern(v, m_Constant()) ||
             !isa<RankedTensorType>(v.getType());
    });
    if (!anySplat || !allSplat)
      return rewriter.notifyMatchFailure(op, "an operand is not a splat");
    SmallVector<Value> scalars;
    for (Value operand : op->getOperands())
      scalars.push_back(isa<RankedTensorType>(operand.getType()) ? splattedScalar(operand, rewriter)
                                                                 : operand);
    if (llvm::is_contained(scalars, Value()))
      return rewriter.notifyMatchFailure(op, "a constant operand is not a splat");
    Type type = op->getResult(0).getType();
    Operation *scalar =
        Operation::create(op->getLoc(), op->getName(), {ir::elementTypeOf(type)}, scalars,
                          NamedAttrList(op->getDiscardableAttrDictionary()),
                          op->getPropertiesStorage(), BlockRange(), 0);
    rewriter.insert(scalar);
    rewriter.replaceOpWithNewOp<ir::SplatOp>(op, type, scalar->getResult(0));
    return success();
  }
};

// Shape changes of a splat are splats.
template <class ShapeOp> struct FoldShapeOfSplat : OpRewritePattern<ShapeOp> {
  using OpRewritePattern<ShapeOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(ShapeOp op, PatternRewriter &rewriter) const final {
    auto splat = op.getInput().template getDefiningOp<ir::SplatOp>();
    if (!splat)
      return rewriter.notifyMatchFailure(op, "the operand is not a splat");
    rewriter.replaceOpWithNewOp<ir::SplatOp>(op, op.getResult().getType(), splat.getValue());
    return success();
  }
};

struct ScalarizeSplats : passes::impl::ScalarizeSplatsBase<ScalarizeSplats> {
  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns
        .add<MoveSplatOutwards, FoldShapeOfSplat<ir::BroadcastOp>, FoldShapeOfSplat<ir::ReshapeOp>,
             FoldShapeOfSplat<ir::PermuteOp>, FoldShapeOfSplat<ir::ExpandDimsOp>>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

} // namespace tile::passes
