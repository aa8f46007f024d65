// Control flow with the carried tiles spread out, and program numbers.
#include "codegen/lower/Lowering.h"
#include "passes/Passes.h"

#include "ir/annotations/LoopAnnotations.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::codegen {

namespace {

// Lowers a block into `target`, which ends with a new terminator made by `finish`.
template <class Finish>
LogicalResult lowerInto(Lowering &l, Block &block, Block *target, Finish finish) {
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToEnd(target);
  if (failed(l.lowerBlock(block)))
    return failure();
  finish(block.getTerminator());
  return success();
}

LLVM::LoopAnnotationAttr noLicm(MLIRContext *context) {
  Builder b(context);
  auto licm = LLVM::LoopLICMAttr::get(context, b.getBoolAttr(true), b.getBoolAttr(true));
  return LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, {}, {}, licm, {}, {}, {}, {}, {}, {},
                                       {}, {}, {});
}

// The assembler would load all parts of a sum at once, into as many registers as there are. One after the other they take those of one.
bool staysRolled(scf::ForOp loop) {
  return llvm::any_of(*loop.getBody(), llvm::IsaPred<gpu::WorkspaceAddOp>);
}

LLVM::LoopAnnotationAttr noUnrolling(MLIRContext *context) {
  auto unroll = LLVM::LoopUnrollAttr::get(context, Builder(context).getBoolAttr(true), {}, {}, {},
                                          {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {},
                                       {}, {}, {});
}

LogicalResult lowerFor(Lowering &l, Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  auto flat = scf::ForOp::create(l.b, op->getLoc(), l.scalar(loop.getLowerBound()),
                                 l.scalar(loop.getUpperBound()), l.scalar(loop.getStep()),
                                 l.flatten(loop.getInitArgs()), nullptr, loop.getUnsignedCmp());
  if (op->hasAttr(ir::kNoLicmAttr)) // becomes metadata of the loop's branch
    flat->setAttr("loop_annotation", noLicm(op->getContext()));
  else if (staysRolled(loop))
    flat->setAttr("loop_annotation", noUnrolling(op->getContext()));
  if (flat.getBody()->mightHaveTerminator())
    flat.getBody()->getTerminator()->erase();
  l.set(loop.getInductionVar(), {flat.getInductionVar()});
  {
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPointToStart(flat.getBody());
    SmallVector<Value> args(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    l.unflatten(
        args, SmallVector<Value>(flat.getRegionIterArgs().begin(), flat.getRegionIterArgs().end()));
  }
  LogicalResult lowered = lowerInto(l, *loop.getBody(), flat.getBody(), [&](Operation *yield) {
    scf::YieldOp::create(l.b, yield->getLoc(), l.flatten(yield->getOperands()));
  });
  l.unflatten(loop.getResults(), flat.getResults());
  return lowered;
}

LogicalResult lowerIf(Lowering &l, Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  bool hasElse = !branch.getElseRegion().empty();
  auto flat = scf::IfOp::create(l.b, op->getLoc(), Lowering::carriedTypes(branch.getResultTypes()),
                                l.scalar(branch.getCondition()),
                                /*addThenBlock=*/true, /*addElseBlock=*/hasElse);
  if (std::optional<gpu::TileStep> step = gpu::tileStepOf(branch))
    gpu::setTileStep(flat, *step);
  auto yield = [&](Operation *terminator) {
    scf::YieldOp::create(l.b, terminator->getLoc(), l.flatten(terminator->getOperands()));
  };
  for (auto [from, to] : llvm::zip_equal(branch.getRegions(), flat.getRegions())) {
    if (from->empty())
      continue;
    Block *block = &to->front();
    if (block->mightHaveTerminator())
      block->getTerminator()->erase();
    if (failed(lowerInto(l, from->front(), block, yield)))
      return failure();
  }
  l.unflatten(branch.getResults(), flat.getResults());
  return success();
}

LogicalResult lowerWhile(Lowering &l, Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  auto flat = scf::WhileOp::create(l.b, op->getLoc(), Lowering::carriedTypes(loop.getResultTypes()),
                                   l.flatten(loop.getInits()));
  auto addBlock = [&](Region &region, Block &source) {
    OpBuilder::InsertionGuard guard(l.b);
    SmallVector<Type> types = Lowering::carriedTypes(source.getArgumentTypes());
    Block *block =
        l.b.createBlock(&region, {}, types, SmallVector<Location>(types.size(), op->getLoc()));
    l.unflatten(SmallVector<Value>(source.getArguments().begin(), source.getArguments().end()),
                SmallVector<Value>(block->getArguments().begin(), block->getArguments().end()));
    return block;
  };
  Block *before = addBlock(flat.getBefore(), *loop.getBeforeBody());
  LogicalResult lowered = lowerInto(l, *loop.getBeforeBody(), before, [&](Operation *terminator) {
    auto condition = cast<scf::ConditionOp>(terminator);
    scf::ConditionOp::create(l.b, condition.getLoc(), l.scalar(condition.getCondition()),
                             l.flatten(condition.getArgs()));
  });
  if (failed(lowered))
    return failure();
  Block *after = addBlock(flat.getAfter(), *loop.getAfterBody());
  lowered = lowerInto(l, *loop.getAfterBody(), after, [&](Operation *yield) {
    scf::YieldOp::create(l.b, yield->getLoc(), l.flatten(yield->getOperands()));
  });
  l.unflatten(loop.getResults(), flat.getResults());
  return lowered;
}

// Along axis 0 the blocks of a cluster carry out one program.
template <class X, class Y, class Z> LogicalResult lowerGridNumber(Lowering &l, Operation *op) {
  auto axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
  Location loc = op->getLoc();
  Type i32 = l.b.getI32Type();
  Value number = axis == 0   ? X::create(l.b, loc, i32).getResult()
                 : axis == 1 ? Y::create(l.b, loc, i32).getResult()
                             : Z::create(l.b, loc, i32).getResult();
  if (int64_t blocks = l.threads.cluster(); axis == 0 && blocks > 1)
    number = arith::ShRUIOp::create(l.b, loc, number, l.i32(llvm::Log2_64(blocks)));
  l.set(op->getResult(0), {number});
  return success();
}

LogicalResult lowerClusterRank(Lowering &l, ir::ClusterRankOp rank) {
  l.set(rank.getResult(), {l.threads.clusterRank()});
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<scf::ForOp, lowerFor>,
    on<scf::IfOp, lowerIf>,
    on<scf::WhileOp, lowerWhile>,
    on<ir::ClusterRankOp, lowerClusterRank>,
    on<ir::NumProgramsOp, lowerGridNumber<NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp>>,
    on<ir::ProgramIdOp, lowerGridNumber<NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>>,
};

} // namespace

LoweringTable controlLowerings() { return kLowerings; }

} // namespace tile::codegen
