// How tiles move between registers and global memory.
#include "ir/Annotations.h"
#include "ir/LayoutAttr.h"
#include "ir/layout/Shared.h"
#include "passes/analysis/RunAhead.h"
#include "passes/variants/Variants.h"

using namespace mlir;

namespace tile::passes {

// cp.async copies 4, 8 or 16 bytes and can fill with zeros.
static Refusal refuseCpAsync(Operation *op, const ir::Target &) {
  constexpr int64_t kFewestBytes = 4;
  auto load = cast<ir::ViewLoadOp>(op);
  auto refused = [](const std::string &why) { return "cp_async refused: " + why; };
  if (std::optional<std::string> why = whyNotAhead(load))
    return refused(*why);
  if (load.getPadding() == ir::Padding::Nan)
    return refused("what is outside the view must read as NaN; it fills with zeros alone");
  if (load.getCache() != ir::CacheMode::Default || load.getEvict() != ir::Eviction::Normal)
    return refused("the load asks for a cache mode, which it does not take");
  gpu::AccessAttr access = gpu::accessOf(op);
  int64_t bytes = access.getVector() * gpu::bytesOf(ir::elementTypeOf(load.getResult().getType()));
  if (bytes < kFewestBytes)
    return refused("only " + std::to_string(bytes) +
                   " bytes are known to be neighbours at an address " +
                   "aligned for them; it takes 4, 8 or 16");
  return std::nullopt;
}

static Refusal refuseVector(Operation *op, const ir::Target &) {
  gpu::AccessAttr access = gpu::accessOf(op);
  if (access && access.getVector() > 1)
    return std::nullopt;
  return "vector refused: no two neighbouring elements of the tile are known to be neighbours in "
         "memory at an address "
         "aligned for both";
}

// Loads for products may bypass the registers; the others end in them.
static const Variant kCopyVariants[] = {{gpu::VariantKind::CpAsync, refuseCpAsync},
                                        {gpu::VariantKind::Vector, refuseVector},
                                        {gpu::VariantKind::Scalar, refuseNothing}};

ArrayRef<Variant> copyVariants(Operation *op) {
  auto load = dyn_cast<ir::ViewLoadOp>(op);
  return load && feedsProduct(load) ? ArrayRef(kCopyVariants)
                                    : ArrayRef(kCopyVariants).drop_front();
}

} // namespace tile::passes
