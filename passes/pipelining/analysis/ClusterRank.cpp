#include "passes/pipelining/analysis/ClusterRank.h"

#include "ir/tile/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::passes {

RankDependence::RankDependence(func::FuncOp kernel) {
  kernel.walk([&](ir::ClusterRankOp rank) { add(rank.getResult()); });
  while (!open_.empty())
    for (OpOperand &use : open_.pop_back_val().getUses())
      addResultsOf(use.getOwner(), use);
}

void RankDependence::add(Value value) {
  if (values_.insert(value).second)
    open_.push_back(value);
}

// If the bounds of a loop or the condition of a branch depend on the rank, all its results and
// variables do.
void RankDependence::addResultsOf(Operation *user, OpOperand &operand) {
  unsigned number = operand.getOperandNumber();
  if (auto loop = dyn_cast<scf::ForOp>(user); loop && number >= loop.getNumControlOperands()) {
    add(loop.getTiedLoopRegionIterArg(&operand));
    add(loop.getTiedLoopResult(&operand));
    return;
  }
  if (auto yield = dyn_cast<scf::YieldOp>(user)) {
    Operation *parent = yield->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      add(loop.getRegionIterArg(number));
    if (isa<scf::ForOp, scf::IfOp>(parent)) {
      add(parent->getResult(number));
      return;
    }
    user = parent;
  }
  llvm::for_each(user->getResults(), [&](Value result) { add(result); });
  for (Region &region : user->getRegions())
    for (Block &block : region)
      llvm::for_each(block.getArguments(), [&](Value argument) { add(argument); });
}

bool RankDependence::isInAllBlocks(Operation *op) const {
  for (Operation *around = op->getParentOp(); !isa<func::FuncOp>(around);
       around = around->getParentOp()) {
    if (!isa<scf::ForOp, scf::IfOp>(around))
      return false;
    ValueRange course = isa<scf::IfOp>(around) ? ValueRange(around->getOperands())
                                               : ValueRange(around->getOperands().take_front(3));
    if (llvm::any_of(course, [&](Value value) { return follows(value); }))
      return false;
  }
  return true;
}

} // namespace tile::passes
