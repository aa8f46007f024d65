// How tiles move between registers and global memory.
#include "ir/LayoutAttr.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/layout/Shared.h"
#include "passes/analysis/AxisInfo.h"
#include "passes/analysis/RunAhead.h"
#include "passes/variants/TensorAlignment.h"
#include "passes/variants/Variants.h"

using namespace mlir;

namespace tile::passes {

// What no asynchronous copy does.
static Refusal whyNotAsync(ir::ViewLoadOp load) {
  if (std::optional<std::string> why = whyNotAhead(load))
    return why;
  if (load.getPadding() == ir::Padding::Nan)
    return "what is outside the view must read as NaN; it fills with zeros alone";
  if (load.getCache() != ir::CacheMode::Default || load.getEvict() != ir::Eviction::Normal)
    return "the load asks for a cache mode, which it does not take";
  return std::nullopt;
}

// Bytes that are neighbours at an address that is a multiple of them.
static int64_t bytesTogether(ir::ViewLoadOp load) {
  return gpu::accessOf(load).getVector() *
         gpu::bytesOf(ir::elementTypeOf(load.getResult().getType()));
}

// The copy engine takes tensors whose rows, and tiles whose first elements, lie at multiples of 16
// bytes; it fills with zeros what is outside.
static Refusal refuseTma(Operation *op, const ir::Target &) {
  auto load = cast<ir::ViewLoadOp>(op);
  auto refused = [](const std::string &why) { return "tma refused: " + why; };
  if (Refusal why = whyNotAsync(load))
    return refused(*why);
  if (Refusal why = whyNoTensor(load, load.getView(), load.getOffsets()))
    return refused(*why);
  return std::nullopt;
}

// cp.async copies 4, 8 or 16 bytes and can fill with zeros.
static Refusal refuseCpAsync(Operation *op, const ir::Target &) {
  constexpr int64_t kFewestBytes = 4;
  auto load = cast<ir::ViewLoadOp>(op);
  auto refused = [](const std::string &why) { return "cp_async refused: " + why; };
  if (Refusal why = whyNotAsync(load))
    return refused(*why);
  if (bytesTogether(load) < kFewestBytes)
    return refused("only " + std::to_string(bytesTogether(load)) +
                   " bytes are known to be neighbours at an address " +
                   "aligned for them; it takes 4, 8 or 16");
  return std::nullopt;
}

Refusal refuseVector(Operation *op, const ir::Target &) {
  gpu::AccessAttr access = gpu::accessOf(op);
  if (access && access.getVector() > 1)
    return std::nullopt;
  return "vector refused: no two neighbouring elements of the tile are known to be neighbours in "
         "memory at an address "
         "aligned for both";
}

// Loads for products may bypass the registers; the others end in them.
static const Variant kCopyVariants[] = {{gpu::VariantKind::Tma, refuseTma, &ir::Target::hasTma},
                                        {gpu::VariantKind::CpAsync, refuseCpAsync},
                                        {gpu::VariantKind::Vector, refuseVector},
                                        {gpu::VariantKind::Scalar, refuseNothing}};

ArrayRef<Variant> copyVariants(Operation *op) {
  if (isa<ir::ViewStoreOp>(op))
    return storeVariants();
  auto load = dyn_cast<ir::ViewLoadOp>(op);
  return load && feedsDot(load) ? ArrayRef(kCopyVariants) : ArrayRef(kCopyVariants).drop_front(2);
}

} // namespace tile::passes
