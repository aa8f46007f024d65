// Shared memory: allocations and what they are for, transfers with their bank conflicts, changes of layout, barriers.
#include "codegen/report/MakeReport.h"

#include "ir/DotLayouts.h"
#include "ir/layout/Conversion.h"
#include "ir/layout/SharedAccess.h"
#include "passes/analysis/ResourcePlan.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tile::codegen {

namespace {

constexpr const char *kLayoutPurpose = "change of layout";
constexpr const char *kReducePurpose = "partial results of a reduction";

SharedTransfer transferOf(Operation *op, RankedTensorType tile, gpu::SmemType smem, bool isStore) {
  layout::Layout layout = gpu::layoutOf(tile);
  layout::SharedLayout shared = gpu::sharedOf(smem).leadingPart(layout.shape());
  auto bytes = static_cast<int>(gpu::bytesOf(smem.getElementType()));
  SharedTransfer transfer{sourceLineOf(op->getLoc()), isStore, shapeText(tile), dtypeText(tile)};
  layout::Wavefronts cost;
  auto matrices = isStore ? std::nullopt : layout::matchMatrixAccess(layout, shared, bytes);
  if (matrices) {
    cost = layout::matrixWavefronts(*matrices, layout.numWarps(), bytes);
    transfer.instruction =
        "ldmatrix.x" + std::to_string(matrices->matrices) + (matrices->transposed ? ".trans" : "");
  } else {
    cost = layout::bankWavefronts(layout, shared, bytes);
    size_t group = layout::vectorGroupOf(layout, shared, bytes, 0).size();
    transfer.instruction = std::to_string(group * bytes) + "-byte " + (isStore ? "store" : "load");
  }
  transfer.instructions = cost.instructions;
  transfer.idealWavefronts = cost.ideal;
  transfer.actualWavefronts = cost.actual;
  return transfer;
}

std::string purposeText(Operation *dot, char operand) {
  return std::string("operand ") + operand + " of the product at line " +
         std::to_string(sourceLineOf(dot->getLoc()).line);
}

// The product that takes the value as operand, seen through what keeps each element where it is; null if none does.
std::pair<ir::DotOp, char> productFedBy(Value value) {
  llvm::SmallSetVector<Value, 8> seen; // grows while it is gone through
  seen.insert(value);
  for (size_t i = 0; i < seen.size(); ++i)
    for (OpOperand &use : seen[i].getUses()) {
      Operation *user = use.getOwner();
      if (auto dot = dyn_cast<ir::DotOp>(user); dot && gpu::isDotOperand(use))
        return {dot, use.get() == dot.getA() ? 'A' : 'B'};
      if ((gpu::isElementwiseOnTiles(user) || isa<gpu::ConvertLayoutOp>(user)) &&
          user->getNumResults() == 1)
        seen.insert(user->getResult(0));
    }
  return {};
}

std::string purposeOf(gpu::SmemAllocOp alloc) {
  for (Operation *user : alloc->getUsers()) {
    if (auto store = dyn_cast<gpu::SmemStoreOp>(user))
      if (store.getValue().getDefiningOp<gpu::ReducePartialOp>())
        return kReducePurpose;
    if (auto load = dyn_cast<gpu::SmemLoadOp>(user))
      if (auto [dot, operand] = productFedBy(load.getResult()); dot)
        return purposeText(dot, operand);
    if (auto dot = dyn_cast<gpu::SmemDotOp>(user))
      return purposeText(dot, dot.getA() == alloc.getResult() ? 'A' : 'B');
  }
  return kLayoutPurpose;
}

AllocationReport allocationOf(const passes::SharedAllocation &plan) {
  gpu::SmemAllocOp op = plan.op;
  AllocationReport allocation;
  allocation.where = sourceLineOf(op.getLoc());
  allocation.bytes = plan.bytes;
  allocation.offset = op.getOffset().value_or(plan.offset);
  gpu::SmemType type = op.getResult().getType();
  allocation.tile = shapeText(type);
  allocation.dtype = dtypeText(type);
  allocation.purpose = purposeOf(op);
  allocation.begin = plan.firstUse, allocation.end = plan.lastUse;
  for (Operation *user : op->getUsers()) { // uses are listed last first
    if (allocation.lastUse.line == 0)
      allocation.lastUse = sourceLineOf(user->getLoc());
    allocation.firstUse = sourceLineOf(user->getLoc());
  }
  return allocation;
}

std::string textOf(Type tile) { return gpu::layoutOf(tile).toString(); }

LayoutChange changeOf(gpu::ConvertLayoutOp op) {
  Type from = op.getInput().getType(), to = op.getResult().getType();
  layout::Conversion plan = layout::planConversion(gpu::layoutOf(from), gpu::layoutOf(to));
  constexpr const char *names[] = {"no instructions", "register permutation", "shuffles",
                                   "shared memory"};
  LayoutChange change{sourceLineOf(op.getLoc()), shapeText(to), dtypeText(to),
                      names[static_cast<int>(plan.kind)], kLayoutPurpose};
  for (const layout::ShuffleRound &round : plan.shuffle.rounds)
    change.shuffles += !plan.shuffle.staysInLane(round);
  change.from = textOf(from), change.to = textOf(to);
  return change;
}

// An exchange through memory of its own; `load` is its end.
std::optional<LayoutChange> changeOf(gpu::SmemLoadOp load) {
  auto alloc = load.getSmem().getDefiningOp<gpu::SmemAllocOp>();
  std::string purpose = alloc ? purposeOf(alloc) : "";
  if (purpose != kLayoutPurpose && purpose != kReducePurpose)
    return std::nullopt;
  Type to = load.getResult().getType();
  LayoutChange change{sourceLineOf(load.getLoc()), shapeText(to), dtypeText(to), "shared memory",
                      purpose};
  change.sharedBytes = alloc.getResult().getType().getBytes();
  change.to = textOf(to);
  for (Operation *user : alloc->getUsers())
    if (auto store = dyn_cast<gpu::SmemStoreOp>(user))
      change.from = textOf(store.getValue().getType());
  return change;
}

} // namespace

void reportShared(func::FuncOp kernel, KernelReport &report) {
  passes::ResourcePlan plan(kernel);
  for (const passes::SharedAllocation &allocation : plan.allocations())
    report.allocations.push_back(allocationOf(allocation));
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto store = dyn_cast<gpu::SmemStoreOp>(op))
      report.sharedTransfers.push_back(transferOf(
          op, cast<RankedTensorType>(store.getValue().getType()), store.getSmem().getType(), true));
    if (auto load = dyn_cast<gpu::SmemLoadOp>(op)) {
      report.sharedTransfers.push_back(transferOf(
          op, cast<RankedTensorType>(load.getResult().getType()), load.getSmem().getType(), false));
      if (std::optional<LayoutChange> change = changeOf(load))
        report.layoutChanges.push_back(std::move(*change));
    }
    if (auto change = dyn_cast<gpu::ConvertLayoutOp>(op))
      report.layoutChanges.push_back(changeOf(change));
    if (auto barrier = dyn_cast<gpu::BarrierOp>(op))
      report.barriers.push_back(
          {sourceLineOf(op->getLoc()), barrier.getReason().value_or("").str()});
  });
}

} // namespace tile::codegen
