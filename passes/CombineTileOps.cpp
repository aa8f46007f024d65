// CombineTileOps: fewer and larger tile operations. dot + add becomes one dot; arithmetic on splats becomes scalar
// arithmetic, which the threads do once instead of once an element.
#include "passes/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tile::passes {
#define GEN_PASS_DEF_COMBINETILEOPS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

// acc + dot(a, b, 0) -> dot(a, b, acc)
template <class Add> struct FuseAddIntoDot : OpRewritePattern<Add> {
  using OpRewritePattern<Add>::OpRewritePattern;
  LogicalResult matchAndRewrite(Add add, PatternRewriter &rewriter) const final {
    auto dot = add.getLhs().template getDefiningOp<ir::DotOp>();
    Value acc = add.getRhs();
    if (!dot || !dot->hasOneUse()) {
      dot = add.getRhs().template getDefiningOp<ir::DotOp>();
      acc = add.getLhs();
    }
    if (!dot || !dot->hasOneUse())
      return rewriter.notifyMatchFailure(add, "no product that is used only here");
    if (dot->getBlock() != add->getBlock())
      return rewriter.notifyMatchFailure(add, "the product would move into a loop or a branch");
    if (!matchPattern(dot.getAcc(), m_AnyZeroFloat()) && !matchPattern(dot.getAcc(), m_Zero()))
      return rewriter.notifyMatchFailure(add, "the product's accumulator is not zero");
    rewriter.replaceOpWithNewOp<ir::DotOp>(add, acc.getType(), dot.getA(), dot.getB(), acc,
                                           dot.getPrecision(), dot.getOperandsUnsigned());
    return success();
  }
};

// The scalar behind a splat, made anew for constants; null if the tile is none.
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

struct CombineTileOps : passes::impl::CombineTileOpsBase<CombineTileOps> {
  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseAddIntoDot<arith::AddFOp>, FuseAddIntoDot<arith::AddIOp>, MoveSplatOutwards,
                 FoldShapeOfSplat<ir::BroadcastOp>, FoldShapeOfSplat<ir::ReshapeOp>,
                 FoldShapeOfSplat<ir::PermuteOp>, FoldShapeOfSplat<ir::ExpandDimsOp>>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

} // namespace tile::passes
