// How tiles move between registers and global memory.
#include "passes/Passes.h"
#include "passes/variants/Variants.h"

using namespace mlir;

namespace tile::passes {

static Refusal refuseVector(Operation *op, const ir::Target &) {
  auto vector = op->getAttrOfType<IntegerAttr>(kVectorAttr);
  if (vector && vector.getInt() > 1)
    return std::nullopt;
  return "vector refused: no two neighbouring elements of the tile are known to be neighbours in "
         "memory at an address "
         "aligned for both";
}

static const Variant kCopyVariants[] = {{kVariantVector, refuseVector},
                                        {kVariantScalar, refuseNothing}};

ArrayRef<Variant> copyVariants() { return kCopyVariants; }

} // namespace tile::passes
