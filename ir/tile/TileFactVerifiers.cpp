// What promises, prints, assertions and prefetches reject.
#include "ir/tile/TileDialect.h"

using namespace mlir;
using namespace tile::ir;

static LogicalResult verifyShape(Operation *op, Type type) {
  return verifyTileShape(shapeOf(type), [&] { return op->emitOpError(); });
}

static LogicalResult verifyFact(Operation *op, StringRef name,
                                std::optional<ArrayRef<int64_t>> list, Type type) {
  if (!list)
    return success();
  ArrayRef<int64_t> shape = shapeOf(type);
  size_t dims = std::max<size_t>(1, shape.size());
  if (list->size() != dims)
    return op->emitOpError() << name << " needs " << dims << " numbers, got " << list->size();
  for (int64_t number : *list)
    if (number < 1)
      return op->emitOpError() << name << " must be positive, got " << number;
  return success();
}

LogicalResult FactsOp::verify() {
  Type type = getInput().getType();
  if (failed(verifyShape(*this, type)) ||
      failed(verifyFact(*this, "multiple", getMultiple(), type)))
    return failure();
  if (!isa<RankedTensorType>(type) && (getContiguous() || getConstancy()))
    return emitOpError("runs are of tiles, this is a scalar");
  if (failed(verifyFact(*this, "contiguous", getContiguous(), type)))
    return failure();
  return verifyFact(*this, "constancy", getConstancy(), type);
}

LogicalResult AssertOp::verify() { return verifyShape(*this, getCondition().getType()); }

LogicalResult PrintOp::verify() {
  if (getUnsignedValues().size() != getValues().size())
    return emitOpError("says of ") << getUnsignedValues().size() << " values whether they have a "
                                   << "sign, but has " << getValues().size();
  for (Value value : getValues()) {
    if (failed(verifyShape(*this, value.getType())))
      return failure();
    if (shapeOf(value.getType()) != shapeOf(getValues()[0].getType()) ||
        isa<RankedTensorType>(value.getType()) != isa<RankedTensorType>(getValues()[0].getType()))
      return emitOpError("the values must have one shape");
  }
  return success();
}

LogicalResult PrefetchOp::verify() {
  if (getLevel() != 1 && getLevel() != 2)
    return emitOpError("level must be 1 or 2, got ") << getLevel();
  if (failed(verifyShape(*this, getPtr().getType())))
    return failure();
  if (getMask() &&
      (shapeOf(getMask().getType()) != shapeOf(getPtr().getType()) ||
       isa<RankedTensorType>(getMask().getType()) != isa<RankedTensorType>(getPtr().getType())))
    return emitOpError("mask and pointers must have one shape");
  return success();
}
