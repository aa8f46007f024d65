#include "codegen/report/Staging.h"

#include "codegen/report/MakeReport.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/gpu/DotLayouts.h"
#include "passes/analysis/GlobalMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tile::codegen {

namespace {

std::string lineText(Operation *op) { return std::to_string(sourceLineOf(op->getLoc()).line); }

std::string operandOf(Operation *dot, StringRef which) {
  return which.str() + " of the product at line " + lineText(dot);
}

// The use as an operand of a product, seen through what keeps each element where it is; null if there is none.
OpOperand *dotUse(Value value) {
  llvm::SmallSetVector<Value, 8> seen; // grows while it is gone through
  seen.insert(value);
  for (size_t i = 0; i < seen.size(); ++i)
    for (OpOperand &use : seen[i].getUses()) {
      Operation *user = use.getOwner();
      if (isa<ir::DotOp>(user) && gpu::isDotOperand(use))
        return &use;
      if ((gpu::isElementwiseOnTiles(user) || isa<gpu::ConvertLayoutOp, ir::PermuteOp>(user)) &&
          user->getNumResults() == 1)
        seen.insert(user->getResult(0));
    }
  return nullptr;
}

// The argument that is read, by its name or its number: "argument 'x'", "argument 1"; empty if it cannot be seen.
std::string argumentText(Value view) {
  auto root = cast_or_null<BlockArgument>(passes::rootOf(view));
  if (!root)
    return "";
  auto kernel = cast<func::FuncOp>(root.getOwner()->getParentOp());
  unsigned number = root.getArgNumber();
  if (auto name = kernel.getArgAttrOfType<StringAttr>(number, ir::kNameAttr))
    return "argument '" + name.str() + "'";
  ir::ParamAttr param = ir::paramOf(kernel, number);
  return "argument " + std::to_string((param ? param.getArg() : number) + 1);
}

std::string fillText(Operation *fill, StringRef how, Value view) {
  std::string argument = view ? argumentText(view) : "";
  return how.str() + (argument.empty() ? "" : " of " + argument) + " at line " + lineText(fill);
}

std::string fillText(Operation *access) {
  if (auto copy = dyn_cast<gpu::CopyAsyncOp>(access))
    return fillText(copy, "cp.async", copy.getView());
  if (auto copy = dyn_cast<gpu::TensorCopyOp>(access))
    return fillText(copy, "TMA", copy.getView());
  auto store = dyn_cast<gpu::SmemStoreOp>(access);
  if (!store)
    return "";
  ir::ViewLoadOp load = loadBehind(store.getValue());
  return fillText(load ? load.getOperation() : store, "stores from registers",
                  load ? load.getView() : Value());
}

std::string readText(Operation *access, gpu::SmemAllocOp memory) {
  std::string operand = operandText(access, memory);
  if (!operand.empty() || !isa<gpu::SmemLoadOp>(access))
    return operand;
  return "loads into registers at line " + lineText(access);
}

void addDistinct(std::vector<std::string> &texts, std::string text) {
  if (!text.empty() && !llvm::is_contained(texts, text))
    texts.push_back(std::move(text));
}

// The loop that reads the memory; null if none does.
scf::ForOp loopOfReads(ArrayRef<Operation *> accesses) {
  for (Operation *access : accesses)
    if (isa<gpu::SmemLoadOp, gpu::SmemDotOp, gpu::DotAsyncOp>(access))
      return access->getParentOfType<scf::ForOp>();
  return {};
}

} // namespace

ir::ViewLoadOp loadBehind(Value tile) {
  Operation *op = tile.getDefiningOp();
  while (op && !isa<ir::ViewLoadOp>(op)) {
    if (auto branch = dyn_cast<scf::IfOp>(op))
      tile = branch.thenYield().getOperand(cast<OpResult>(tile).getResultNumber());
    else if (isa<gpu::ConvertLayoutOp, ir::ReshapeOp>(op))
      tile = op->getOperand(0);
    else
      return {};
    op = tile.getDefiningOp();
  }
  return cast_or_null<ir::ViewLoadOp>(op);
}

llvm::DenseSet<Operation *> fillsBeforeLoops(const gpu::SharedAccesses &accesses) {
  llvm::DenseSet<Operation *> before;
  for (auto [memory, all] : accesses) {
    scf::ForOp loop = loopOfReads(all);
    auto isInside = [&](Operation *op) { return loop->isProperAncestor(op); };
    SmallVector<Operation *> fills = llvm::filter_to_vector(all, [](Operation *op) {
      return isa<gpu::CopyAsyncOp, gpu::TensorCopyOp, gpu::SmemStoreOp>(op);
    });
    if (!loop || memory.getStages() == 1 || llvm::none_of(fills, isInside))
      continue;
    for (Operation *fill : fills) {
      if (isInside(fill))
        continue;
      before.insert(fill);
      auto store = dyn_cast<gpu::SmemStoreOp>(fill);
      if (ir::ViewLoadOp load = store ? loadBehind(store.getValue()) : ir::ViewLoadOp())
        before.insert(load);
    }
  }
  return before;
}

StagingText stagingOf(gpu::SmemAllocOp memory, ArrayRef<Operation *> accesses) {
  StagingText text;
  for (Operation *access : accesses) {
    addDistinct(text.filledBy, fillText(access));
    addDistinct(text.readBy, readText(access, memory));
  }
  return text;
}

std::string operandText(Operation *read, gpu::SmemAllocOp memory) {
  if (auto load = dyn_cast<gpu::SmemLoadOp>(read)) {
    OpOperand *use = dotUse(load.getResult());
    return use ? operandOf(use->getOwner(), use->getOperandNumber() ? "operand B" : "operand A")
               : "";
  }
  if (!isa<gpu::SmemDotOp, gpu::DotAsyncOp>(read))
    return "";
  bool isA = gpu::allocationOf(read->getOperand(0)) == memory,
       isB = gpu::allocationOf(read->getOperand(1)) == memory;
  return operandOf(read, isA && isB ? "both operands" : isA ? "operand A" : "operand B");
}

} // namespace tile::codegen
