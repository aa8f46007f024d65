// CombineTileOps: fewer and larger tile operations. A dot and an add become one dot.
#include "passes/Passes.h"

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
    auto fused = rewriter.replaceOpWithNewOp<ir::DotOp>(
        add, acc.getType(), dot.getA(), dot.getB(), acc, dot.getPrecision(),
        dot.getOperandsUnsigned(), dot.getFastAccumulation());
    fused->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
    return success();
  }
};

struct CombineTileOps : passes::impl::CombineTileOpsBase<CombineTileOps> {
  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseAddIntoDot<arith::AddFOp>, FuseAddIntoDot<arith::AddIOp>>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

} // namespace tile::passes
