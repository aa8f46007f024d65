// SelectVariants: asks the registry, in order, and writes down the first variant that applies and why the better ones did
// not. Products also get the grid of warps that shares the work.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "ir/DotLayouts.h"
#include "ir/LayoutAttr.h"
#include "ir/Mma.h"
#include "ir/Target.h"
#include "ir/UserError.h"
#include "ir/layout/Shared.h"
#include "passes/analysis/AxisInfo.h"
#include "passes/variants/Variants.h"

namespace tile::passes {
#define GEN_PASS_DEF_SELECTVARIANTS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

// Pointer tiles: the dimension with the longest run is the fastest, and vectors are as long as its run, its alignment and
// the mask's runs allow.
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

// The batch is shared first, since its matrices have nothing in common. Then the longer side of a warp's tile is halved
// until all warps have one, so that each reads as little of a and b as possible.
void chooseWarpGrid(ir::DotOp dot) {
  ir::DotOp::Sizes sizes = dot.getSizes();
  auto mma = gpu::isMultiplyAdd(dot) ? std::nullopt : ir::findMma(dot);
  int64_t rowRoom = powerOfTwoDivisor(sizes.m) / (mma ? mma->shape.m : 1),
          columnRoom = powerOfTwoDivisor(sizes.n) / (mma ? mma->shape.n : 1);
  int64_t ofBatch = std::min(powerOfTwoDivisor(sizes.batch), ir::warpsOf(dot)),
          warps = ir::warpsOf(dot) / ofBatch;
  int32_t m = 1, n = 1;
  while (int64_t(m) * n < warps) {
    bool canSplitRows = m < rowRoom, canSplitColumns = n < columnRoom;
    bool rowsAreLonger = sizes.m / m >= sizes.n / n;
    if (canSplitRows && (rowsAreLonger || !canSplitColumns))
      m *= 2;
    else if (canSplitColumns)
      n *= 2;
    else
      m *= 2; // more warps than tiles: the rest compute the same
  }
  gpu::setWarpGrid(dot, m, n, static_cast<int32_t>(ofBatch));
}

void select(Operation *op, const ir::Target &target) {
  for (const Variant &variant : variantsOf(op)) {
    Refusal refusal = variant.refuses(op, target);
    if (!refusal)
      return gpu::setVariant(op, variant.kind);
    gpu::addRefusal(op, *refusal);
  }
}

struct SelectVariants : passes::impl::SelectVariantsBase<SelectVariants> {
  using SelectVariantsBase::SelectVariantsBase;

  void runOnOperation() final {
    std::optional<ir::Target> found = ir::findTarget(target);
    if (!found) {
      ir::userError(getOperation().emitError("unknown target '"), ErrorCode::InvalidArgument)
          << target << "'; known: " << ir::knownTargets();
      return signalPassFailure();
    }
    AxisInfoAnalysis axis;
    getOperation().walk([&](Operation *op) {
      if (auto load = dyn_cast<ir::LoadOp>(op))
        annotatePointers(op, load.getPtr(), load.getMask(), axis);
      if (auto store = dyn_cast<ir::StoreOp>(op))
        annotatePointers(op, store.getPtr(), store.getMask(), axis);
      if (auto prefetch = dyn_cast<ir::PrefetchOp>(op))
        annotatePointers(op, prefetch.getPtr(), prefetch.getMask(), axis);
      select(op, *found);
      if (auto dot = dyn_cast<ir::DotOp>(op))
        chooseWarpGrid(dot);
    });
  }
};

} // namespace

} // namespace tile::passes
