#include "passes/staging/LoopOperands.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/annotations/VariantAnnotations.h"

#include "ir/LayoutAttr.h"
#include "ir/LayoutOp.h"
#include "ir/UserError.h"
#include "ir/gpu/DotLayouts.h"
#include "ir/instructions/AsyncCopy.h"
#include "ir/instructions/TensorCopy.h"
#include "ir/layout/Derived.h"
#include "ir/layout/MultiplyAdd.h"
#include "passes/analysis/FragmentLoads.h"
#include "passes/analysis/RunAhead.h"
#include "passes/staging/StagingLayout.h"
#include "passes/staging/TransposedTiles.h"
#include "passes/staging/WgmmaMemory.h"
#include <numeric>

using namespace mlir;

namespace tile::passes {

namespace {

// --- How an operand gets to shared memory ---

/// The memory that a wgmma demands for an operand; null if none reads it. Several agree, since for
/// all of them the tile is ordered as its view.
gpu::SmemType memoryForWgmma(const LoopOperand &part) {
  for (auto [operand, isTransposed] : part.uses)
    if (gpu::isWgmma(cast<ir::DotOp>(operand->getOwner())) && gpu::readsSharedMemory(*operand)) {
      gpu::SmemType memory = wgmmaStagingType(*operand);
      return isTransposed ? transposed(memory) : memory;
    }
  return {};
}

std::optional<gpu::AsyncCopyPlan> copyPlan(ir::ViewLoadOp load, gpu::SmemType memory) {
  return gpu::planAsyncCopy(load, ir::shapeOf(load.getResult().getType()), memory,
                            ir::warpsOf(load));
}

// The cost of asynchronous copies or, if those are impossible, of loads into registers and stores.
int64_t costOfCopy(ir::ViewLoadOp load, const layout::Layout &loaded, gpu::SmemType memory) {
  layout::SharedLayout shared = gpu::sharedOf(memory);
  int64_t bytes = gpu::bytesOf(memory.getElementType());
  std::optional<gpu::AsyncCopyPlan> plan = copyPlan(load, memory);
  if (!plan)
    return loaded.numRegisters() / gpu::accessOf(load).getVector() +
           accessCost(loaded, shared, bytes);
  layout::VectorGroup group(static_cast<size_t>(plan->elements));
  std::iota(group.begin(), group.end(), 0);
  return accessCost(plan->inMemory, shared, bytes, group);
}

// TMA writes swizzles of its own, which must not cost the readers more. If it cannot be used,
// threads copy.
bool decideTma(ir::ViewLoadOp load, LoopOperand &part) {
  Type element = ir::elementTypeOf(load.getResult().getType());
  ArrayRef<int64_t> shape = ir::shapeOf(load.getResult().getType());
  gpu::SmemType demanded = memoryForWgmma(part),
                memory =
                    demanded ? demanded : gpu::tensorCopyMemory(load, shape, element, part.shape);
  Refusal why = "its fastest dimension in the view is none of the tile";
  bool isPossible = memory && gpu::planTensorCopy(load, load.getView(), shape, memory, &why);
  if (isPossible && !demanded && !isRow(part.shape) &&
      readCost(memory, part.readers) >
          readCost(stagingType(part.loaded, element, part.readers), part.readers)) {
    isPossible = false;
    why = "what reads the tile would meet bank conflicts in memory as TMA writes it";
  }
  if (isPossible) {
    part.memory = memory;
    part.transport = gpu::LoadVariant::Tma;
    return true;
  }
  gpu::addRefusal(load, "tma refused: " + *why);
  gpu::setVariant(load, gpu::LoadVariant::CpAsync);
  return false;
}

void decideByThreads(ir::ViewLoadOp load, LoopOperand &part) {
  Type element = ir::elementTypeOf(load.getResult().getType());
  bool wantsAsync = gpu::loadVariantOf(load) == gpu::LoadVariant::CpAsync;
  if (gpu::SmemType memory = memoryForWgmma(part))
    part.memory = memory;
  else if (wantsAsync)
    part.memory = stagingType(part.loaded, element, part.readers, [&](gpu::SmemType memory) {
      return costOfCopy(load, part.loaded, memory);
    });
  else
    part.memory = stagingType(part.loaded, element, part.readers);
  if (wantsAsync && copyPlan(load, part.memory))
    part.transport = gpu::LoadVariant::CpAsync;
}

// Decides how the tile gets to shared memory; false if it has no layout in the shape that dots
// take.
bool decide(ir::ViewLoadOp load, LoopOperand &part) {
  if (part.readers.empty()) { // dots take what is computed from it
    ArrayRef<int64_t> shape = ir::shapeOf(load.getResult().getType());
    part.shape.assign(shape.begin(), shape.end());
    part.readers.push_back(gpu::layoutOf(load.getResult().getType()));
  }
  auto loaded = layout::reshape(gpu::layoutOf(load.getResult().getType()), part.shape);
  if (!loaded)
    return false;
  part.loaded = *loaded;
  if (gpu::loadVariantOf(load) == gpu::LoadVariant::Tma && decideTma(load, part))
    return true;
  decideByThreads(load, part);
  return true;
}

LogicalResult verifyDemand(ir::ViewLoadOp load, const LoopOperand &part) {
  bool wantsTma = gpu::demands(load, gpu::LoadVariant::Tma);
  if (!wantsTma || part.transport == gpu::LoadVariant::Tma)
    return success();
  return ir::userError(load.emitError(), ErrorCode::Unsupported) << gpu::refusalsOf(load).back();
}

// --- Who reads the operands ---

/// The layout in which a dot reads an operand: of its fragments or, if it reads shared memory, of
/// the elements that each thread multiplies.
layout::Layout readerOf(OpOperand &use) {
  auto dot = cast<ir::DotOp>(use.getOwner());
  if (!gpu::isMultiplyAdd(dot))
    return gpu::layoutOf(use.get().getType());
  layout::Layout acc = gpu::layoutOf(dot.getAcc().getType());
  return use.getOperandNumber() == 0 ? layout::multiplyAddRows(acc, dot.getSizes().k)
                                     : layout::multiplyAddColumns(acc, dot.getSizes().k);
}

// Is the tile read by tensor cores alone, as a matrix? Dots by multiply-add cannot read a
// transposed tile in shared memory.
bool isForTensorCores(ir::ViewLoadOp load) {
  SmallVector<Value> open = {load.getResult()};
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (gpu::isDotOperand(use)) {
        auto dot = cast<ir::DotOp>(user);
        if (gpu::isMultiplyAdd(dot) || dot.isBatched())
          return false;
      } else if (user->getNumResults() == 1 && loadBehind(user->getResult(0)) == load) {
        open.push_back(user->getResult(0));
      } else {
        return false;
      }
    }
  return true;
}

class Collector {
public:
  explicit Collector(scf::ForOp loop) : loop_(loop) {}

  LoopOperands collect() {
    for (auto load : loop_.getBody()->getOps<ir::ViewLoadOp>())
      if (feedsDot(load) && !goesToFragments(load) && !whyNotAhead(load))
        addPart(load);
    for (auto dot : loop_.getBody()->getOps<ir::DotOp>())
      for (unsigned number : {0u, 1u})
        collect(dot->getOpOperand(number));
    for (auto change : loop_.getBody()->getOps<gpu::ConvertLayoutOp>())
      collect(change);
    parts_.remove_if([](auto &part) { return !decide(part.first, part.second); });
    return std::move(parts_);
  }

private:
  void addPart(ir::ViewLoadOp load) {
    const auto *same = llvm::find_if(parts_, [&](auto &part) {
      return isTransposeOf(load, part.first) && isForTensorCores(load);
    });
    if (same == parts_.end())
      parts_[load] = {};
    else
      transposes_[load] = same->first;
  }

  // The load that an operand comes from, or its transpose.
  OperandLoad sourceOf(OpOperand &use) {
    bool readsAsItLies = gpu::isMultiplyAdd(cast<ir::DotOp>(use.getOwner()));
    OperandLoad source =
        readsAsItLies ? OperandLoad{loadBehind(use.get())} : loadEitherWay(use.get());
    ir::ViewLoadOp same = source.load ? transposes_.lookup(source.load) : source.load;
    return same ? OperandLoad{same, !source.isTransposed} : source;
  }

  void collect(OpOperand &use) {
    auto [load, isTransposed] = sourceOf(use);
    auto *found = load ? parts_.find(load) : parts_.end();
    if (found == parts_.end())
      return;
    LoopOperand &part = found->second;
    SmallVector<int64_t> shape(ir::shapeOf(use.get().getType()));
    layout::Layout reader = readerOf(use);
    if (isTransposed)
      std::reverse(shape.begin(), shape.end()), reader = layout::permute(reader, {1, 0});
    if (part.uses.empty())
      part.shape.assign(shape.begin(), shape.end());
    if (ArrayRef(part.shape) != ArrayRef(shape))
      return; // of another rank, gets a stage of its own
    part.uses.push_back({&use, isTransposed});
    part.readers.push_back(reader);
  }

  void collect(gpu::ConvertLayoutOp change) {
    ir::ViewLoadOp load = loadBehind(change.getResult());
    auto found = load ? parts_.find(load) : parts_.end();
    bool isForDots = llvm::all_of(change->getUses(), gpu::isDotOperand);
    if (found == parts_.end() || isForDots)
      return;
    LoopOperand &part = found->second;
    ArrayRef<int64_t> shape = ir::shapeOf(change.getResult().getType());
    if (part.readers.empty())
      part.shape.assign(shape.begin(), shape.end());
    if (ArrayRef(part.shape) != shape)
      return;
    part.changes.push_back(change);
    part.readers.push_back(gpu::layoutOf(change.getResult().getType()));
  }

  scf::ForOp loop_;
  LoopOperands parts_;
  llvm::DenseMap<ir::ViewLoadOp, ir::ViewLoadOp> transposes_; ///< a load's listed transpose
};

} // namespace

FailureOr<LoopOperands> partsOf(scf::ForOp loop) {
  LoopOperands parts = Collector(loop).collect();
  for (auto &[load, part] : parts)
    if (failed(verifyDemand(load, part)))
      return failure();
  return parts;
}

} // namespace tile::passes
