// Shared memory: allocations and what they are for, transfers with their bank conflicts, changes of layout, barriers.
#include "codegen/report/MakeReport.h"
#include "codegen/report/Staging.h"

#include "ir/annotations/FunctionAnnotations.h"
#include "ir/instructions/AsyncCopy.h"
#include "ir/instructions/LayoutChange.h"
#include "ir/layout/SharedAccess.h"
#include "passes/memory/ResourcePlan.h"

using namespace mlir;

namespace tile::codegen {

namespace {

constexpr const char *kLayoutPurpose = "change of layout";
constexpr const char *kAheadPurpose = "tiles of a loop's loads";
constexpr const char *kBarrierPurpose = "mbarriers that count the bytes that TMA writes";
constexpr const char *kStorePurpose = "subtiles that TMA stores";
constexpr const char *kClusterPurpose = "tiles that the blocks of a cluster add up";
constexpr const char *kReducePurpose = "partial results of a reduction";

void setCost(SharedTransfer &transfer, layout::Wavefronts cost, int64_t times = 1) {
  transfer.instructions = cost.instructions / times;
  transfer.idealWavefronts = cost.ideal / times;
  transfer.actualWavefronts = cost.actual / times;
}

// A copy that passes through no registers; nothing if it cannot be planned.
std::optional<SharedTransfer> transferOf(gpu::CopyAsyncOp copy) {
  gpu::SmemType smem = copy.getSmem().getType();
  auto plan = gpu::planAsyncCopy(copy, copy.getShape(), smem, ir::warpsOf(copy));
  if (!plan)
    return std::nullopt;
  auto bytes = static_cast<int>(gpu::bytesOf(smem.getElementType()));
  int vectorBytes = plan->elements * bytes;
  SharedTransfer transfer{sourceLineOf(copy.getLoc()), "copy", shapeText(smem), dtypeText(smem),
                          std::to_string(vectorBytes) + "-byte cp.async"};
  setCost(transfer, layout::bankWavefronts(plan->inMemory, gpu::sharedOf(smem), bytes, vectorBytes),
          warpsPerElement(plan->inMemory));
  return transfer;
}

SharedTransfer transferOf(Operation *op, RankedTensorType tile, gpu::SmemType smem) {
  auto store = dyn_cast<gpu::SmemStoreOp>(op);
  layout::Layout layout = gpu::layoutOf(tile);
  layout::SharedLayout shared = gpu::sharedOf(smem).leadingPart(layout.shape());
  auto bytes = static_cast<int>(gpu::bytesOf(smem.getElementType()));
  SharedTransfer transfer{sourceLineOf(op->getLoc()), store ? "store" : "load", shapeText(tile),
                          dtypeText(tile)};
  layout::Wavefronts cost;
  auto matrices = store && !store.getByMatrices()
                      ? std::nullopt
                      : layout::matchMatrixAccess(layout, shared, bytes);
  if (matrices) {
    cost = layout::matrixWavefronts(*matrices, layout.numWarps(), bytes);
    transfer.instruction = (store ? "stmatrix.x" : "ldmatrix.x") +
                           std::to_string(matrices->matrices) +
                           (matrices->transposed ? ".trans" : "");
  } else {
    cost = layout::bankWavefronts(layout, shared, bytes);
    size_t group = layout::vectorGroupOf(layout, shared, bytes, 0).size();
    transfer.instruction = std::to_string(group * bytes) + "-byte " + transfer.kind;
  }
  setCost(transfer, cost);
  return transfer;
}

bool isFilledByCopies(ArrayRef<Operation *> accesses) {
  return llvm::any_of(accesses,
                      [](Operation *op) { return isa<gpu::CopyAsyncOp, gpu::TensorCopyOp>(op); });
}

std::string purposeOf(gpu::SmemAllocOp alloc, ArrayRef<Operation *> accesses) {
  for (Operation *access : accesses) {
    if (isa<gpu::MbarrierInitOp>(access))
      return kBarrierPurpose;
    if (isa<gpu::TensorStoreOp>(access))
      return kStorePurpose;
    if (auto store = dyn_cast<gpu::SmemStoreOp>(access))
      if (store.getValue().getDefiningOp<gpu::ReducePartialOp>())
        return kReducePurpose;
    if (auto load = dyn_cast<gpu::SmemLoadOp>(access); load && load.getRank())
      return kClusterPurpose;
    if (std::string operand = operandText(access, alloc); !operand.empty())
      return operand;
  }
  return alloc.getStages() > 1 || isFilledByCopies(accesses) ? kAheadPurpose : kLayoutPurpose;
}

bool isExchange(StringRef purpose) {
  return purpose == kLayoutPurpose || purpose == kReducePurpose || purpose == kBarrierPurpose ||
         purpose == kStorePurpose || purpose == kClusterPurpose;
}

AllocationReport reportOf(const passes::SharedAllocation &plan, ArrayRef<Operation *> accesses) {
  gpu::SmemAllocOp op = plan.op;
  AllocationReport allocation;
  allocation.where = sourceLineOf(op.getLoc());
  allocation.bytes = plan.bytes;
  allocation.offset = op.getOffset().value_or(plan.offset);
  gpu::SmemType type = op.getResult().getType();
  allocation.tile = shapeText(type);
  allocation.dtype = dtypeText(type);
  allocation.stages = op.getStages();
  allocation.teams = op.getScope() == gpu::Scope::Block ? 1 : ir::teamsOf(op);
  allocation.purpose = purposeOf(op, accesses);
  if (!isExchange(allocation.purpose)) {
    StagingText staging = stagingOf(op, accesses);
    allocation.filledBy = std::move(staging.filledBy);
    allocation.readBy = std::move(staging.readBy);
  }
  allocation.begin = plan.firstUse, allocation.end = plan.lastUse;
  if (!accesses.empty()) {
    allocation.firstUse = sourceLineOf(accesses.front()->getLoc());
    allocation.lastUse = sourceLineOf(accesses.back()->getLoc());
  }
  return allocation;
}

std::string textOf(Type tile) { return gpu::layoutOf(tile).toString(); }

LayoutChange changeOf(gpu::ConvertLayoutOp op) {
  Type from = op.getInput().getType(), to = op.getResult().getType();
  layout::Conversion plan = gpu::planOf(op);
  constexpr const char *names[] = {"no instructions", "register permutation", "shuffles",
                                   "shared memory"};
  LayoutChange change{sourceLineOf(op.getLoc()), shapeText(to), dtypeText(to),
                      names[static_cast<int>(plan.kind)], kLayoutPurpose};
  const layout::ShufflePlan shuffle = gpu::shufflesOfPairs(op, plan).value_or(plan.shuffle);
  for (const layout::ShuffleRound &round : shuffle.rounds)
    change.shuffles += !shuffle.staysInLane(round);
  change.from = textOf(from), change.to = textOf(to);
  return change;
}

// An exchange through memory of its own; `load` is its end.
std::optional<LayoutChange> changeOf(gpu::SmemLoadOp load, const gpu::SharedAccesses &accesses) {
  gpu::SmemAllocOp alloc = gpu::allocationOf(load.getSmem());
  ArrayRef<Operation *> all = alloc ? accesses.find(alloc)->second : ArrayRef<Operation *>();
  std::string purpose = alloc ? purposeOf(alloc, all) : "";
  if (!isExchange(purpose) || purpose == kClusterPurpose)
    return std::nullopt;
  Type to = load.getResult().getType();
  LayoutChange change{sourceLineOf(load.getLoc()), shapeText(to), dtypeText(to), "shared memory",
                      purpose};
  change.sharedBytes = alloc.getResult().getType().getBytes();
  change.to = textOf(to);
  for (Operation *access : all)
    if (auto store = dyn_cast<gpu::SmemStoreOp>(access))
      change.from = textOf(store.getValue().getType());
  return change;
}

} // namespace

void reportShared(func::FuncOp kernel, KernelReport &report) {
  passes::ResourcePlan plan(kernel);
  gpu::SharedAccesses accesses = gpu::sharedAccessesOf(kernel);
  for (const passes::SharedAllocation &allocation : plan.allocations())
    report.allocations.push_back(reportOf(allocation, accesses[allocation.op]));
  llvm::DenseSet<Operation *> before = fillsBeforeLoops(accesses);
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto copy = dyn_cast<gpu::CopyAsyncOp>(op);
    if (std::optional<SharedTransfer> transfer =
            copy && !before.contains(op) ? transferOf(copy) : std::nullopt)
      report.sharedTransfers.push_back(std::move(*transfer));
    if (auto store = dyn_cast<gpu::SmemStoreOp>(op); store && !before.contains(op))
      report.sharedTransfers.push_back(transferOf(
          op, cast<RankedTensorType>(store.getValue().getType()), store.getSmem().getType()));
    if (auto load = dyn_cast<gpu::SmemLoadOp>(op)) {
      report.sharedTransfers.push_back(transferOf(
          op, cast<RankedTensorType>(load.getResult().getType()), load.getSmem().getType()));
      if (std::optional<LayoutChange> change = changeOf(load, accesses))
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
