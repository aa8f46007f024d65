#include "passes/analysis/NumberRange.h"

#include "ir/annotations/FunctionAnnotations.h"
#include "ir/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::ConstantRange;

namespace tile::passes {

namespace {

/// Bounds are a few operations away from what they follow from.
constexpr int kMostDeep = 8;

ConstantRange between(const APInt &least, const APInt &most) {
  return ConstantRange::getNonEmpty(least, most + 1);
}

ConstantRange fromZero(unsigned width, int64_t least = 0) {
  return between(APInt(width, least), APInt::getSignedMaxValue(width));
}

ConstantRange rangeAt(Value value, int depth);

ConstantRange ofArgument(BlockArgument argument, unsigned width, int depth) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto function = dyn_cast<func::FuncOp>(parent)) {
    ir::ParamAttr param = ir::paramOf(function, argument.getArgNumber());
    bool isExtent = param && param.getKind() == ir::ParamKind::Extent;
    return isExtent ? fromZero(width) : ConstantRange::getFull(width);
  }
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (!loop || argument != loop.getInductionVar())
    return ConstantRange::getFull(width);
  // In the body it is below the upper bound, which is above the lower one then.
  APInt least = rangeAt(loop.getLowerBound(), depth).getSignedMin(),
        bound = rangeAt(loop.getUpperBound(), depth).getSignedMax();
  return bound.sgt(least) ? between(least, bound - 1) : ConstantRange::getFull(width);
}

ConstantRange ofResult(Operation *op, unsigned width, int depth) {
  auto operand = [&](unsigned i) { return rangeAt(op->getOperand(i), depth); };
  return llvm::TypeSwitch<Operation *, ConstantRange>(op)
      .Case<ir::DimOp, ir::ProgramIdOp, ir::TeamIdOp, ir::ClusterRankOp>(
          [&](auto) { return fromZero(width); })
      .Case([&](ir::NumProgramsOp) { return fromZero(width, 1); })
      .Case([&](arith::AddIOp) { return operand(0).add(operand(1)); })
      .Case([&](arith::SubIOp) { return operand(0).sub(operand(1)); })
      .Case([&](arith::MulIOp) { return operand(0).multiply(operand(1)); })
      .Case([&](arith::DivSIOp) { return operand(0).sdiv(operand(1)); })
      .Case([&](arith::DivUIOp) { return operand(0).udiv(operand(1)); })
      .Case([&](arith::RemSIOp) { return operand(0).srem(operand(1)); })
      .Case([&](arith::RemUIOp) { return operand(0).urem(operand(1)); })
      .Case([&](arith::MaxSIOp) { return operand(0).smax(operand(1)); })
      .Case([&](arith::MinSIOp) { return operand(0).smin(operand(1)); })
      .Case([&](arith::MinUIOp) { return operand(0).umin(operand(1)); })
      .Case([&](arith::ExtSIOp) { return operand(0).signExtend(width); })
      .Case([&](arith::ExtUIOp) { return operand(0).zeroExtend(width); })
      .Case([&](arith::TruncIOp) { return operand(0).truncate(width); })
      .Case([&](arith::SelectOp) { return operand(1).unionWith(operand(2)); })
      .Default([&](Operation *) { return ConstantRange::getFull(width); });
}

ConstantRange rangeAt(Value value, int depth) {
  Type type = value.getType();
  unsigned width =
      type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return ConstantRange(constant);
  if (depth == 0)
    return ConstantRange::getFull(width);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument, width, depth - 1);
  ConstantRange range = ofResult(value.getDefiningOp(), width, depth - 1);
  return range.isEmptySet() ? ConstantRange::getFull(width) : range; // of a division by zero
}

} // namespace

ConstantRange rangeOf(Value value) { return rangeAt(value, kMostDeep); }

bool isNeverBelow(Value a, Value b) {
  return rangeOf(a).getSignedMin().sge(rangeOf(b).getSignedMax());
}

} // namespace tile::passes
