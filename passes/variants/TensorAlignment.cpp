#include "passes/variants/TensorAlignment.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/AccessAnnotations.h"
#include "passes/analysis/AxisInfo.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::passes {

static Refusal whyNotAligned(Operation *access, ir::MakeViewOp view, ValueRange offsets,
                             int64_t alignment) {
  AxisInfoAnalysis axis;
  Type element = view.getResult().getType().getElementType();
  int64_t elements = std::max<int64_t>(1, alignment / gpu::bytesOf(element));
  int32_t fastest = gpu::accessOf(access).getOrder().front();
  APInt unit;
  if (!matchPattern(view.getStrides()[fastest], m_ConstantInt(&unit)) || !unit.isOne())
    return "no dimension of the view is known to be contiguous";
  std::string words = " is not known to be a multiple of " + std::to_string(alignment) + " bytes";
  if (axis.divisibilityOf(view.getBase()) % alignment)
    return "the view's address" + words;
  if (axis.divisibilityOf(offsets[fastest]) % elements)
    return "the tile's place along the contiguous dimension" + words;
  for (auto [dim, stride] : llvm::enumerate(view.getStrides()))
    if (static_cast<int32_t>(dim) != fastest && axis.divisibilityOf(stride) % elements)
      return "the stride of dimension " + std::to_string(dim) + words;
  return {};
}

Refusal whyNoTensor(Operation *access, Value view, ValueRange offsets) {
  constexpr int64_t kChunkBytes = 16;
  constexpr size_t kMostDims = 5;
  auto made = view.getDefiningOp<ir::MakeViewOp>();
  if (!made || !gpu::viewOf(made))
    return "the view is not an argument of the kernel";
  if (offsets.size() > kMostDims)
    return "the view has more than 5 dimensions";
  return whyNotAligned(access, made, offsets, kChunkBytes);
}

} // namespace tile::passes
