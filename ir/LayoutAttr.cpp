#include "ir/LayoutAttr.h"

#include "ir/layout/Derived.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

static std::vector<layout::Coords> basesOf(int32_t rank, ArrayRef<int32_t> flat) {
  std::vector<layout::Coords> bases;
  for (size_t i = 0; i < flat.size(); i += rank) {
    ArrayRef<int32_t> vector = flat.slice(i, rank);
    bases.emplace_back(vector.begin(), vector.end());
  }
  return bases;
}

layout::Layout tile::gpu::layoutOf(ArrayRef<int64_t> shape, LayoutAttr attribute) {
  int32_t rank = attribute.getRank();
  layout::Bases bases = {basesOf(rank, attribute.getRegisters()),
                         basesOf(rank, attribute.getLanes()),
                         basesOf(rank, attribute.getWarps()),
                         {}};
  // The attribute's verifiers have checked what `create` refuses.
  return layout::Layout::create(layout::Shape(shape.begin(), shape.end()), std::move(bases))
      .value_or(layout::Layout());
}

layout::Layout tile::gpu::layoutOf(Type tile) {
  return layoutOf(cast<RankedTensorType>(tile).getShape(), encodingOf(tile));
}

static SmallVector<int32_t> flatten(const std::vector<layout::Coords> &bases) {
  SmallVector<int32_t> flat;
  for (const layout::Coords &vector : bases)
    flat.append(vector.begin(), vector.end());
  return flat;
}

LayoutAttr tile::gpu::attributeOf(MLIRContext *context, const layout::Layout &layout) {
  return LayoutAttr::get(context, layout.rank(), flatten(layout.bases(layout::In::Register)),
                         flatten(layout.bases(layout::In::Lane)),
                         flatten(layout.bases(layout::In::Warp)));
}

RankedTensorType tile::gpu::withLayout(Type tile, LayoutAttr attribute) {
  auto type = cast<RankedTensorType>(tile);
  return RankedTensorType::get(type.getShape(), type.getElementType(), attribute);
}

LayoutAttr tile::gpu::encodingOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding()) : LayoutAttr();
}

RankedTensorType tile::gpu::partOf(RankedTensorType tile, ArrayRef<int64_t> shape) {
  if (!encodingOf(tile) || shape.size() != static_cast<size_t>(tile.getRank()))
    return {};
  layout::Layout layout = layoutOf(tile);
  for (auto [dim, extents] : llvm::enumerate(llvm::zip_equal(tile.getShape(), shape))) {
    auto [whole, size] = extents;
    if (size == whole)
      continue;
    std::optional<layout::Layout> part = layout::part(layout, static_cast<int>(dim), size);
    if (!part)
      return {};
    layout = *std::move(part);
  }
  return RankedTensorType::get(shape, tile.getElementType(),
                               attributeOf(tile.getContext(), layout));
}

SmallVector<SmallVector<int64_t>> tile::gpu::startsOfParts(ArrayRef<int64_t> whole,
                                                           ArrayRef<int64_t> part) {
  SmallVector<SmallVector<int64_t>> starts = {{}};
  for (auto [extent, size] : llvm::zip_equal(whole, part)) {
    SmallVector<SmallVector<int64_t>> longer;
    for (const SmallVector<int64_t> &start : starts)
      for (int64_t at = 0; at < extent; at += size) {
        longer.push_back(start);
        longer.back().push_back(at);
      }
    starts = std::move(longer);
  }
  return starts;
}

std::optional<layout::SharedLayout> tile::gpu::createShared(ArrayRef<int64_t> shape,
                                                            SharedAttr attribute, Refusal *why) {
  std::vector<uint64_t> columns(attribute.getLinear().begin(), attribute.getLinear().end());
  return layout::SharedLayout::create(
      layout::Shape(shape.begin(), shape.end()),
      std::vector<int>(attribute.getPanel().begin(), attribute.getPanel().end()),
      layout::LinearMap(std::move(columns)),
      std::vector<int64_t>(attribute.getDigits().begin(), attribute.getDigits().end()), why);
}

layout::SharedLayout tile::gpu::sharedOf(SmemType type) {
  return createShared(type.getShape(), type.getShared())
      .value_or(layout::SharedLayout()); // verified by the type
}

SharedAttr tile::gpu::attributeOf(MLIRContext *context, const layout::SharedLayout &shared) {
  const std::vector<uint64_t> &columns = shared.linear().columns();
  return SharedAttr::get(context, ArrayRef(shared.panelBits()),
                         SmallVector<int64_t>(columns.begin(), columns.end()),
                         ArrayRef(shared.digitStrides()));
}

SmemType tile::gpu::inShared(RankedTensorType tile, const layout::SharedLayout &shared) {
  MLIRContext *context = tile.getContext();
  return SmemType::get(context, tile.getShape(), tile.getElementType(),
                       attributeOf(context, shared));
}

int64_t tile::gpu::bytesOf(Type elementType) {
  if (elementType.isTF32())
    return 4; // of which 19 bits count
  if (elementType.isIntOrFloat())
    return std::max<int64_t>(1, elementType.getIntOrFloatBitWidth() / 8);
  return 8; // pointers
}

int64_t tile::gpu::warpsAlong(LayoutAttr attribute, int64_t axis) {
  int32_t rank = attribute.getRank();
  int64_t count = 1;
  for (size_t i = 0; i < attribute.getWarps().size(); i += rank)
    count <<= attribute.getWarps()[i + axis] != 0;
  return count;
}
