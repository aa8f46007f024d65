// Folding of `tile` operations: identities and constants.
#include "ir/tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  auto type = cast<RankedTensorType>(getResult().getType());
  if (Attribute value = adaptor.getValue(); value && isa<IntegerAttr, FloatAttr>(value))
    return SplatElementsAttr::get(type, value);
  return {};
}

// A splat constant stays a splat under any change of shape.
static OpFoldResult foldSplatConstant(Attribute input, Type resultType) {
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(input))
    return splat.resizeSplat(cast<ShapedType>(resultType));
  return {};
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getResult().getType())
    return getInput();
  return foldSplatConstant(adaptor.getInput(), getResult().getType());
}

// Cut, a splat stays a splat; extended, one of zeros does.
OpFoldResult ResizeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getResult().getType())
    return getInput();
  auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getInput());
  bool isExtended =
      llvm::any_of(llvm::zip_equal(shapeOf(getInput().getType()), shapeOf(getResult().getType())),
                   [](auto pair) { return std::get<0>(pair) < std::get<1>(pair); });
  if (isExtended && !(splat && (matchPattern(adaptor.getInput(), m_AnyZeroFloat()) ||
                                matchPattern(adaptor.getInput(), m_Zero()))))
    return {};
  return foldSplatConstant(splat, getResult().getType());
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getResult().getType())
    return getInput();
  return foldSplatConstant(adaptor.getInput(), getResult().getType());
}

OpFoldResult PermuteOp::fold(FoldAdaptor adaptor) {
  bool isIdentity = llvm::all_of(llvm::enumerate(getOrder()), [](auto pair) {
    return static_cast<int32_t>(pair.index()) == pair.value();
  });
  if (isIdentity && getInput().getType() == getResult().getType())
    return getInput();
  return foldSplatConstant(adaptor.getInput(), getResult().getType());
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  if (getInput().getType() == getResult().getType())
    return getInput();
  return {};
}
