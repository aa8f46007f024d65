#include "passes/analysis/FragmentLoads.h"

#include "ir/LayoutAttr.h"
#include "ir/LayoutOp.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/annotations/DotAnnotations.h"
#include "ir/annotations/VariantAnnotations.h"
#include "ir/gpu/DotLayouts.h"
#include "ir/layout/Derived.h"
#include "ir/layout/Shared.h"
#include "passes/analysis/RunAhead.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::passes {

namespace {

/// Follows a factor backwards, with the layout that each tile on the way must have.
class FactorSources {
public:
  bool collect(Value factor, gpu::LayoutAttr layout) {
    SmallVector<std::pair<Value, gpu::LayoutAttr>> open = {{factor, layout}};
    while (!open.empty()) {
      auto [tile, wanted] = open.pop_back_val();
      if (!wanted || !tile.hasOneUse())
        return false;
      if (auto load = tile.getDefiningOp<ir::ViewLoadOp>()) {
        if (!addLoad(load, wanted))
          return false;
      } else if (Operation *op = tile.getDefiningOp()) {
        if (!isa<ir::ReshapeOp, ir::PermuteOp>(op))
          return false;
        OpOperand &before = op->getOpOperand(0);
        open.emplace_back(before.get(), gpu::operandLayout(before, wanted));
      } else if (!addVariable(cast<BlockArgument>(tile), wanted, open)) {
        return false;
      }
    }
    return true;
  }

  SmallVector<FragmentLoad> takeLoads() { return std::move(loads_); }

private:
  bool addLoad(ir::ViewLoadOp load, gpu::LayoutAttr wanted) {
    gpu::AccessAttr access = gpu::accessOf(load);
    auto tile = cast<RankedTensorType>(load.getResult().getType());
    if (gpu::loadVariantOf(load) != gpu::LoadVariant::Vector ||
        access.getVector() * gpu::bytesOf(tile.getElementType()) != layout::kMaxVectorBytes)
      return false;
    layout::Layout fragments = gpu::layoutOf(tile.getShape(), wanted);
    int32_t fastest = access.getOrder()[0];
    auto inVectors = layout::withVectors(fragments, fastest, access.getVector());
    if (!inVectors || inVectors->bases(layout::In::Lane) != fragments.bases(layout::In::Lane))
      return false; // not without moving elements between lanes
    loads_.push_back({load, gpu::attributeOf(load->getContext(), *inVectors)});
    return true;
  }

  static bool addVariable(BlockArgument variable, gpu::LayoutAttr wanted,
                          SmallVectorImpl<std::pair<Value, gpu::LayoutAttr>> &open) {
    auto loop = dyn_cast<scf::ForOp>(variable.getOwner()->getParentOp());
    if (!loop)
      return false;
    open.emplace_back(loop.getTiedLoopInit(variable)->get(), wanted);
    open.emplace_back(loop.getTiedLoopYieldedValue(variable)->get(), wanted);
    return true;
  }

  SmallVector<FragmentLoad> loads_;
};

} // namespace

int64_t kWidthOfFragmentLoads(ir::DotOp dot) {
  return layout::kMaxVectorBytes / gpu::bytesOf(ir::elementTypeOf(dot.getA().getType()));
}

SmallVector<FragmentLoad> fragmentLoads(ir::DotOp dot) {
  if (gpu::dotVariantOf(dot) != gpu::DotVariant::MmaSync)
    return {};
  auto layouts = gpu::mmaLayouts(dot, kWidthOfFragmentLoads(dot));
  if (!layouts || !layouts->a->isInjective() || !layouts->b->isInjective())
    return {};
  FactorSources sources;
  MLIRContext *context = dot->getContext();
  if (!sources.collect(dot.getA(), gpu::attributeOf(context, *layouts->a)) ||
      !sources.collect(dot.getB(), gpu::attributeOf(context, *layouts->b)))
    return {};
  return sources.takeLoads();
}

bool goesToFragments(ir::ViewLoadOp load) {
  SmallVector<OpOperand *> uses = dotsFedBy(load.getResult());
  return !uses.empty() &&
         llvm::all_of(uses, [](OpOperand *use) { return gpu::kWidthOf(use->getOwner()) > 0; });
}

} // namespace tile::passes
