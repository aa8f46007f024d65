// How matrix products are computed.
#include "ir/Mma.h"
#include "passes/variants/Variants.h"

using namespace mlir;

namespace tile::passes {

// The tensor core's instructions have a fixed shape, which the sizes must be multiples of. The shallowest K decides.
static Refusal refuseShape(ir::DotOp dot, const layout::MmaShape &mma) {
  auto [batch, m, n, k] = dot.getSizes();
  struct Need {
    const char *name;
    int64_t extent;
    int needed;
  };
  for (Need need : {Need{"M", m, mma.m}, Need{"N", n, mma.n}, Need{"K", k, mma.k}})
    if (need.extent % need.needed)
      return "mma_sync refused: " + std::string(need.name) + " is " + std::to_string(need.extent) +
             ", not a multiple of " + std::to_string(need.needed);
  return std::nullopt;
}

static Refusal refuseMmaSync(Operation *op, const ir::Target &target) {
  auto dot = cast<ir::DotOp>(op);
  if (ir::needsMultiplyAdd(dot))
    return "mma_sync refused: f32 with precision ieee needs fused multiply-add";
  ArrayRef<ir::MmaInstruction> instructions = ir::mmaInstructionsFor(dot);
  if (instructions.empty() || !instructions.front().isOn(target))
    return "mma_sync refused: no instruction for these types on " + std::string(target.name);
  return refuseShape(dot, instructions.back().shape);
}

static const Variant kDotVariants[] = {{gpu::VariantKind::MmaSync, refuseMmaSync},
                                       {gpu::VariantKind::Fma, refuseNothing}};

ArrayRef<Variant> dotVariants() { return kDotVariants; }

ArrayRef<Variant> variantsOf(Operation *op) {
  if (isa<ir::ViewLoadOp, ir::ViewStoreOp, ir::LoadOp, ir::StoreOp>(op))
    return copyVariants(op);
  if (isa<ir::DotOp>(op))
    return dotVariants();
  return {};
}

} // namespace tile::passes
