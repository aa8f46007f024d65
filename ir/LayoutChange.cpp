#include "ir/LayoutChange.h"

#include "ir/LayoutAttr.h"
#include "ir/layout/Derived.h"

using namespace mlir;

namespace tile::gpu {

/// Registers of a thread beyond which shuffles take longer than they can be worth.
constexpr int kMostShuffles = 256;

layout::Conversion planOf(ConvertLayoutOp change) {
  layout::Layout from = layoutOf(change.getInput().getType()),
                 to = layoutOf(change.getResult().getType());
  return change.getByShuffles() ? layout::planConversion(from, to, kMostShuffles)
                                : layout::planConversion(from, to);
}

RankedTensorType typeInQuads(RankedTensorType accumulators, RankedTensorType wanted,
                             int32_t fastestDim) {
  constexpr int64_t kElements = 8, kBits = 16;
  using layout::ConversionKind;
  layout::Layout from = layoutOf(accumulators);
  if (!accumulators.getElementType().isIntOrFloat() ||
      accumulators.getElementTypeBitWidth() != kBits ||
      layout::planConversion(from, layoutOf(wanted)).kind != ConversionKind::SharedMemory)
    return {};
  std::optional<layout::Layout> quads = layout::withVectors(from, fastestDim, kElements);
  if (!quads)
    return {};
  layout::Conversion plan = layout::planConversion(from, *quads, kMostShuffles);
  if (plan.kind != ConversionKind::WarpShuffle || !layout::planOfPairs(plan.shuffle))
    return {};
  return RankedTensorType::get(accumulators.getShape(), accumulators.getElementType(),
                               attributeOf(accumulators.getContext(), *quads));
}

} // namespace tile::gpu
