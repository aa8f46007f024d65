// What atomics, gathers and histograms reject.
#include "ir/tile/TileDialect.h"

using namespace mlir;
using namespace tile::ir;

// Atomics: pointers, values and mask of one shape, pointers to the values' type.
static LogicalResult verifyPlaces(Operation *op, Value pointers, Value values, Value mask) {
  auto places = cast<RankedTensorType>(pointers.getType()),
       tile = cast<RankedTensorType>(values.getType());
  if (failed(verifyTileShape(places.getShape(), [&] { return op->emitOpError(); })))
    return failure();
  if (cast<PtrType>(places.getElementType()).getPointeeType() != tile.getElementType())
    return op->emitOpError("the pointers point at ")
           << cast<PtrType>(places.getElementType()).getPointeeType() << ", the values are "
           << tile.getElementType();
  if (places.getShape() != tile.getShape() || places.getEncoding() != tile.getEncoding())
    return op->emitOpError("pointers and values must have one shape and layout");
  if (!mask)
    return success();
  auto condition = cast<RankedTensorType>(mask.getType());
  if (condition.getShape() != places.getShape() || condition.getEncoding() != places.getEncoding())
    return op->emitOpError("mask and pointers must have one shape and layout");
  return success();
}

static bool isSupported(AtomicKind kind, Type type) {
  bool isWide = type.getIntOrFloatBitWidth() >= 32;
  switch (kind) {
  case AtomicKind::Add:
    return true;
  case AtomicKind::Min:
  case AtomicKind::Max:
  case AtomicKind::Xchg:
    return isWide;
  case AtomicKind::UMin:
  case AtomicKind::UMax:
  case AtomicKind::And:
  case AtomicKind::Or:
  case AtomicKind::Xor:
    return isa<IntegerType>(type);
  }
  return false;
}

LogicalResult AtomicRmwOp::verify() {
  Type type = elementTypeOf(getValue().getType());
  if (!isSupported(getKind(), type))
    return emitOpError("no atomic ") << stringifyAtomicKind(getKind()) << " of " << type;
  if (type.isBF16() && getEvict() != Eviction::Normal)
    return emitOpError("of bf16 takes no eviction priority");
  return verifyPlaces(*this, getPtr(), getValue(), getMask());
}

LogicalResult AtomicCasOp::verify() {
  return verifyPlaces(*this, getPtr(), getExpected(), getMask());
}

LogicalResult GatherOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType()),
       indices = cast<RankedTensorType>(getIndices().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  auto axis = static_cast<int32_t>(getAxis());
  for (RankedTensorType type : {source, indices})
    if (failed(verifyTileShape(type.getShape(), [&] { return emitOpError(); })))
      return failure();
  if (axis < 0 || axis >= source.getRank())
    return emitOpError("axis ") << axis << " is outside a rank of " << source.getRank();
  if (indices.getRank() != source.getRank())
    return emitOpError("the indices have rank ")
           << indices.getRank() << ", the source " << source.getRank();
  for (int64_t dim = 0; dim < source.getRank(); ++dim)
    if (dim != axis && indices.getDimSize(dim) != source.getDimSize(dim))
      return emitOpError("dimension ") << dim << " of the indices is " << indices.getDimSize(dim)
                                       << ", of the source " << source.getDimSize(dim);
  if (result.getShape() != indices.getShape() || result.getEncoding() != indices.getEncoding())
    return emitOpError("the result must have the indices' shape and layout");
  if (result.getElementType() != source.getElementType())
    return emitOpError("the result must have the source's element type, ")
           << source.getElementType();
  return success();
}

LogicalResult HistogramOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()),
       result = cast<RankedTensorType>(getResult().getType());
  for (RankedTensorType type : {input, result})
    if (failed(verifyTileShape(type.getShape(), [&] { return emitOpError(); })))
      return failure();
  if (input.getRank() != 1 || result.getRank() != 1)
    return emitOpError("counts the elements of one dimension in one dimension");
  if (getMask() && (getMask().getType().getShape() != input.getShape() ||
                    getMask().getType().getEncoding() != input.getEncoding()))
    return emitOpError("mask and elements must have one shape and layout");
  return success();
}
