// What matrix products reject: one message a rule.
#include "ir/tile/TileDialect.h"

using namespace mlir;
using namespace tile::ir;

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  for (auto [i, extent] : llvm::enumerate(shape))
    text += (i ? "x" : "") + std::to_string(extent);
  return text;
}

bool DotOp::isBatched() { return shapeOf(getA().getType()).size() == 3; }

DotOp::Sizes DotOp::getSizes() {
  ArrayRef<int64_t> a = shapeOf(getA().getType()), b = shapeOf(getB().getType());
  size_t first = a.size() - 2;
  return {first ? a[0] : 1, a[first], b[first + 1], a[first + 1]};
}

// Is there a product of these element types?
static bool isSupported(Type a, Type b, Type acc) {
  if (isFloat8(a) && isFloat8(b))
    return acc.isF32() || acc.isF16();
  return a == b && ((a.isF16() && (acc.isF32() || acc.isF16())) || (a.isBF16() && acc.isF32()) ||
                    (a.isF32() && acc.isF32()) || (a.isF64() && acc.isF64()) ||
                    (a.isInteger(8) && acc.isInteger(32)));
}

static LogicalResult verifyTypes(DotOp op, Type a, Type b, Type acc) {
  if (a != b && !(isFloat8(a) && isFloat8(b)))
    return op.emitOpError("operands must have one element type, got ") << a << " and " << b;
  if (!isSupported(a, b, acc))
    return op.emitOpError("no matrix product of ")
           << a << " x " << b << " to " << acc
           << "; supported: f16 x f16 to f32 or f16, bf16 x bf16 to f32, f32 x f32 to f32, f64 x "
              "f64 to f64, i8 x i8 to i32, fp8 x fp8 to f32 or f16";
  if (op.getPrecision() != Precision::Ieee && !a.isF32())
    return op.emitOpError("precision applies to f32 operands, got ") << a;
  if (op.getOperandsUnsigned() && !a.isInteger())
    return op.emitOpError("unsigned applies to integer operands, got ") << a;
  if (op.getFastAccumulation() && !isFloat8(a))
    return op.emitOpError("fast applies to operands of 8-bit floats, got ") << a;
  return success();
}

LogicalResult DotOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType()), b = cast<RankedTensorType>(getB().getType());
  auto acc = cast<RankedTensorType>(getAcc().getType());
  if (a.getRank() != b.getRank() || a.getRank() != acc.getRank() || a.getRank() < 2 ||
      a.getRank() > 3)
    return emitOpError("operands must all have rank 2, or rank 3 with the batch first");
  for (RankedTensorType type : {a, b, acc})
    if (failed(verifyTileShape(type.getShape(), [&] { return emitOpError(); })))
      return failure();
  if (isBatched() && a.getDimSize(0) != b.getDimSize(0))
    return emitOpError("batches differ: a has ") << a.getDimSize(0) << ", b " << b.getDimSize(0);
  int64_t first = a.getRank() - 2;
  if (a.getDimSize(first + 1) != b.getDimSize(first))
    return emitOpError("inner sizes differ: a is ")
           << shapeText(a.getShape()) << ", b is " << shapeText(b.getShape()) << " ("
           << a.getDimSize(first + 1) << " != " << b.getDimSize(first) << ")";
  SmallVector<int64_t> product(a.getShape());
  product[first + 1] = b.getDimSize(first + 1);
  if (acc.getShape() != ArrayRef(product))
    return emitOpError("acc is ") << shapeText(acc.getShape()) << ", the product "
                                  << shapeText(product);
  return verifyTypes(*this, a.getElementType(), b.getElementType(), acc.getElementType());
}
