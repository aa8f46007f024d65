#include "codegen/report/ScalarCode.h"

#include "codegen/report/MakeReport.h"
#include "codegen/report/ScalarSlice.h"
#include "codegen/report/WorkOfOp.h"
#include "codegen/report/WorkScopes.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "passes/analysis/GlobalMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::codegen {

namespace {

unsigned bitsOf(Type type) { return type.isInteger() ? type.getIntOrFloatBitWidth() : 64; }

class CodeWriter {
public:
  CodeWriter(func::FuncOp kernel, const ScalarSlice &slice) : kernel_(kernel), slice_(slice) {}

  ScalarCode write() {
    for (BlockArgument argument : kernel_.getArguments())
      if (ScalarId id = idOf(argument); id != kNoScalar)
        code_.parameters.emplace_back(id, argument.getArgNumber());
    ScalarBlock body; // grows apart from the lists, which move
    writeBlock(kernel_.getBody().front(), body);
    code_.body = std::move(body);
    return std::move(code_);
  }

private:
  ScalarId idOf(Value value) {
    value = sourceOf(value);
    if (!slice_.isNeeded(value))
      return kNoScalar;
    auto [entry, isNew] = ids_.try_emplace(value, static_cast<ScalarId>(code_.initial.size()));
    if (isNew)
      code_.initial.push_back(constantOf(value));
    return entry->second;
  }

  static Scalar constantOf(Value value) {
    APInt number;
    if (!matchPattern(value, m_ConstantInt(&number)) || number.getBitWidth() > 64)
      return {};
    uint64_t bits = number.getBitWidth() == 1 ? number.getZExtValue()
                                              : static_cast<uint64_t>(number.getSExtValue());
    return {static_cast<int64_t>(bits), true};
  }

  template <class Values> SmallVector<ScalarId> idsOf(Values &&values) {
    SmallVector<ScalarId> ids;
    for (Value value : values)
      ids.push_back(idOf(value));
    return ids;
  }

  void writeBlock(Block &block, ScalarBlock &steps) {
    for (Operation &op : block)
      writeOp(&op, steps);
  }

  void writeOp(Operation *op, ScalarBlock &steps) {
    bool isFollowed = slice_.matters(op) || slice_.isNeeded(op);
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (isFollowed)
        writeLoop(loop, steps);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (isFollowed)
        writeBranch(branch, steps);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      if (isFollowed)
        writeWhile(loop, steps);
    } else if (auto roles = dyn_cast<gpu::WarpSpecializeOp>(op)) {
      writeRoles(roles, steps);
    } else if (auto elect = dyn_cast<gpu::ElectOp>(op)) {
      writeElect(elect, steps);
    } else if (isGlobalAccess(op)) {
      writeAccess(op, steps);
    } else if (isa<func::CallOp, ir::InlinePtxOp, ir::InlineCudaOp>(op) && !isPureForeign(op)) {
      writeForeign(op);
    } else if (isFollowed && op->getNumResults() == 1 && !isa<arith::ConstantOp>(op)) {
      writeCompute(op, steps);
    }
  }

  void writeForeign(Operation *op) {
    auto call = dyn_cast<func::CallOp>(op);
    code_.unfollowed.emplace_back(op, call ? "what '" + call.getCallee().str() + "' does"
                                      : isa<ir::InlinePtxOp>(op) ? "what inline PTX does"
                                                                 : "what inline CUDA does");
  }

  void writeCompute(Operation *op, ScalarBlock &steps) {
    ScalarStep step;
    step.out = idOf(op->getResult(0));
    step.compute = computeOf(op);
    if (step.out == kNoScalar || step.compute == Compute::Unknown)
      return;
    step.bits = static_cast<uint8_t>(bitsOf(op->getResult(0).getType()));
    ScalarId *operands[] = {&step.a, &step.b, &step.c};
    for (auto [number, operand] : llvm::enumerate(op->getOperands().take_front(3)))
      *operands[number] = idOf(operand);
    if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      step.index = static_cast<int32_t>(compare.getPredicate());
      step.bits = static_cast<uint8_t>(bitsOf(compare.getLhs().getType()));
    }
    if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
      step.bits = static_cast<uint8_t>(bitsOf(op->getOperand(0).getType()));
    if (auto id = dyn_cast<ir::ProgramIdOp>(op))
      step.index = static_cast<int32_t>(id.getAxis());
    if (auto count = dyn_cast<ir::NumProgramsOp>(op))
      step.index = static_cast<int32_t>(count.getAxis());
    steps.push_back(step);
  }

  void writeLoop(scf::ForOp loop, ScalarBlock &steps) {
    ScalarLoop one;
    one.lower = idOf(loop.getLowerBound()), one.upper = idOf(loop.getUpperBound());
    one.step = idOf(loop.getStep()), one.index = idOf(loop.getInductionVar());
    one.inits = idsOf(loop.getInitArgs()), one.arguments = idsOf(loop.getRegionIterArgs());
    one.yields = idsOf(loop.getYieldedValues()), one.results = idsOf(loop.getResults());
    one.matters = slice_.matters(loop), one.region = &loop.getRegion();
    writeBlock(*loop.getBody(), one.body);
    steps.push_back(stepOf(ScalarStep::Kind::Loop, code_.loops.size()));
    code_.loops.push_back(std::move(one));
  }

  void writeBranch(scf::IfOp branch, ScalarBlock &steps) {
    ScalarBranch one;
    one.op = branch;
    one.condition = idOf(branch.getCondition());
    one.matters = slice_.matters(branch);
    one.results = idsOf(branch.getResults());
    for (auto [arm, region] : llvm::enumerate(branch->getRegions())) {
      if (region.empty())
        continue;
      one.regions[arm] = &region;
      writeBlock(region.front(), one.arms[arm]);
      one.yields[arm] = idsOf(region.front().getTerminator()->getOperands());
    }
    steps.push_back(stepOf(ScalarStep::Kind::Branch, code_.branches.size()));
    code_.branches.push_back(std::move(one));
  }

  void writeRoles(gpu::WarpSpecializeOp roles, ScalarBlock &steps) {
    ScalarRoles one;
    for (unsigned number = 0; number < roles.getRoles().size(); ++number)
      writeBlock(roles.getBody(number), roles.getRole(number).getKind() == gpu::RoleKind::Producer
                                            ? one.producer
                                            : one.consumers);
    steps.push_back(stepOf(ScalarStep::Kind::Roles, code_.roles.size()));
    code_.roles.push_back(std::move(one));
  }

  void writeElect(gpu::ElectOp elect, ScalarBlock &steps) {
    if (!elect.getPredicate())
      return writeBlock(elect.getBody().front(), steps);
    ScalarBranch one;
    one.op = elect;
    one.condition = idOf(elect.getPredicate());
    one.matters = slice_.matters(elect);
    writeBlock(elect.getBody().front(), one.arms[0]);
    steps.push_back(stepOf(ScalarStep::Kind::Branch, code_.branches.size()));
    code_.branches.push_back(std::move(one));
  }

  void writeWhile(scf::WhileOp loop, ScalarBlock &steps) {
    ScalarWhile one;
    one.condition = idOf(loop.getConditionOp().getCondition());
    one.inits = idsOf(loop.getInits()), one.beforeArguments = idsOf(loop.getBeforeArguments());
    one.passed = idsOf(loop.getConditionOp().getArgs());
    one.afterArguments = idsOf(loop.getAfterArguments());
    one.yields = idsOf(loop.getYieldOp().getOperands()), one.results = idsOf(loop.getResults());
    one.matters = slice_.matters(loop), one.region = &loop.getAfter();
    writeBlock(*loop.getBeforeBody(), one.before);
    writeBlock(*loop.getAfterBody(), one.after);
    steps.push_back(stepOf(ScalarStep::Kind::While, code_.whiles.size()));
    code_.whiles.push_back(std::move(one));
  }

  void writeAccess(Operation *op, ScalarBlock &steps) {
    steps.push_back(stepOf(ScalarStep::Kind::Access, code_.accesses.size()));
    code_.accesses.push_back(accessOf(op));
    if (auto add = dyn_cast<ir::AtomicRmwOp>(op); add && isOnCounter(add.getPtr()))
      writeCell(ScalarStep::Kind::AddToCell, add.getPtr(), add.getValue(), add.getResult(), steps);
    if (auto store = dyn_cast<ir::StoreOp>(op); store && isOnCounter(store.getPtr()))
      writeCell(ScalarStep::Kind::SetCell, store.getPtr(), store.getValue(), Value(), steps);
  }

  void writeCell(ScalarStep::Kind kind, Value place, Value value, Value old, ScalarBlock &steps) {
    ScalarStep step;
    step.kind = kind;
    step.a = idOf(place), step.b = idOf(value), step.out = old ? idOf(old) : kNoScalar;
    steps.push_back(step);
  }

  ScalarAccess accessOf(Operation *op) {
    ScalarAccess access;
    access.op = op;
    Value place; // a view, or a pointer
    auto ofView = [&](Value view, ValueRange offsets, ArrayRef<int64_t> shape) {
      place = view;
      access.offsets = idsOf(offsets);
      access.shape.assign(shape.begin(), shape.end());
    };
    if (auto load = dyn_cast<ir::ViewLoadOp>(op)) {
      ofView(load.getView(), load.getOffsets(), extentsOf(load.getType()));
      access.isUnchecked = load.getUnchecked();
    } else if (auto store = dyn_cast<ir::ViewStoreOp>(op)) {
      ofView(store.getView(), store.getOffsets(), extentsOf(store.getValue().getType()));
      access.isUnchecked = store.getUnchecked();
    } else if (auto copy = dyn_cast<gpu::CopyAsyncOp>(op)) {
      ofView(copy.getView(), copy.getOffsets(), copy.getShape());
      access.predicate = copy.getPredicate() ? idOf(copy.getPredicate()) : kNoScalar;
    } else if (auto copy = dyn_cast<gpu::TensorCopyOp>(op)) {
      ofView(copy.getView(), copy.getOffsets(), copy.getShape());
    } else if (auto store = dyn_cast<gpu::TensorStoreOp>(op)) {
      ofView(store.getView(), store.getOffsets(), store.getShape());
    } else {
      ofPointer(op, access, place);
    }
    placeOf(place, access);
    return access;
  }

  static void ofPointer(Operation *op, ScalarAccess &access, Value &place) {
    Value tile = op->getNumResults() ? op->getResult(0) : op->getOperand(0);
    llvm::append_range(access.shape, extentsOf(tile.getType()));
    for (Value operand : op->getOperands()) {
      Type element = ir::elementTypeOf(operand.getType());
      if (isa<ir::PtrType>(element))
        place = operand;
      else if (isa<ir::LoadOp, ir::StoreOp, ir::AtomicRmwOp, ir::AtomicCasOp>(op))
        access.isMasked |= element.isInteger(1) && operand != tile;
    }
  }

  // Extents, and what is added to the argument's pointer.
  void placeOf(Value place, ScalarAccess &access) {
    SmallVector<int32_t> order;
    while (auto permuted = place.getDefiningOp<ir::PermuteViewOp>()) {
      SmallVector<int32_t> outer(permuted.getOrder());
      for (int32_t &dim : order)
        dim = outer[dim];
      if (order.empty())
        order = outer;
      place = permuted.getView();
    }
    if (auto made = place.getDefiningOp<ir::MakeViewOp>()) {
      for (size_t dim = 0; dim < made.getExtents().size(); ++dim) {
        size_t from = order.empty() ? dim : static_cast<size_t>(order[dim]);
        access.extents.push_back(idOf(made.getExtents()[from]));
        access.strides.push_back(idOf(made.getStrides()[from]));
      }
      place = made.getBase();
    }
    auto root = cast_or_null<BlockArgument>(passes::rootOf(place));
    if (!root)
      return;
    ir::ParamAttr param = ir::paramOf(kernel_, root.getArgNumber());
    access.argument = param ? param.getArg() : -1;
    while (auto moved = place.getDefiningOp<ir::AddPtrOp>()) {
      access.base.push_back(idOf(moved.getOffset()));
      place = moved.getPtr();
    }
    access.hasKnownBase = place == root;
  }

  static ScalarStep stepOf(ScalarStep::Kind kind, size_t index) {
    ScalarStep step;
    step.kind = kind;
    step.index = static_cast<int32_t>(index);
    return step;
  }

  func::FuncOp kernel_;
  const ScalarSlice &slice_;
  ScalarCode code_;
  llvm::DenseMap<Value, ScalarId> ids_;
};

} // namespace

bool isGlobalAccess(Operation *op) {
  return isa<ir::ViewLoadOp, ir::ViewStoreOp, ir::LoadOp, ir::StoreOp, ir::AtomicRmwOp,
             ir::AtomicCasOp, gpu::CopyAsyncOp, gpu::TensorCopyOp, gpu::TensorStoreOp,
             gpu::WorkspaceLoadOp, gpu::WorkspaceStoreOp, gpu::WorkspaceAddOp>(op);
}

ScalarCode scalarCodeOf(func::FuncOp kernel, llvm::function_ref<bool(Operation *)> matters) {
  ScalarSlice slice(kernel, matters);
  return CodeWriter(kernel, slice).write();
}

} // namespace tile::codegen
