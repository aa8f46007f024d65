// How tiles move between registers and global memory.
#include "ir/Annotations.h"
#include "ir/LayoutAttr.h"
#include "ir/layout/Shared.h"
#include "passes/analysis/AxisInfo.h"
#include "passes/analysis/RunAhead.h"
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

// Do the view's rows, and the tile's first elements, lie at multiples of so many bytes? Where the view ends does not matter.
static Refusal whyNotAligned(ir::ViewLoadOp load, ir::MakeViewOp view, int64_t alignment) {
  AxisInfoAnalysis axis;
  int64_t elements =
      std::max<int64_t>(1, alignment / gpu::bytesOf(ir::elementTypeOf(load.getResult().getType())));
  int32_t fastest = gpu::accessOf(load).getOrder().front();
  APInt unit;
  if (!matchPattern(view.getStrides()[fastest], m_ConstantInt(&unit)) || !unit.isOne())
    return "no dimension of the view is known to be contiguous";
  std::string words = " is not known to be a multiple of " + std::to_string(alignment) + " bytes";
  if (axis.divisibilityOf(view.getBase()) % alignment)
    return "the view's address" + words;
  if (axis.divisibilityOf(load.getOffsets()[fastest]) % elements)
    return "the tile's place along the contiguous dimension" + words;
  for (auto [dim, stride] : llvm::enumerate(view.getStrides()))
    if (static_cast<int32_t>(dim) != fastest && axis.divisibilityOf(stride) % elements)
      return "the stride of dimension " + std::to_string(dim) + words;
  return std::nullopt;
}

// The copy engine takes tensors whose rows, and tiles whose first elements, lie at multiples of 16 bytes; it fills with
// zeros what is outside.
static Refusal refuseTma(Operation *op, const ir::Target &) {
  constexpr int64_t kChunkBytes = 16;
  constexpr int64_t kMostDims = 5;
  auto load = cast<ir::ViewLoadOp>(op);
  auto refused = [](const std::string &why) { return "tma refused: " + why; };
  if (Refusal why = whyNotAsync(load))
    return refused(*why);
  auto view = load.getView().getDefiningOp<ir::MakeViewOp>();
  if (!view || !gpu::viewOf(view))
    return refused("the view is not an argument of the kernel");
  if (load.getView().getType().getRank() > kMostDims)
    return refused("the view has more than 5 dimensions");
  if (Refusal why = whyNotAligned(load, view, kChunkBytes))
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

static Refusal refuseVector(Operation *op, const ir::Target &) {
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
  auto load = dyn_cast<ir::ViewLoadOp>(op);
  return load && feedsProduct(load) ? ArrayRef(kCopyVariants)
                                    : ArrayRef(kCopyVariants).drop_front(2);
}

} // namespace tile::passes
