// How matrix products are computed.
#include "ir/layout/Fragments.h"
#include "passes/Passes.h"
#include "passes/analysis/AxisInfo.h"
#include "passes/variants/Variants.h"

using namespace mlir;

namespace tile::passes {

// The tensor core's instructions have a fixed shape, which the power-of-two parts of the tile must hold.
static Refusal refuseShape(ir::DotOp dot, const layout::MmaShape &mma) {
  auto a = cast<RankedTensorType>(dot.getA().getType()),
       b = cast<RankedTensorType>(dot.getB().getType());
  struct Need {
    const char *name;
    int64_t extent;
    int needed;
  };
  for (Need need : {Need{"M", a.getDimSize(0), mma.m}, Need{"N", b.getDimSize(1), mma.n},
                    Need{"K", a.getDimSize(1), mma.k}})
    if (powerOfTwoDivisor(need.extent) < need.needed)
      return "mma_sync refused: " + std::string(need.name) + " is " + std::to_string(need.extent) +
             ", not a multiple of " + std::to_string(need.needed);
  return std::nullopt;
}

static Refusal refuseMmaSync(Operation *op, const ir::Target &target) {
  auto dot = cast<ir::DotOp>(op);
  Type element = ir::elementTypeOf(dot.getA().getType());
  if (element.isF64())
    return "mma_sync refused: f64 products are not built on the tensor core yet";
  if (element.isF32() && dot.getPrecision() == ir::Precision::Ieee)
    return "mma_sync refused: f32 with precision ieee needs fused multiply-add";
  auto mma = layout::MmaShape::forElementBits(element.getIntOrFloatBitWidth());
  if (!mma)
    return "mma_sync refused: no instruction for this element type on " + std::string(target.name);
  return refuseShape(dot, *mma);
}

static const Variant kDotVariants[] = {{kVariantMmaSync, refuseMmaSync},
                                       {kVariantFma, refuseNothing}};

ArrayRef<Variant> dotVariants() { return kDotVariants; }

ArrayRef<Variant> variantsOf(Operation *op) {
  if (isa<ir::ViewLoadOp, ir::ViewStoreOp, ir::LoadOp, ir::StoreOp>(op))
    return copyVariants();
  if (isa<ir::DotOp>(op))
    return dotVariants();
  return {};
}

} // namespace tile::passes
