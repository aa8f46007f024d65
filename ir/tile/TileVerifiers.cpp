// What the operations of `tile` reject. LLVM is built without assertions here, so everything a
// later pass relies on is checked: one message a rule.
#include "ir/AccessHints.h"
#include "ir/tile/TileDialect.h"

#include "ir/layout/Derived.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tile::ir;

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  for (auto [i, extent] : llvm::enumerate(shape))
    text += (i ? "x" : "") + std::to_string(extent);
  return text.empty() ? "scalar" : text;
}

static LogicalResult verifyShape(Operation *op, Type type) {
  return verifyTileShape(shapeOf(type), [&] { return op->emitOpError(); });
}

static LogicalResult verifyAxis(Operation *op, int32_t axis, int64_t rank) {
  if (axis < 0 || axis >= rank)
    return op->emitOpError("axis ") << axis << " is outside a rank of " << rank;
  return success();
}

static LogicalResult verifyProgramAxis(Operation *op, int32_t axis) {
  if (axis < 0 || axis > 2)
    return op->emitOpError("axis must be 0, 1 or 2, got ") << axis;
  return success();
}

LogicalResult ProgramIdOp::verify() { return verifyProgramAxis(*this, getAxis()); }
LogicalResult NumProgramsOp::verify() { return verifyProgramAxis(*this, getAxis()); }

LogicalResult MakeViewOp::verify() {
  int64_t rank = getResult().getType().getRank();
  if (static_cast<int64_t>(getExtents().size()) != rank)
    return emitOpError("needs ") << rank << " extents, got " << getExtents().size();
  if (static_cast<int64_t>(getNumOperands()) != 1 + 2 * rank)
    return emitOpError("extents and strides differ in number");
  Type type = getExtents()[0].getType();
  for (Value value : llvm::concat<Value>(getExtents(), getStrides()))
    if (value.getType() != type)
      return emitOpError("extents and strides must all be i32 or all be i64");
  if (getBase().getType().getPointeeType() != getResult().getType().getElementType())
    return emitOpError("the pointer's element type ")
           << getBase().getType().getPointeeType() << " is not the view's "
           << getResult().getType().getElementType();
  return success();
}

ParseResult MakeViewOp::parse(OpAsmParser &parser, OperationState &state) {
  OpAsmParser::UnresolvedOperand base;
  SmallVector<OpAsmParser::UnresolvedOperand> extents, strides;
  Type indexType;
  ViewType viewType;
  if (parser.parseOperand(base) || parser.parseComma() || parser.parseKeyword("extents") ||
      parser.parseOperandList(extents, OpAsmParser::Delimiter::Square) || parser.parseComma() ||
      parser.parseKeyword("strides") ||
      parser.parseOperandList(strides, OpAsmParser::Delimiter::Square) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(indexType) ||
      parser.parseArrow() || parser.parseType(viewType))
    return failure();
  if (extents.size() != strides.size())
    return parser.emitError(parser.getNameLoc(), "extents and strides differ in number");
  state.addTypes(viewType);
  return failure(parser.resolveOperand(base,
                                       PtrType::get(parser.getContext(), viewType.getElementType()),
                                       state.operands) ||
                 parser.resolveOperands(extents, indexType, state.operands) ||
                 parser.resolveOperands(strides, indexType, state.operands));
}

void MakeViewOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getBase() << ", extents [" << getExtents() << "], strides [" << getStrides()
          << "]";
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getExtents()[0].getType() << " -> " << getResult().getType();
}

LogicalResult DimOp::verify() { return verifyAxis(*this, getDim(), getView().getType().getRank()); }
LogicalResult StrideOp::verify() {
  return verifyAxis(*this, getDim(), getView().getType().getRank());
}

LogicalResult BaseOp::verify() {
  if (getResult().getType().getPointeeType() != getView().getType().getElementType())
    return emitOpError("the pointer's element type must be the view's, ")
           << getView().getType().getElementType();
  return success();
}

static bool isPermutation(ArrayRef<int32_t> order) {
  SmallVector<bool> seen(order.size());
  for (int32_t dim : order) {
    if (dim < 0 || dim >= static_cast<int32_t>(order.size()) || seen[dim])
      return false;
    seen[dim] = true;
  }
  return true;
}

static LogicalResult verifyOrder(Operation *op, ArrayRef<int32_t> order, int64_t rank) {
  if (static_cast<int64_t>(order.size()) != rank || !isPermutation(order))
    return op->emitOpError("order must be a permutation of the ") << rank << " dimensions";
  return success();
}

bool PermuteViewOp::isPermutation(ArrayRef<int32_t> order) { return ::isPermutation(order); }
LogicalResult PermuteViewOp::verify() {
  return verifyOrder(*this, getOrder(), getView().getType().getRank());
}

static LogicalResult verifyViewAccess(Operation *op, ViewType view, RankedTensorType tile,
                                      size_t offsets) {
  if (failed(verifyShape(op, tile)))
    return failure();
  if (tile.getRank() != view.getRank())
    return op->emitOpError("the tile has rank ")
           << tile.getRank() << ", the view " << view.getRank();
  if (static_cast<int64_t>(offsets) != view.getRank())
    return op->emitOpError("needs ") << view.getRank() << " offsets, got " << offsets;
  if (tile.getElementType() != view.getElementType())
    return op->emitOpError("the tile holds ")
           << tile.getElementType() << ", the view " << view.getElementType();
  return success();
}

LogicalResult ViewLoadOp::verify() {
  if (failed(verifyHints(*this, getCache(), getEvict(), getIsVolatile(), true)))
    return failure();
  auto tile = cast<RankedTensorType>(getResult().getType());
  if (getPadding() == Padding::Nan && !isa<FloatType>(tile.getElementType()))
    return emitOpError("pad nan needs a float element type, got ") << tile.getElementType();
  return verifyViewAccess(*this, getView().getType(), tile, getOffsets().size());
}

static bool hasAtomicAdd(Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  return isa<FloatType>(type) ? bits >= 16 : bits >= 32;
}

LogicalResult ViewStoreOp::verify() {
  if (failed(verifyHints(*this, getCache(), getEvict(), getIsVolatile(), false)))
    return failure();
  auto tile = cast<RankedTensorType>(getValue().getType());
  bool isHinted =
      getCache() != CacheMode::Default || getEvict() != Eviction::Normal || getIsVolatile();
  if (getAdds() && isHinted)
    return emitOpError("add takes no hints");
  if (getAdds() && !hasAtomicAdd(tile.getElementType()))
    return emitOpError("no atomic add of ") << tile.getElementType();
  return verifyViewAccess(*this, getView().getType(), tile, getOffsets().size());
}

static LogicalResult verifySameShape(Operation *op, Type a, Type b, StringRef nameA,
                                     StringRef nameB) {
  if (isa<RankedTensorType>(a) != isa<RankedTensorType>(b) || shapeOf(a) != shapeOf(b))
    return op->emitOpError() << nameA << " is " << shapeText(shapeOf(a)) << ", " << nameB << " is "
                             << shapeText(shapeOf(b));
  return success();
}

LogicalResult AddPtrOp::verify() {
  if (failed(verifyShape(*this, getPtr().getType())))
    return failure();
  return verifySameShape(*this, getPtr().getType(), getOffset().getType(), "the pointer",
                         "the offset");
}

static LogicalResult verifyPointee(Operation *op, Type ptr, Type value) {
  Type pointee = cast<PtrType>(elementTypeOf(ptr)).getPointeeType();
  if (pointee != elementTypeOf(value))
    return op->emitOpError("the pointer points at ")
           << pointee << ", the value is " << elementTypeOf(value);
  return success();
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr, Value mask, Value other) {
  Type type = cast<PtrType>(elementTypeOf(ptr.getType())).getPointeeType();
  if (auto tile = dyn_cast<RankedTensorType>(ptr.getType()))
    type = tile.clone(type);
  build(builder, state, type, ptr, mask, other);
}

LogicalResult LoadOp::verify() {
  if (failed(verifyHints(*this, getCache(), getEvict(), getIsVolatile(), true)))
    return failure();
  Type ptr = getPtr().getType();
  if (failed(verifyShape(*this, ptr)) || failed(verifyPointee(*this, ptr, getResult().getType())) ||
      failed(verifySameShape(*this, ptr, getResult().getType(), "the pointer", "the result")))
    return failure();
  if (getMask() &&
      failed(verifySameShape(*this, ptr, getMask().getType(), "the pointer", "the mask")))
    return failure();
  if (getOther() && !getMask())
    return emitOpError("other needs a mask");
  if (getOther() && getOther().getType() != getResult().getType())
    return emitOpError("other must have the result's type ") << getResult().getType();
  return success();
}

LogicalResult StoreOp::verify() {
  if (failed(verifyHints(*this, getCache(), getEvict(), getIsVolatile(), false)))
    return failure();
  Type ptr = getPtr().getType();
  if (failed(verifyShape(*this, ptr)) || failed(verifyPointee(*this, ptr, getValue().getType())) ||
      failed(verifySameShape(*this, ptr, getValue().getType(), "the pointer", "the value")))
    return failure();
  if (getMask())
    return verifySameShape(*this, ptr, getMask().getType(), "the pointer", "the mask");
  return success();
}

LogicalResult SplatOp::verify() {
  if (elementTypeOf(getResult().getType()) != getValue().getType())
    return emitOpError("the tile's element type must be the value's, ") << getValue().getType();
  return verifyShape(*this, getResult().getType());
}

LogicalResult ArangeOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  auto start = static_cast<int32_t>(getStart()), end = static_cast<int32_t>(getEnd());
  int64_t length = int64_t(end) - start;
  if (length < 1)
    return emitOpError("needs start < end, got ") << start << " and " << end;
  if (type.getRank() != 1 || type.getDimSize(0) != length)
    return emitOpError("the result must have ") << length << " elements";
  return verifyShape(*this, type);
}

LogicalResult ResizeOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType()),
       to = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyShape(*this, from)) || failed(verifyShape(*this, to)))
    return failure();
  if (from.getRank() != to.getRank() || from.getElementType() != to.getElementType())
    return emitOpError("result must have the operand's rank and element type");
  return success();
}

LogicalResult ReshapeOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType()),
       to = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyShape(*this, from)) || failed(verifyShape(*this, to)))
    return failure();
  if (from.getElementType() != to.getElementType())
    return emitOpError("cannot change the element type");
  if (from.getNumElements() != to.getNumElements())
    return emitOpError("cannot reshape ")
           << shapeText(from.getShape()) << " into " << shapeText(to.getShape())
           << ": the number of elements differs";
  layout::Shape target(to.getShape().begin(), to.getShape().end());
  auto anyLayout =
      layout::Layout::replicated(layout::Shape(from.getShape().begin(), from.getShape().end()), 1);
  Refusal why;
  if (!layout::reshape(anyLayout, target, &why))
    return emitOpError("cannot reshape ")
           << shapeText(from.getShape()) << " into " << shapeText(to.getShape()) << ": " << *why;
  return success();
}

void PermuteOp::build(OpBuilder &builder, OperationState &state, Value input,
                      ArrayRef<int32_t> order) {
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> shape;
  for (int32_t dim : order)
    shape.push_back(type.getDimSize(dim));
  build(builder, state, RankedTensorType::get(shape, type.getElementType()), input, order);
}

LogicalResult PermuteOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType()),
       to = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyShape(*this, from)) || failed(verifyOrder(*this, getOrder(), from.getRank())))
    return failure();
  if (from.getRank() != to.getRank() || from.getElementType() != to.getElementType())
    return emitOpError("result must have the operand's rank and element type");
  for (auto [i, dim] : llvm::enumerate(getOrder()))
    if (to.getDimSize(i) != from.getDimSize(dim))
      return emitOpError("result dimension ")
             << i << " must be " << from.getDimSize(dim) << ", got " << to.getDimSize(i);
  return success();
}

void ExpandDimsOp::build(OpBuilder &builder, OperationState &state, Value input, int32_t axis) {
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + axis, 1);
  build(builder, state, RankedTensorType::get(shape, type.getElementType()), input, axis);
}

LogicalResult ExpandDimsOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType()),
       to = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyShape(*this, from)) || failed(verifyAxis(*this, getAxis(), from.getRank() + 1)))
    return failure();
  SmallVector<int64_t> shape(from.getShape());
  shape.insert(shape.begin() + getAxis(), 1);
  if (to.getShape() != ArrayRef(shape) || to.getElementType() != from.getElementType())
    return emitOpError("result must be ") << shapeText(shape) << " of " << from.getElementType();
  return verifyShape(*this, to);
}

LogicalResult BroadcastOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType()),
       to = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyShape(*this, to)))
    return failure();
  if (from.getRank() != to.getRank() || from.getElementType() != to.getElementType())
    return emitOpError("result must have the operand's rank and element type");
  for (auto [a, b] : llvm::zip_equal(from.getShape(), to.getShape()))
    if (a != b && a != 1)
      return emitOpError("cannot broadcast ")
             << shapeText(from.getShape()) << " to " << shapeText(to.getShape());
  return success();
}

// That the shapes agree is checked for all elementwise operations.
LogicalResult ConvertOp::verify() {
  Type from = elementTypeOf(getInput().getType()), to = elementTypeOf(getResult().getType());
  if (getRounding() == Rounding::TowardZero && !(isa<FloatType>(from) && isa<FloatType>(to)))
    return emitOpError("rounding rtz applies to floats, got ") << from << " to " << to;
  return verifyShape(*this, getInput().getType());
}

static Type reducedType(RankedTensorType type, int64_t axis) {
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  return shape.empty() ? type.getElementType()
                       : Type(RankedTensorType::get(shape, type.getElementType()));
}

LogicalResult ReduceOp::verify() {
  if (getInputs().empty() || getInputs().size() != getResults().size())
    return emitOpError("needs one result an operand, and at least one operand");
  auto first = cast<RankedTensorType>(getInputs()[0].getType());
  if (failed(verifyShape(*this, first)) || failed(verifyAxis(*this, getAxis(), first.getRank())))
    return failure();
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults())) {
    auto type = cast<RankedTensorType>(input.getType());
    if (type.getShape() != first.getShape())
      return emitOpError("operands differ in shape: ")
             << shapeText(first.getShape()) << " and " << shapeText(type.getShape());
    Type expected = reducedType(type, getAxis());
    if (shapeOf(expected) != shapeOf(result.getType()) ||
        elementTypeOf(expected) != elementTypeOf(result.getType()) ||
        isa<RankedTensorType>(expected) != isa<RankedTensorType>(result.getType()))
      return emitOpError("result must be ") << expected << ", got " << result.getType();
  }
  return success();
}

// The region takes two tuples of scalars and yields one.
static LogicalResult verifyCombine(Operation *op, Block &block, ValueRange inputs) {
  size_t count = inputs.size();
  if (block.getNumArguments() != 2 * count)
    return op->emitOpError("the region needs ")
           << 2 * count << " arguments, got " << block.getNumArguments();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != count)
    return op->emitOpError("the region must yield ") << count << " values";
  for (size_t i = 0; i < count; ++i) {
    Type type = elementTypeOf(inputs[i].getType());
    if (block.getArgument(i).getType() != type || block.getArgument(count + i).getType() != type ||
        yield.getValues()[i].getType() != type)
      return op->emitOpError("the region's arguments and results ") << i << " must be " << type;
  }
  auto isTile = [](Type type) { return isa<ShapedType>(type); };
  for (Operation &inner : block.without_terminator())
    if (inner.getNumRegions() != 0 || !isMemoryEffectFree(&inner) ||
        llvm::any_of(inner.getOperandTypes(), isTile) ||
        llvm::any_of(inner.getResultTypes(), isTile))
      return inner.emitOpError(
          "is not allowed in a combine region: only pure scalar operations are");
  return success();
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyCombine(*this, getCombine().front(), getInputs());
}
LogicalResult ScanOp::verifyRegions() {
  return verifyCombine(*this, getCombine().front(), getInputs());
}

LogicalResult ScanOp::verify() {
  if (getInputs().empty() || getInputs().size() != getResults().size())
    return emitOpError("needs one result an operand, and at least one operand");
  auto first = cast<RankedTensorType>(getInputs()[0].getType());
  if (failed(verifyShape(*this, first)) || failed(verifyAxis(*this, getAxis(), first.getRank())))
    return failure();
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults())) {
    if (shapeOf(input.getType()) != first.getShape())
      return emitOpError("operands differ in shape: ")
             << shapeText(first.getShape()) << " and " << shapeText(shapeOf(input.getType()));
    if (result.getType() != input.getType())
      return emitOpError("result must be ") << input.getType() << ", got " << result.getType();
  }
  return success();
}
