// What PTX and CUDA C++ inside a kernel must look like. The back end takes any text and any
// constraint, and dies of some: everything is checked here.
#include "ir/tile/TileDialect.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile::ir;

int64_t InlinePtxOp::registersOf(Type type, int64_t pack) {
  int64_t bits = elementTypeOf(type).getIntOrFloatBitWidth();
  if (bits >= 32)
    return pack;
  return pack == 1 ? 1 : (pack * bits + 31) / 32;
}

// All operands and results are scalars, or tiles of one shape and layout.
static LogicalResult verifyOneShape(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types) {
    if (failed(verifyTileShape(shapeOf(type), [&] { return op->emitOpError(); })))
      return failure();
    auto tile = dyn_cast<RankedTensorType>(type), first = dyn_cast<RankedTensorType>(types[0]);
    bool isAlike =
        bool(tile) == bool(first) && (!tile || (tile.getShape() == first.getShape() &&
                                                tile.getEncoding() == first.getEncoding()));
    if (!isAlike)
      return op->emitOpError("operands and results must have one shape and layout");
  }
  return success();
}

// The register classes that can hold elements of a type.
static StringRef classesFor(Type type, int64_t pack) {
  Type element = elementTypeOf(type);
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits == 64)
    return isa<FloatType>(element) ? "dl" : "l";
  if (bits == 32)
    return isa<FloatType>(element) ? "fr" : "r";
  return pack == 1 ? "hr" : "r";
}

static LogicalResult verifyConstraints(InlinePtxOp op) {
  SmallVector<StringRef> given;
  op.getConstraints().split(given, ',', -1, /*KeepEmpty=*/!op.getConstraints().empty());
  SmallVector<std::pair<Type, bool>> wanted; // one a register: its type, and is it a result
  int64_t pack = op.getPack();
  for (Type type : op.getResultTypes())
    wanted.append(InlinePtxOp::registersOf(type, pack), {type, true});
  for (Type type : op.getOperandTypes())
    wanted.append(InlinePtxOp::registersOf(type, pack), {type, false});
  if (given.size() != wanted.size())
    return op.emitOpError("results and operands take ")
           << wanted.size() << " registers, but there are " << given.size() << " constraints";
  for (auto [i, text] : llvm::enumerate(given)) {
    auto [type, isResult] = wanted[i];
    StringRef constraint = text.trim();
    bool marked = constraint.consume_front("=");
    constraint.consume_front("&");
    if (marked != isResult)
      return op.emitOpError("constraint ")
             << i << ", '" << text << "', "
             << (isResult ? "is of a result and needs '='" : "is of an operand and takes no '='");
    StringRef classes = classesFor(type, pack);
    if (constraint.size() != 1 || !classes.contains(constraint))
      return op.emitOpError("constraint ")
             << i << " is '" << text << "', but " << elementTypeOf(type) << " is held by '"
             << classes.take_front() << "'";
  }
  return success();
}

// `$0` ... name registers, `$$` is a dollar; braces pair.
static LogicalResult verifyText(InlinePtxOp op, size_t registers) {
  StringRef text = op.getText();
  int64_t depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    depth += (text[at] == '{') - (text[at] == '}');
    if (depth < 0 || text[at] == '\0')
      return op.emitOpError(depth < 0 ? "'}' without '{' in the text" : "NUL in the text");
    if (text[at] != '$')
      continue;
    if (at + 1 < text.size() && text[at + 1] == '$') {
      ++at;
      continue;
    }
    StringRef digits = text.drop_front(at + 1).take_while(llvm::isDigit);
    uint64_t number = 0;
    if (digits.empty() || digits.getAsInteger(10, number))
      return op.emitOpError("'$' must be followed by the number of a register, or by '$'");
    if (number >= registers)
      return op.emitOpError("the text names $")
             << digits << ", but there are " << registers << " registers";
  }
  if (depth)
    return op.emitOpError("'{' without '}' in the text");
  if (!text.contains(';'))
    return op.emitOpError("the text has no instruction that ends in ';'");
  return success();
}

LogicalResult InlinePtxOp::verify() {
  int64_t pack = getPack();
  if (pack != 1 && pack != 2 && pack != 4 && pack != 8)
    return emitOpError("pack must be 1, 2, 4 or 8, got ") << pack;
  if (getPure() && getNumResults() == 0)
    return emitOpError("is pure and has no result, so it does nothing");
  if (failed(verifyOneShape(*this)))
    return failure();
  size_t registers = 0;
  for (Type type : llvm::concat<const Type>(getResultTypes(), getOperandTypes())) {
    Type element = elementTypeOf(type);
    if (element.isInteger(1))
      return emitOpError("i1 has no register class: convert it to i32");
    if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
      return emitOpError() << element << " has no register class: bitcast it to i8";
    registers += registersOf(type, pack);
  }
  if (registers > 30)
    return emitOpError("takes ") << registers << " registers, at most 30 are possible";
  if (failed(verifyConstraints(*this)))
    return failure();
  return verifyText(*this, registers);
}

SmallVector<StringRef> InlineCudaOp::dtypesOf(StringRef signature) {
  auto [result, rest] = signature.split('(');
  SmallVector<StringRef> dtypes{result.trim()};
  if (!rest.consume_back(")"))
    return {};
  if (!rest.trim().empty())
    rest.split(dtypes, ',');
  for (StringRef &dtype : dtypes)
    dtype = dtype.trim();
  return dtypes;
}

// The dtype whose elements have a type, by name: "u32" and "i32" are both i32.
static bool isNameOf(StringRef dtype, Type element) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    StringRef digits = dtype;
    bool isSigned = digits.consume_front("i"), isUnsigned = !isSigned && digits.consume_front("u");
    return (isSigned || isUnsigned) && digits == std::to_string(integer.getWidth()) &&
           !(isUnsigned && integer.getWidth() == 1);
  }
  return (element.isF16() && dtype == "f16") || (element.isBF16() && dtype == "bf16") ||
         (element.isF32() && dtype == "f32") || (element.isF64() && dtype == "f64");
}

LogicalResult InlineCudaOp::verify() {
  if (getEntry().trim().empty())
    return emitOpError("needs the name of a function");
  if (getSource().contains('\0'))
    return emitOpError("NUL in the source");
  if (failed(verifyOneShape(*this)))
    return failure();
  SmallVector<StringRef> dtypes = dtypesOf(getSignature());
  if (dtypes.size() != 1 + getOperands().size())
    return emitOpError("the signature '") << getSignature() << "' is not that of a function of "
                                          << getOperands().size() << " operands";
  SmallVector<Type> types{getResult().getType()};
  llvm::append_range(types, getOperandTypes());
  for (auto [dtype, type] : llvm::zip_equal(dtypes, types))
    if (!isNameOf(dtype, elementTypeOf(type)))
      return emitOpError("the signature says '")
             << dtype << "' where there is " << elementTypeOf(type)
             << "; functions take and return i1, i8 to i64, u8 to u64, f16, bf16, f32 and f64";
  return success();
}
