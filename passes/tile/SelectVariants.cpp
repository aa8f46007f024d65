// SelectVariants: asks the registry of variants, best first, and records the first one that applies
// and why better ones did not. Dots also get the grid of warps that divides their work.
#include "passes/Passes.h"

#include "ir/KnownTarget.h"
#include "ir/LayoutAttr.h"
#include "ir/UserError.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/annotations/DotAnnotations.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/annotations/VariantAnnotations.h"
#include "ir/gpu/DotLayouts.h"
#include "ir/instructions/Mma.h"
#include "ir/instructions/Wgmma.h"
#include "ir/layout/Shared.h"
#include "passes/analysis/AxisInfo.h"
#include "passes/analysis/ControlFlow.h"
#include "passes/analysis/DotChains.h"
#include "passes/analysis/FragmentLoads.h"
#include "passes/analysis/ViewAccesses.h"
#include "passes/staging/WgmmaMemory.h"
#include "passes/variants/Variants.h"

namespace tile::passes {
#define GEN_PASS_DEF_SELECTVARIANTS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

// For tiles of pointers: the fastest dimension is that with the longest contiguous run; vectors are
// as long as its run, its alignment and the runs of the mask allow.
void annotatePointers(Operation *op, Value pointers, Value mask, AxisInfoAnalysis &axis) {
  auto tile = dyn_cast<RankedTensorType>(pointers.getType());
  if (!tile)
    return;
  AxisInfo info = axis.of(pointers);
  int32_t fastest = tile.getRank() - 1;
  for (int32_t dim = tile.getRank(); dim-- > 0;)
    if (info[dim].contiguity > info[fastest].contiguity)
      fastest = dim;
  SmallVector<int32_t> order = {fastest};
  for (int32_t dim = tile.getRank(); dim-- > 0;)
    if (dim != fastest)
      order.push_back(dim);
  int64_t bytes = gpu::bytesOf(cast<ir::PtrType>(tile.getElementType()).getPointeeType());
  int64_t vector = std::min({layout::kMaxVectorBytes / bytes, info[fastest].contiguity,
                             std::max<int64_t>(1, info[fastest].divisibility / bytes)});
  if (mask)
    vector = std::min(vector, axis.of(mask)[fastest].constancy);
  gpu::setAccess(op, order, vector);
}

/// The most warps, per dimension, that can divide a dot's result so that each has instruction tiles
/// of its own.
struct Room {
  int64_t batch, rows, columns;
};

// Each of the four warps of a wgmma has 16 rows.
constexpr int64_t kRowsOfWgmmaWarp = ir::kWgmmaRows / ir::kWarpsPerWarpgroup,
                  kWgmmaLeastColumns = 8;

Room roomOf(ir::DotOp dot) {
  ir::DotOp::Sizes sizes = dot.getSizes();
  if (gpu::isWgmma(dot))
    return {1, powerOfTwoDivisor(sizes.m) / kRowsOfWgmmaWarp,
            powerOfTwoDivisor(sizes.n) / kWgmmaLeastColumns};
  auto mma = gpu::isMultiplyAdd(dot) ? std::nullopt : ir::findMma(dot);
  return {powerOfTwoDivisor(sizes.batch), powerOfTwoDivisor(sizes.m) / (mma ? mma->shape.m : 1),
          powerOfTwoDivisor(sizes.n) / (mma ? mma->shape.n : 1)};
}

// Divides the batch first, since its matrices share no operands. Then the longer side of a warp's
// tile is halved until all warps have one, so that each reads as little of A and B as possible.
void chooseWarpGrid(ir::DotOp dot) {
  ir::DotOp::Sizes sizes = dot.getSizes();
  Room room = roomOf(dot);
  int64_t ofBatch = std::min(room.batch, ir::warpsOf(dot)), warps = ir::warpsOf(dot) / ofBatch;
  int32_t m = 1, n = 1;
  while (int64_t(m) * n < warps) {
    bool canSplitRows = m < room.rows, canSplitColumns = n < room.columns;
    bool rowsAreLonger = sizes.m / m >= sizes.n / n;
    if (canSplitRows && (rowsAreLonger || !canSplitColumns))
      m *= 2;
    else if (canSplitColumns)
      n *= 2;
    else
      m *= 2; // more warps than tiles: the others compute the same
  }
  gpu::setWarpGrid(dot, m, n, static_cast<int32_t>(ofBatch));
}

// Divides rows among warpgroups, 64 each, and columns only if rows are used up: warpgroups with the
// same columns read the same B.
void chooseWgmmaGrid(ir::DotOp dot) {
  int64_t warps = ir::warpsOf(dot), rows = std::min(warps, roomOf(dot).rows);
  gpu::setWarpGrid(dot, static_cast<int32_t>(rows), static_cast<int32_t>(warps / rows), 1);
}

// Dots that pass rows on share one grid with as many rows as possible. With one column each warp
// holds whole rows: the accumulator has the layout of the next dot's A, and row reductions stay
// within a warp. With several columns A goes through shared memory anyway, and only what was
// reduced along rows stays in place. Nothing if that gains nothing or the dots have no such grid in
// common; dots by multiply-add read A from shared memory.
std::optional<layout::WarpGrid> gridOfRows(const DotChain &chain) {
  bool isTied = chain.passesRows || chain.passesReductions;
  auto readsSharedMemory = [](ir::DotOp dot) {
    return gpu::isMultiplyAdd(dot) || gpu::isWgmma(dot);
  };
  if (!isTied || llvm::any_of(chain.dots, readsSharedMemory))
    return std::nullopt;
  int64_t warps = ir::warpsOf(chain.dots.front());
  Room least = roomOf(chain.dots.front());
  for (ir::DotOp dot : chain.dots) {
    Room room = roomOf(dot);
    if (std::min(room.batch, warps) != std::min(least.batch, warps))
      return std::nullopt;
    least = {least.batch, std::min(least.rows, room.rows), std::min(least.columns, room.columns)};
  }
  int64_t ofBatch = std::min(least.batch, warps);
  int64_t rows = std::min(least.rows, warps / ofBatch), columns = warps / ofBatch / rows;
  if (columns > 1 && (columns > least.columns || !chain.passesReductions))
    return std::nullopt;
  return layout::WarpGrid{static_cast<int>(rows), static_cast<int>(columns),
                          static_cast<int>(ofBatch)};
}

void chooseWarpGrids(const DotChain &chain) {
  std::optional<layout::WarpGrid> shared = gridOfRows(chain);
  for (ir::DotOp dot : chain.dots)
    if (shared)
      gpu::setWarpGrid(dot, shared->m, shared->n, shared->b);
    else if (gpu::isWgmma(dot))
      chooseWgmmaGrid(dot);
    else
      chooseWarpGrid(dot);
}

// A scalar access takes one element even if vectors were possible.
template <class Kind> void take(Operation *op, Kind kind) {
  gpu::setVariant(op, kind);
  gpu::AccessAttr access = gpu::accessOf(op);
  if (kind == Kind::Scalar && access)
    gpu::setAccess(op, access.getOrder(), 1, access.getBounds());
}

// A wgmma takes an A that is computed next to the dot from registers.
template <> void take(Operation *op, gpu::DotVariant kind) {
  gpu::setVariant(op, kind);
  if (kind != gpu::DotVariant::Wgmma)
    return;
  if (staysInRegisters(op->getOpOperand(0)))
    gpu::setTakesAFromRegisters(op);
  gpu::setKMajor(op, isKMajorOperand(op->getOpOperand(0)), isKMajorOperand(op->getOpOperand(1)));
}

Refusal missing(StringRef variant, ir::Feature needed, const ir::Target &target) {
  return (variant + " refused: " + target.name + " does not have it; " +
          ir::firstTargetWith(needed) + " does")
      .str();
}

// A demanded variant is chosen, or its refusal is an error.
template <class Kind>
LogicalResult selectFrom(ArrayRef<Variant<Kind>> variants, Operation *op,
                         const ir::Target &target) {
  uint32_t demanded = gpu::demandedVariantOf(op);
  for (const Variant<Kind> &variant : variants) {
    bool isMissing = variant.needed && !(target.*variant.needed);
    auto number = static_cast<uint32_t>(variant.kind);
    bool isMeant = demanded == number;
    if (!isMeant && (demanded || isMissing))
      continue;
    Refusal refusal = isMissing ? missing(gpu::demandedVariantName(number), variant.needed, target)
                                : variant.refuses(op, target);
    if (!refusal)
      return take(op, variant.kind), success();
    if (isMeant)
      return ir::userError(op->emitError(), ErrorCode::Unsupported) << *refusal;
    gpu::addRefusal(op, *refusal);
  }
  return ir::userError(op->emitError(), ErrorCode::Unsupported)
         << gpu::demandedVariantName(demanded)
         << " refused: it is for loads of tiles that products depend on";
}

LogicalResult select(Operation *op, const ir::Target &target) {
  if (isa<ir::ViewLoadOp, ir::LoadOp>(op))
    return selectFrom(loadVariants(op), op, target);
  if (isa<ir::ViewStoreOp, ir::StoreOp>(op))
    return selectFrom(storeVariants(op), op, target);
  if (isa<ir::DotOp>(op))
    return selectFrom(dotVariants(), op, target);
  return success();
}

struct SelectVariants : passes::impl::SelectVariantsBase<SelectVariants> {
  using SelectVariantsBase::SelectVariantsBase;

  void runOnOperation() final {
    FailureOr<ir::Target> found = ir::knownTarget(getOperation(), target);
    if (failed(found) || failed(verifyOneBlock(getOperation())) ||
        failed(verifyAccessesAreKnown(getOperation())))
      return signalPassFailure();
    AxisInfoAnalysis axis;
    WalkResult selected = getOperation().walk([&](Operation *op) {
      if (auto load = dyn_cast<ir::LoadOp>(op))
        annotatePointers(op, load.getPtr(), load.getMask(), axis);
      if (auto store = dyn_cast<ir::StoreOp>(op))
        annotatePointers(op, store.getPtr(), store.getMask(), axis);
      if (auto prefetch = dyn_cast<ir::PrefetchOp>(op))
        annotatePointers(op, prefetch.getPtr(), prefetch.getMask(), axis);
      return failed(select(op, *found)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (selected.wasInterrupted())
      return signalPassFailure();
    DotChains chains(getOperation());
    for (const DotChain &chain : chains.all())
      chooseWarpGrids(chain);
    // Whether threads share elements of a dot's operands depends on how warps divide the dot.
    getOperation().walk([](ir::DotOp dot) {
      if (!fragmentLoads(dot).empty())
        gpu::setKWidth(dot, kWidthOfFragmentLoads(dot));
    });
  }
};

} // namespace

} // namespace tile::passes
