#include "passes/analysis/Sign.h"

#include "ir/annotations/FunctionAnnotations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tile::passes {

namespace {

/// What a loop carries is taken to be never negative while that is being shown of its next value.
class SignAnalysis {
public:
  bool isNeverNegative(Value value) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return !constant.isNegative();
    if (auto argument = dyn_cast<BlockArgument>(value))
      return ofArgument(argument);
    return ofResult(cast<OpResult>(value));
  }

private:
  bool all(ValueRange values) {
    return llvm::all_of(values, [&](Value value) { return isNeverNegative(value); });
  }
  bool any(ValueRange values) {
    return llvm::any_of(values, [&](Value value) { return isNeverNegative(value); });
  }

  bool ofArgument(BlockArgument argument) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto function = dyn_cast<func::FuncOp>(parent)) {
      ir::ParamAttr param = ir::paramOf(function, argument.getArgNumber());
      return param && param.getKind() == ir::ParamKind::Extent;
    }
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return false;
    if (argument == loop.getInductionVar()) // steps are positive
      return isNeverNegative(loop.getLowerBound());
    return ofCarried(argument, loop.getTiedLoopInit(argument)->get(),
                     loop.getTiedLoopYieldedValue(argument)->get());
  }

  bool ofCarried(BlockArgument argument, Value init, Value yielded) {
    if (!assumed_.insert(argument).second)
      return true;
    return all({init, yielded});
  }

  bool ofResult(OpResult result) {
    Operation *op = result.getOwner();
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case<ir::ProgramIdOp, ir::NumProgramsOp, ir::TeamIdOp, ir::ClusterRankOp, arith::ExtUIOp>(
            [](auto) { return true; })
        .Case<arith::AddIOp, arith::MulIOp, arith::DivSIOp, arith::MinSIOp, arith::ExtSIOp,
              ir::ByRoleOp>([&](auto) { return all(op->getOperands()); })
        .Case<arith::MaxSIOp, arith::AndIOp>([&](auto) { return any(op->getOperands()); })
        // At most the first operand, which unsigned is itself, and below the second.
        .Case<arith::DivUIOp, arith::RemSIOp, arith::ShRUIOp>(
            [&](auto) { return isNeverNegative(op->getOperand(0)); })
        .Case<arith::RemUIOp>([&](auto) { return any(op->getOperands()); })
        .Case([&](arith::SelectOp select) {
          return all({select.getTrueValue(), select.getFalseValue()});
        })
        .Case([&](scf::IfOp branch) {
          return all({branch.thenYield().getOperand(result.getResultNumber()),
                      branch.elseYield().getOperand(result.getResultNumber())});
        })
        .Case(
            [&](scf::ForOp loop) { return isNeverNegative(loop.getTiedLoopRegionIterArg(result)); })
        .Default([](Operation *) { return false; });
  }

  llvm::DenseSet<Value> assumed_;
};

} // namespace

bool isNeverNegative(Value value) { return SignAnalysis().isNeverNegative(value); }

} // namespace tile::passes
