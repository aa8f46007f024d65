#include "ir/instructions/LayoutChange.h"

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

static bool isHalfWord(Type element) {
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() == 16;
}

std::optional<layout::ShufflePlan> shufflesOfPairs(ConvertLayoutOp change,
                                                   const layout::Conversion &plan) {
  auto tile = cast<RankedTensorType>(change.getResult().getType());
  return plan.kind == layout::ConversionKind::WarpShuffle && isHalfWord(tile.getElementType())
             ? layout::planOfPairs(plan.shuffle)
             : std::nullopt;
}

RankedTensorType typeInQuads(RankedTensorType accumulators, RankedTensorType wanted,
                             int32_t fastestDim) {
  constexpr int64_t kElements = 8;
  using layout::ConversionKind;
  layout::Layout from = layoutOf(accumulators);
  if (!isHalfWord(accumulators.getElementType()) ||
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
