// What the operations that pair up or mirror elements reject: one message a rule.
#include "ir/tile/TileDialect.h"

using namespace mlir;
using namespace tile::ir;

LogicalResult ItemOp::verify() {
  auto type = cast<RankedTensorType>(getInput().getType());
  if (type.getNumElements() != 1)
    return emitOpError("needs a tile of one element, got ") << type.getNumElements();
  if (type.getElementType() != getResult().getType())
    return emitOpError("result must be ")
           << type.getElementType() << ", got " << getResult().getType();
  return success();
}

// A tile and its halves: `whole` has one more dimension, the last, of extent 2.
static LogicalResult verifyHalves(Operation *op, RankedTensorType whole, RankedTensorType part) {
  if (failed(verifyTileShape(whole.getShape(), [&] { return op->emitOpError(); })))
    return failure();
  SmallVector<int64_t> expected(part.getShape());
  expected.push_back(2);
  auto type = RankedTensorType::get(expected, part.getElementType());
  if (whole.getShape() != type.getShape() || whole.getElementType() != type.getElementType())
    return op->emitOpError("a tile whose halves are ")
           << part << " is " << type << ", not " << whole;
  return success();
}

LogicalResult JoinOp::verify() {
  return verifyHalves(*this, cast<RankedTensorType>(getResult().getType()),
                      cast<RankedTensorType>(getA().getType()));
}

LogicalResult HalfOp::verify() {
  if (getIndex() != 0 && getIndex() != 1)
    return emitOpError("index must be 0 or 1, got ") << static_cast<int32_t>(getIndex());
  return verifyHalves(*this, cast<RankedTensorType>(getInput().getType()),
                      cast<RankedTensorType>(getResult().getType()));
}

LogicalResult FlipOp::verify() {
  auto type = cast<RankedTensorType>(getInput().getType());
  auto axis = static_cast<int32_t>(getAxis());
  if (axis < 0 || axis >= type.getRank())
    return emitOpError("axis ") << axis << " is outside a rank of " << type.getRank();
  return verifyTileShape(type.getShape(), [&] { return emitOpError(); });
}
