#include "passes/memory/LayoutExchange.h"

#include "ir/LayoutAttr.h"
#include "ir/layout/Derived.h"
#include "ir/layout/SharedAccess.h"

using namespace mlir;

namespace tile::passes {

int bytesOfElement(RankedTensorType tile) {
  return static_cast<int>(gpu::bytesOf(tile.getElementType()));
}

Value allocateShared(OpBuilder &builder, Location loc, RankedTensorType tile,
                     const layout::SharedLayout &shared) {
  return gpu::SmemAllocOp::create(builder, loc, gpu::inShared(tile, shared));
}

namespace {

Value allocateBetween(OpBuilder &builder, Location loc, RankedTensorType source,
                      RankedTensorType target) {
  return allocateShared(
      builder, loc, source,
      layout::scratchSwizzle(gpu::layoutOf(source), gpu::layoutOf(target), bytesOfElement(source)));
}

Value throughMemory(OpBuilder &builder, Location loc, Value tile, Value smem,
                    RankedTensorType target) {
  gpu::SmemStoreOp::create(builder, loc, tile, smem);
  return gpu::SmemLoadOp::create(builder, loc, target, smem);
}

/// How a tile is divided: its shape, with some dimensions split in two or three, and the extents of
/// a piece in that shape.
struct Parts {
  SmallVector<int64_t> shape, part;
};

/// The type of the reshaped tile; null if its layout has no such shape.
RankedTensorType reshaped(RankedTensorType tile, ArrayRef<int64_t> shape) {
  std::optional<layout::Layout> layout =
      layout::reshape(gpu::layoutOf(tile), layout::Shape(shape.begin(), shape.end()));
  if (!layout)
    return {};
  return RankedTensorType::get(shape, tile.getElementType(),
                               gpu::attributeOf(tile.getContext(), *layout));
}

bool areInRegisters(const Parts &parts, RankedTensorType tile) {
  RankedTensorType whole = reshaped(tile, parts.shape);
  return whole && gpu::partOf(whole, parts.part);
}

bool haveParts(const Parts &parts, RankedTensorType source, RankedTensorType target) {
  return areInRegisters(parts, source) && areInRegisters(parts, target);
}

/// Splits a dimension in three; the middle one is the bit that tells two pieces apart.
Parts dividedByBit(const Parts &parts, size_t dim, int64_t bit) {
  Parts divided;
  for (size_t other = 0; other < parts.shape.size(); ++other) {
    int64_t extent = parts.shape[other];
    if (other != dim) {
      divided.shape.push_back(extent), divided.part.push_back(parts.part[other]);
      continue;
    }
    divided.shape.append({extent / (2 * bit), 2, bit});
    divided.part.append({extent / (2 * bit), 1, bit});
  }
  return divided;
}

/// Divides into smaller pieces, by the odd factor of an extent or by one bit of a coordinate, which
/// registers must hold in both layouts.
std::optional<Parts> divided(const Parts &parts, RankedTensorType source, RankedTensorType target) {
  for (size_t dim = 0; dim < parts.shape.size(); ++dim) {
    int64_t extent = parts.shape[dim], power = extent & -extent;
    if (parts.part[dim] != extent)
      continue;
    Parts smaller = parts;
    smaller.part[dim] = power;
    if (power < extent && haveParts(smaller, source, target))
      return smaller;
    for (int64_t bit = power / 2; bit > 0; bit /= 2)
      if (smaller = dividedByBit(parts, dim, bit); haveParts(smaller, source, target))
        return smaller;
  }
  return std::nullopt;
}

/// Pieces of at most `mostBytes`, or the smallest if those fit a block; else the whole tile.
Parts partsWithin(int64_t mostBytes, int64_t bytesOfBlock, RankedTensorType source,
                  RankedTensorType target) {
  Parts whole = {SmallVector<int64_t>(source.getShape()), SmallVector<int64_t>(source.getShape())};
  auto bytes = [&](const Parts &parts) {
    return llvm::product_of(parts.part) * bytesOfElement(source);
  };
  Parts parts = whole;
  while (bytes(parts) > std::min(mostBytes, bytesOfBlock)) {
    std::optional<Parts> smaller = divided(parts, source, target);
    if (!smaller)
      break;
    parts = *std::move(smaller);
  }
  return bytes(parts) > bytesOfBlock ? whole : parts;
}

// Exchanges the tile piece by piece, through the memory of one.
Value exchangeParts(OpBuilder &builder, Location loc, Value tile, RankedTensorType target,
                    const Parts &parts) {
  RankedTensorType from = reshaped(cast<RankedTensorType>(tile.getType()), parts.shape),
                   to = reshaped(target, parts.shape), part = gpu::partOf(from, parts.part),
                   wanted = gpu::partOf(to, parts.part);
  Value whole = ir::ReshapeOp::create(builder, loc, from, tile),
        smem = allocateBetween(builder, loc, part, wanted);
  SmallVector<Value> all;
  for (const SmallVector<int64_t> &start : gpu::startsOfParts(parts.shape, parts.part)) {
    Value own = gpu::SubtileOp::create(builder, loc, part, whole, start);
    all.push_back(throughMemory(builder, loc, own, smem, wanted));
  }
  return ir::ReshapeOp::create(builder, loc, target,
                               gpu::FromSubtilesOp::create(builder, loc, to, all));
}

} // namespace

Value exchange(OpBuilder &builder, Location loc, Value tile, RankedTensorType target) {
  Value smem = allocateBetween(builder, loc, cast<RankedTensorType>(tile.getType()), target);
  return throughMemory(builder, loc, tile, smem, target);
}

Value exchangeWithin(int64_t mostBytes, int64_t bytesOfBlock, OpBuilder &builder, Location loc,
                     Value tile, RankedTensorType target) {
  Parts parts =
      partsWithin(mostBytes, bytesOfBlock, cast<RankedTensorType>(tile.getType()), target);
  return parts.part == parts.shape ? exchange(builder, loc, tile, target)
                                   : exchangeParts(builder, loc, tile, target, parts);
}

} // namespace tile::passes
