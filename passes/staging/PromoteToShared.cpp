// PromoteToShared: operands of dots reach their fragment layouts through shared memory. Everything
// that a loop loads for the dots of its body goes to one ring (staging/LoopLoads.h). Any other
// operand gets a ring of one stage: a put writes the tile, and a load after the wait reads the
// fragments; dots by wgmma and multiply-add read the stage themselves. The swizzle avoids bank
// conflicts on both sides, and a transposed operand needs no transpose of its own.
#include "passes/Passes.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/DotAnnotations.h"
#include "ir/gpu/DotLayouts.h"
#include "ir/layout/MultiplyAdd.h"
#include "passes/analysis/ControlFlow.h"
#include "passes/analysis/ViewAccesses.h"
#include "passes/pipelining/analysis/RingProtocol.h"
#include "passes/staging/LoopLoads.h"
#include "passes/staging/PromotedSums.h"
#include "passes/staging/StagingLayout.h"
#include "passes/staging/TransposedTiles.h"
#include "passes/staging/WgmmaMemory.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

namespace tile::passes {
#define GEN_PASS_DEF_PROMOTETOSHARED
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

/// A tile in a ring of its own, of one stage.
struct Staged {
  gpu::ProducerCommitOp commit;

  Value get(OpBuilder &builder, Location loc) {
    return gpu::ConsumerWaitOp::create(builder, loc, commit.getRing(), commit.getFill())
        .getTiles()
        .front();
  }
  void release(OpBuilder &builder, Location loc) {
    gpu::ConsumerReleaseOp::create(builder, loc, commit.getRing(), commit.getFill());
  }
};

struct PromoteToShared : passes::impl::PromoteToSharedBase<PromoteToShared> {
  void runOnOperation() final {
    if (failed(verifyOneBlock(getOperation())) || failed(verifyAccessesAreKnown(getOperation())))
      return signalPassFailure();
    OperandsOfLoops byLoops;
    WalkResult promoted = getOperation().walk([&](scf::ForOp loop) {
      FailureOr<OperandsOfLoops> staged = promoteLoads(loop);
      if (failed(staged))
        return WalkResult::interrupt();
      for (auto [use, operand] : *staged)
        byLoops[use] = operand;
      return WalkResult::advance();
    });
    if (promoted.wasInterrupted())
      return signalPassFailure();
    SmallVector<ir::DotOp> dots;
    getOperation().walk([&](ir::DotOp dot) { dots.push_back(dot); });
    for (ir::DotOp dot : dots)
      if (gpu::isWgmma(dot))
        beginFromShared(dot, byLoops);
      else if (gpu::isMultiplyAdd(dot))
        multiplyFromShared(dot, byLoops);
      else if (!gpu::kWidthOf(dot)) // else each lane has loaded its fragments
        stageFragments(dot);
    // Dots now read shared memory. Unused loads of their operands would count as readers.
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
    if (failed(verifyRings(getOperation())))
      signalPassFailure();
  }

  // A tile that is both operands is put once. Both puts come before both loads, so that one barrier
  // serves both.
  void stageFragments(ir::DotOp dot) {
    SmallVector<gpu::ConvertLayoutOp> changes;
    for (Value operand : {dot.getA(), dot.getB()})
      if (auto change = operand.getDefiningOp<gpu::ConvertLayoutOp>())
        if (!llvm::is_contained(changes, change))
          changes.push_back(change);
    if (changes.size() == 2 && changes[0].getInput() == changes[1].getInput() &&
        placeOf(changes[0], dot) == placeOf(changes[1], dot)) {
      load(changes, put(changes[0].getInput(), changes, placeOf(changes[0], dot)), dot);
      return;
    }
    SmallVector<Staged> staged;
    for (gpu::ConvertLayoutOp change : changes)
      staged.push_back(put(change.getInput(), change, placeOf(change, dot)));
    for (auto [change, stage] : llvm::zip_equal(changes, staged))
      load(change, stage, dot);
  }

  // Next to the dot if the change is in its block, so that global loads come first; else where the
  // change is.
  Operation *placeOf(gpu::ConvertLayoutOp change, ir::DotOp dot) {
    return change->getBlock() == dot->getBlock() ? dot.getOperation() : change.getOperation();
  }

  Staged put(Value tile, ArrayRef<gpu::ConvertLayoutOp> changes, Operation *place) {
    SmallVector<layout::Layout> readers;
    for (gpu::ConvertLayoutOp change : changes)
      readers.push_back(gpu::layoutOf(change.getResult().getType()));
    return put(tile, readers, place);
  }

  Staged put(Value tile, ArrayRef<layout::Layout> readers, Operation *place) {
    auto type = cast<RankedTensorType>(tile.getType());
    return put(tile, stagingType(gpu::layoutOf(type), type.getElementType(), readers), place);
  }

  Staged put(Value tile, gpu::SmemType memory, Operation *place) {
    OpBuilder top = OpBuilder::atBlockBegin(&getOperation().getBody().front());
    Location loc = tile.getLoc();
    auto ringType = gpu::RingType::get(&getContext(), 1, memory);
    Value ring = gpu::RingAllocOp::create(top, loc, ringType);
    OpBuilder builder(place);
    Value number = arith::ConstantIntOp::create(builder, loc, 0, 32);
    gpu::ProducerAcquireOp::create(builder, loc, ring, number);
    gpu::RingPutOp::create(builder, loc, tile, ring, number, 0);
    return {gpu::ProducerCommitOp::create(builder, loc, ring, number)};
  }

  void load(ArrayRef<gpu::ConvertLayoutOp> changes, Staged staged, ir::DotOp dot) {
    OpBuilder builder(placeOf(changes.front(), dot));
    gpu::ConvertLayoutOp first = changes.front();
    Location loc = first.getLoc();
    Value smem = staged.get(builder, loc);
    SmallVector<Value> fragments;
    for (gpu::ConvertLayoutOp change : changes)
      fragments.push_back(
          gpu::SmemLoadOp::create(builder, change.getLoc(), change.getResult().getType(), smem));
    staged.release(builder, loc);
    for (auto [change, fragment] : llvm::zip_equal(changes, fragments))
      replace(change, fragment, dot);
  }

  void replace(gpu::ConvertLayoutOp change, Value fragment, ir::DotOp dot) {
    // A change with users before the dot stays: they see the value at its own location.
    change.getResult().replaceUsesWithIf(fragment, [&](OpOperand &use) {
      return use.getOwner() == dot || placeOf(change, dot) == change;
    });
    if (change->use_empty())
      change.erase();
  }

  // Operands from before a loop are put there, once.
  Operation *placeOf(Value tile, ir::DotOp dot) {
    Operation *op = tile.getDefiningOp();
    return op && op->getBlock() != dot->getBlock() ? op->getNextNode() : dot.getOperation();
  }

  // A tile that is put before a loop is released after the loop.
  Value getFor(ir::DotOp dot, Value tile, ArrayRef<layout::Layout> readers) {
    return getFor(dot, put(tile, readers, placeOf(tile, dot)));
  }

  Value getFor(ir::DotOp dot, Staged staged) {
    Block *block = staged.commit->getBlock();
    OpBuilder builder(getOperation().getContext());
    builder.setInsertionPointAfter(staged.commit);
    Value memory = staged.get(builder, dot.getLoc());
    builder.setInsertionPointAfter(block->findAncestorOpInBlock(*dot));
    staged.release(builder, dot.getLoc());
    return memory;
  }

  // Dots in loops share what was put for them before. A tile that is put next to a dot is released
  // at the end of the block, when none of its dots is in flight any more.
  Value getForGroups(ir::DotOp dot, Value tile, gpu::SmemType memory) {
    Operation *place = placeOf(tile, dot);
    if (place == dot) {
      Staged staged = put(tile, memory, place);
      OpBuilder builder(place);
      Value stage = staged.get(builder, dot.getLoc());
      builder.setInsertionPoint(place->getBlock()->getTerminator());
      staged.release(builder, dot.getLoc());
      return stage;
    }
    Value &shared = putBefore[{tile, memory}];
    auto get = shared ? shared.getDefiningOp<gpu::ConsumerWaitOp>() : gpu::ConsumerWaitOp();
    if (!get)
      return shared = getFor(dot, put(tile, memory, place));
    extend(get, place->getBlock()->findAncestorOpInBlock(*dot));
    return shared;
  }

  // A transposed tile is put untransposed, so that other dots share it.
  StagedOperand stageForGroups(OpOperand &use) {
    auto dot = cast<ir::DotOp>(use.getOwner());
    gpu::SmemType memory = wgmmaStagingType(use);
    if (Value tile = transposedIn(use.get()))
      return {getForGroups(dot, tile, transposed(memory)), /*isTransposed=*/true};
    return {getForGroups(dot, use.get(), memory)};
  }

  // Moves the release of a stage after its last user.
  static void extend(gpu::ConsumerWaitOp get, Operation *user) {
    for (Operation *other : get.getRing().getUsers())
      if (auto release = dyn_cast<gpu::ConsumerReleaseOp>(other);
          release && release->isBeforeInBlock(user))
        release->moveAfter(user);
  }

  // The accumulator of a wgmma, and the condition on which to start from zero, which the
  // instruction can do instead of a select.
  static std::pair<Value, Value> sumsOf(ir::DotOp dot) {
    auto select = dot.getAcc().getDefiningOp<arith::SelectOp>();
    bool resets = select && !isa<ShapedType>(select.getCondition().getType()) &&
                  (matchPattern(select.getTrueValue(), m_AnyZeroFloat()) ||
                   matchPattern(select.getTrueValue(), m_Zero()));
    return resets ? std::pair(select.getFalseValue(), select.getCondition())
                  : std::pair(dot.getAcc(), Value());
  }

  // The wait stands where the dot stood, so that later users get a tile; ReorderDots moves it.
  void beginFromShared(ir::DotOp dot, const OperandsOfLoops &byLoops) {
    auto stage = [&](unsigned operand) {
      StagedOperand byLoop = byLoops.lookup({dot, operand});
      return byLoop ? byLoop : stageForGroups(dot->getOpOperand(operand));
    };
    bool isAInRegisters = gpu::takesAFromRegisters(dot);
    StagedOperand a = isAInRegisters ? StagedOperand{dot.getA()} : stage(0);
    StagedOperand b = dot.getA() == dot.getB() && !isAInRegisters ? a : stage(1);
    if (hasPromotedSums(dot)) {
      dot.replaceAllUsesWith(addPromoted(dot, {a, b}));
      return dot.erase();
    }
    OpBuilder builder(dot);
    auto [acc, reset] = sumsOf(dot);
    auto product = beginDot(builder, dot, {a, b}, acc, reset);
    Value sums = gpu::DotWaitOp::create(builder, dot.getLoc(), dot.getResult().getType(),
                                        product.getResult(), 0);
    dot.replaceAllUsesWith(sums);
    Operation *select = dot.getAcc().getDefiningOp();
    dot.erase();
    if (reset && select->use_empty())
      select->erase();
  }

  void multiplyFromShared(ir::DotOp dot, const OperandsOfLoops &byLoops) {
    layout::Layout acc = gpu::layoutOf(dot.getAcc().getType());
    layout::Layout rows = layout::multiplyAddRows(acc, dot.getSizes().k),
                   columns = layout::multiplyAddColumns(acc, dot.getSizes().k);
    auto stage = [&](unsigned operand, ArrayRef<layout::Layout> readers) {
      Value memory = byLoops.lookup({dot, operand}).value;
      return memory ? memory : getFor(dot, dot->getOperand(operand), readers);
    };
    bool isOneTile = dot.getA() == dot.getB();
    Value a = stage(0, isOneTile ? ArrayRef({rows, columns}) : ArrayRef(rows)),
          b = isOneTile ? a : stage(1, columns);
    OpBuilder builder(dot);
    auto product = gpu::SmemDotOp::create(builder, dot.getLoc(), dot.getResult().getType(), a, b,
                                          dot.getAcc(), dot.getOperandsUnsigned());
    product->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
    dot.replaceAllUsesWith(product.getResult());
    dot.erase();
  }

  llvm::DenseMap<std::pair<Value, Type>, Value> putBefore; ///< stages of tiles from before a loop
};

} // namespace

} // namespace tile::passes
