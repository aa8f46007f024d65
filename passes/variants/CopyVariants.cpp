// How tiles move between registers and global memory.
#include "ir/Annotations.h"
#include "passes/variants/Variants.h"

using namespace mlir;

namespace tile::passes {

static Refusal refuseVector(Operation *op, const ir::Target &) {
  gpu::AccessAttr access = gpu::accessOf(op);
  if (access && access.getVector() > 1)
    return std::nullopt;
  return "vector refused: no two neighbouring elements of the tile are known to be neighbours in "
         "memory at an address "
         "aligned for both";
}

static const Variant kCopyVariants[] = {{gpu::VariantKind::Vector, refuseVector},
                                        {gpu::VariantKind::Scalar, refuseNothing}};

ArrayRef<Variant> copyVariants() { return kCopyVariants; }

} // namespace tile::passes
