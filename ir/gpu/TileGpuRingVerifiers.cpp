// Verifiers of operations on rings and of asynchronous copies. The order of a ring's steps is
// verified per function, by passes/pipelining/analysis/RingProtocol.h.
#include "ir/annotations/AccessAnnotations.h"
#include "ir/gpu/TileGpuDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

// The operand of this number in a ring's stages; null, with an error, if there is none.
static SmemType partOf(Operation *op, RingType ring, uint32_t part) {
  if (part < ring.getTiles().size())
    return ring.getTiles()[part];
  op->emitOpError("part ") << static_cast<int32_t>(part) << " is not one of the stage's "
                           << ring.getTiles().size() << " tiles";
  return {};
}

LogicalResult RingPutOp::verify() {
  SmemType part = partOf(*this, getRing().getType(), getOperandIndex());
  if (!part)
    return failure();
  auto tile = cast<RankedTensorType>(getValue().getType());
  if (tile.getElementType() != part.getElementType() || tile.getShape() != part.getShape())
    return emitOpError("the tile must have the shape and the element type of its part");
  if (!tile.getEncoding())
    return emitOpError("needs a layout");
  return success();
}

static LogicalResult inferTiles(std::optional<Location> loc, ValueRange operands,
                                SmallVectorImpl<Type> &types) {
  auto ring = operands.empty() ? RingType() : dyn_cast<RingType>(operands.front().getType());
  if (!ring)
    return emitOptionalError(loc, "the first operand must be a ring");
  llvm::append_range(types, ring.getTiles());
  return success();
}

LogicalResult ConsumerWaitOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                               ValueRange operands, DictionaryAttr,
                                               OpaqueProperties, RegionRange,
                                               SmallVectorImpl<Type> &types) {
  return inferTiles(loc, operands, types);
}

LogicalResult RingTilesOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                            ValueRange operands, DictionaryAttr, OpaqueProperties,
                                            RegionRange, SmallVectorImpl<Type> &types) {
  return inferTiles(loc, operands, types);
}

static SmallVector<int64_t> withoutUnits(ArrayRef<int64_t> shape) {
  return llvm::filter_to_vector(shape, [](int64_t extent) { return extent != 1; });
}

LogicalResult tile::gpu::verifyCopiedTile(Operation *op, ir::ViewType view, size_t offsets,
                                          ArrayRef<int64_t> shape, SmemType smem) {
  auto rank = static_cast<size_t>(view.getRank());
  if (offsets != rank || shape.size() != rank)
    return op->emitOpError("needs one offset and one extent for each of the view's ")
           << rank << " dimensions";
  if (failed(ir::verifyTileShape(shape, [&] { return op->emitOpError(); })))
    return failure();
  // TMA rounds f32 to tf32 as it copies.
  bool isRounded =
      view.getElementType().isF32() && smem.getElementType().isTF32() && !isa<CopyAsyncOp>(op);
  if (view.getElementType() != smem.getElementType() && !isRounded)
    return op->emitOpError("view and shared memory must have one element type");
  if (withoutUnits(shape) != withoutUnits(smem.getShape()))
    return op->emitOpError(
        "the tile must have the extents of the shared memory, but for those of 1");
  if (!accessOf(op))
    return op->emitOpError("needs tilegpu.access, which says the order of the view's dimensions");
  return success();
}

LogicalResult RingCopyOp::verify() {
  SmemType part = partOf(*this, getRing().getType(), getOperandIndex());
  return part ? verifyCopiedTile(*this, getView().getType(), getOffsets().size(), getShape(), part)
              : failure();
}

LogicalResult CopyAsyncOp::verify() {
  return verifyCopiedTile(*this, getView().getType(), getOffsets().size(), getShape(),
                          getSmem().getType());
}

LogicalResult AsyncWaitOp::verify() {
  if (auto pending = static_cast<int32_t>(getPending()); pending < 0)
    return emitOpError("pending must not be negative, got ") << pending;
  return success();
}
