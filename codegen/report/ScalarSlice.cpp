#include "codegen/report/ScalarSlice.h"

#include "ir/annotations/FunctionAnnotations.h"
#include "passes/analysis/GlobalMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

#include <utility>

using namespace mlir;

namespace tile::codegen {

namespace {

// What all threads get from memory that is written once, as the number that one of them has; null if it is written more often.
Value onlyValueIn(Value memory) {
  Value stored;
  for (Operation *user : memory.getUsers())
    if (auto store = dyn_cast<gpu::SmemStoreOp>(user))
      if (std::exchange(stored, store.getValue()))
        return {};
  return stored;
}

SmallVector<Value> ofArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    SmallVector<Value> from = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
    if (number > 0)
      from.append({loop.getInitArgs()[number - 1], loop.getYieldedValues()[number - 1]});
    return from;
  }
  auto loop = dyn_cast<scf::WhileOp>(parent);
  if (!loop)
    return {};
  SmallVector<Value> from = {loop.getConditionOp().getCondition()};
  if (argument.getOwner() == loop.getAfterBody())
    from.push_back(loop.getConditionOp().getArgs()[number]);
  else
    from.append({loop.getInits()[number], loop.getYieldOp().getOperand(number)});
  return from;
}

// What a number is computed from.
SmallVector<Value> followedFrom(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument);
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return {loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), loop.getInitArgs()[number],
            loop.getYieldedValues()[number]};
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return {branch.getCondition(), branch.thenYield().getOperand(number),
            branch.elseYield().getOperand(number)};
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return {loop.getConditionOp().getCondition(), loop.getConditionOp().getArgs()[number]};
  if (auto add = dyn_cast<ir::AtomicRmwOp>(op))
    return isOnCounter(add.getPtr()) ? SmallVector<Value>{add.getPtr(), add.getValue()}
                                     : SmallVector<Value>();
  if (computeOf(op) == Compute::Unknown)
    return {};
  return llvm::to_vector(op->getOperands());
}

} // namespace

Value sourceOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<ir::FactsOp, ir::SplatOp, ir::ItemOp, gpu::ConvertLayoutOp>(op))
      value = op->getOperand(0);
    else if (auto load = dyn_cast<gpu::SmemLoadOp>(op)) {
      Value stored = onlyValueIn(load.getOperand(0));
      if (!stored)
        return value;
      value = stored;
    } else if (auto dim = dyn_cast<ir::DimOp>(op)) {
      auto view = dim.getView().getDefiningOp<ir::MakeViewOp>();
      if (!view)
        return value;
      value = view.getExtents()[dim.getDim()];
    } else
      return value;
  }
  return value;
}

bool isOnCounter(Value pointer) {
  auto root = cast_or_null<BlockArgument>(passes::rootOf(pointer));
  if (!root)
    return false;
  ir::ParamAttr param =
      ir::paramOf(cast<func::FuncOp>(root.getOwner()->getParentOp()), root.getArgNumber());
  return param && param.getKind() == ir::ParamKind::Counters;
}

Compute computeOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Compute>(op)
      .Case<arith::AddIOp, ir::AddPtrOp>([](auto) { return Compute::Add; })
      .Case<arith::SubIOp>([](auto) { return Compute::Sub; })
      .Case<arith::MulIOp>([](auto) { return Compute::Mul; })
      .Case<arith::DivSIOp>([](auto) { return Compute::DivS; })
      .Case<arith::DivUIOp>([](auto) { return Compute::DivU; })
      .Case<arith::RemSIOp>([](auto) { return Compute::RemS; })
      .Case<arith::RemUIOp>([](auto) { return Compute::RemU; })
      .Case<arith::FloorDivSIOp>([](auto) { return Compute::FloorDiv; })
      .Case<arith::CeilDivSIOp>([](auto) { return Compute::CeilDiv; })
      .Case<arith::CeilDivUIOp>([](auto) { return Compute::CeilDivU; })
      .Case<arith::MaxSIOp>([](auto) { return Compute::MaxS; })
      .Case<arith::MinSIOp>([](auto) { return Compute::MinS; })
      .Case<arith::MaxUIOp>([](auto) { return Compute::MaxU; })
      .Case<arith::MinUIOp>([](auto) { return Compute::MinU; })
      .Case<arith::AndIOp>([](auto) { return Compute::And; })
      .Case<arith::OrIOp>([](auto) { return Compute::Or; })
      .Case<arith::XOrIOp>([](auto) { return Compute::Xor; })
      .Case<arith::ShLIOp>([](auto) { return Compute::Shl; })
      .Case<arith::ShRSIOp>([](auto) { return Compute::ShrS; })
      .Case<arith::ShRUIOp>([](auto) { return Compute::ShrU; })
      .Case<arith::CmpIOp>([](auto) { return Compute::Compare; })
      .Case<arith::SelectOp>([](auto) { return Compute::Select; })
      .Case<arith::ExtSIOp>([](arith::ExtSIOp extend) { // of a truth value there are other forms
        return extend.getIn().getType().isInteger(1) ? Compute::Unknown : Compute::Copy;
      })
      .Case<arith::IndexCastOp>([](auto) { return Compute::Copy; })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([](auto) { return Compute::ExtendUnsigned; })
      .Case<arith::TruncIOp>([](auto) { return Compute::Truncate; })
      .Case<ir::ProgramIdOp>([](auto) { return Compute::ProgramId; })
      .Case<ir::NumProgramsOp>([](auto) { return Compute::NumPrograms; })
      .Case<ir::TeamIdOp>([](auto) { return Compute::TeamId; })
      .Case<ir::ClusterRankOp>([](auto) { return Compute::ClusterRank; })
      .Case<ir::ByRoleOp>([](auto) { return Compute::ByRole; })
      .Default([](auto) { return Compute::Unknown; });
}

ScalarSlice::ScalarSlice(func::FuncOp kernel, llvm::function_ref<bool(Operation *)> matters) {
  kernel.walk([&](Operation *op) {
    if (isGlobalAccess(op) || matters(op))
      for (Operation *parent = op; parent && parent != kernel; parent = parent->getParentOp())
        if (!matters_.insert(parent).second)
          break;
  });
  kernel.walk([&](Operation *op) {
    if (matters_.contains(op))
      needControl(op);
    if (isGlobalAccess(op))
      needPlace(op);
  });
}

void ScalarSlice::needControl(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    need({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  else if (auto branch = dyn_cast<scf::IfOp>(op))
    need(branch.getCondition());
  else if (auto loop = dyn_cast<scf::WhileOp>(op))
    need(loop.getConditionOp().getCondition());
  else if (auto elect = dyn_cast<gpu::ElectOp>(op); elect && elect.getPredicate())
    need(elect.getPredicate());
}

void ScalarSlice::needPlace(Operation *op) {
  for (Value operand : op->getOperands())
    if (operand.getType().isInteger())
      need(operand);
    else if (isa<ir::ViewType, ir::PtrType>(operand.getType()))
      needView(operand);
  if (auto add = dyn_cast<ir::AtomicRmwOp>(op); add && isOnCounter(add.getPtr()))
    need({add.getPtr(), add.getValue()});
  if (auto store = dyn_cast<ir::StoreOp>(op); store && isOnCounter(store.getPtr()))
    need({store.getPtr(), store.getValue()});
}

void ScalarSlice::needView(Value view) {
  while (auto permuted = view.getDefiningOp<ir::PermuteViewOp>())
    view = permuted.getView();
  if (auto made = view.getDefiningOp<ir::MakeViewOp>()) {
    need(made.getExtents());
    need(made.getStrides());
    view = made.getBase();
  }
  while (auto moved = view.getDefiningOp<ir::AddPtrOp>()) {
    need(moved.getOffset());
    view = moved.getPtr();
  }
}

void ScalarSlice::need(ValueRange values) {
  for (Value value : values)
    need(value);
}

void ScalarSlice::need(Value value) {
  SmallVector<Value> open = {sourceOf(value)};
  while (!open.empty()) {
    Value next = sourceOf(open.pop_back_val());
    if (!needed_.insert(next).second)
      continue;
    llvm::append_range(open, followedFrom(next));
  }
}

} // namespace tile::codegen
