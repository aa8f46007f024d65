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
  if (Refusal why = whyNotAhead(load))
    return why;
  if (load.getPadding() == ir::Padding::Nan)
    return "what is outside the view must read as NaN; it fills with zeros alone";
  if (load.getCache() != ir::CacheMode::Default || load.getEvict() != ir::Eviction::Normal)
    return "the load asks for a cache mode, which it does not take";
  return {};
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
  return {};
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
  return {};
}

Refusal refuseVector(Operation *op, const ir::Target &) {
  gpu::AccessAttr access = gpu::accessOf(op);
  if (access && access.getVector() > 1)
    return {};
  return "vector refused: no two neighbouring elements of the tile are known to be neighbours in "
         "memory at an address "
         "aligned for both";
}

// Loads for dots may bypass the registers; the others end in them.
static const Variant<gpu::LoadVariant> kLoadVariants[] = {
    {gpu::LoadVariant::Tma, refuseTma, &ir::Target::hasTma},
    {gpu::LoadVariant::CpAsync, refuseCpAsync},
    {gpu::LoadVariant::Vector, refuseVector},
    {gpu::LoadVariant::Scalar, refuseNothing}};

ArrayRef<Variant<gpu::LoadVariant>> loadVariants(Operation *op) {
  auto load = dyn_cast<ir::ViewLoadOp>(op);
  return load && feedsDot(load) ? ArrayRef(kLoadVariants) : ArrayRef(kLoadVariants).drop_front(2);
}

} // namespace tile::passes
