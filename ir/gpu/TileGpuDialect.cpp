// Registration of the dialect `tilegpu`, and the printed forms of its attributes and types.
#include "ir/gpu/TileGpuDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::gpu;

#include "ir/TileGpuDialect.cpp.inc"
#include "ir/TileGpuEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/TileGpuAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/TileGpuTypes.cpp.inc"

#define GET_OP_CLASSES
#include "ir/TileGpuOps.cpp.inc"

namespace {

// Layouts repeat on every type, so they print as aliases #layout, #layout1, ...
struct LayoutAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, raw_ostream &os) const final {
    if (isa<LayoutAttr>(attribute))
      os << "layout";
    else if (isa<SharedAttr>(attribute))
      os << "shared";
    else
      return AliasResult::NoAlias;
    return AliasResult::FinalAlias;
  }
};

} // namespace

void TileGpuDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/TileGpuAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/TileGpuTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/TileGpuOps.cpp.inc"
      >();
  addInterfaces<LayoutAliases>();
}

// `name = [[0, 1], [0, 2]]`; the first vector determines `rank`.
static ParseResult parseBases(AsmParser &parser, StringRef name, int32_t &rank,
                              SmallVector<int32_t> &bases) {
  auto parseVector = [&]() -> ParseResult {
    size_t before = bases.size();
    auto parseNumber = [&] { return parser.parseInteger(bases.emplace_back()); };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseNumber))
      return failure();
    auto length = static_cast<int32_t>(bases.size() - before);
    if (rank == 0)
      rank = length;
    if (length == 0 || length != rank)
      return parser.emitError(parser.getCurrentLocation(),
                              "basis vectors must have one length, at least 1");
    return success();
  };
  return failure(parser.parseKeyword(name) || parser.parseEqual() ||
                 parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseVector));
}

static void printBases(AsmPrinter &printer, StringRef name, int32_t rank, ArrayRef<int32_t> bases) {
  printer << name << " = [";
  for (size_t i = 0; i < bases.size(); i += rank) {
    printer << (i ? ", [" : "[");
    llvm::interleaveComma(bases.slice(i, rank), printer);
    printer << ']';
  }
  printer << ']';
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  int32_t rank = 0;
  SmallVector<int32_t> registers, lanes, warps;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseBases(parser, "register", rank, registers) ||
      parser.parseComma() || parseBases(parser, "lane", rank, lanes) || parser.parseComma() ||
      parseBases(parser, "warp", rank, warps) || parser.parseGreater())
    return {};
  return parser.getChecked<LayoutAttr>(loc, parser.getContext(), rank, registers, lanes, warps);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printBases(printer, "register", getRank(), getRegisters());
  printer << ", ";
  printBases(printer, "lane", getRank(), getLanes());
  printer << ", ";
  printBases(printer, "warp", getRank(), getWarps());
  printer << '>';
}

// `name = [1, 2]`
template <class Integer>
static ParseResult parseList(AsmParser &parser, StringRef name, SmallVector<Integer> &list) {
  auto parseNumber = [&] { return parser.parseInteger(list.emplace_back()); };
  return failure(parser.parseKeyword(name) || parser.parseEqual() ||
                 parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseNumber));
}

Attribute SharedAttr::parse(AsmParser &parser, Type) {
  SmallVector<int32_t> panel;
  SmallVector<int64_t> linear, digits;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseList(parser, "panel", panel) || parser.parseComma() ||
      parseList(parser, "linear", linear) || parser.parseComma() ||
      parseList(parser, "digits", digits) || parser.parseGreater())
    return {};
  return parser.getChecked<SharedAttr>(loc, parser.getContext(), panel, linear, digits);
}

void SharedAttr::print(AsmPrinter &printer) const {
  printer << "<panel = [" << getPanel() << "], linear = [" << getLinear() << "], digits = ["
          << getDigits() << "]>";
}

static ParseResult parseBounds(AsmParser &parser, SmallVector<Bounds> &bounds) {
  auto parseOne = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<Bounds> bound = symbolizeBounds(word);
    if (!bound)
      return parser.emitError(loc, "expected none, tile or element, got ") << word;
    bounds.push_back(*bound);
    return success();
  };
  return failure(parser.parseKeyword("bounds") || parser.parseEqual() ||
                 parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne));
}

Attribute AccessAttr::parse(AsmParser &parser, Type) {
  SmallVector<int32_t> order;
  SmallVector<Bounds> bounds;
  int32_t vector = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseList(parser, "order", order) || parser.parseComma() ||
      parser.parseKeyword("vector") || parser.parseEqual() || parser.parseInteger(vector))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parseBounds(parser, bounds))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<AccessAttr>(loc, parser.getContext(), order, vector, bounds);
}

void AccessAttr::print(AsmPrinter &printer) const {
  printer << "<order = [" << getOrder() << "], vector = " << getVector();
  if (!getBounds().empty()) {
    printer << ", bounds = [";
    llvm::interleaveComma(getBounds(), printer,
                          [&](Bounds bound) { printer << stringifyBounds(bound); });
    printer << ']';
  }
  printer << '>';
}

Type SmemType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  SharedAttr shared;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma() || parser.parseAttribute(shared) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<SmemType>(loc, parser.getContext(), shape, elementType, shared);
}

void SmemType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getShape())
    printer << extent << 'x';
  printer << getElementType() << ", " << getShared() << '>';
}

Type RingType::parse(AsmParser &parser) {
  int32_t stages = 0;
  SmallVector<SmemType> tiles;
  SMLoc loc = parser.getCurrentLocation();
  auto parseTile = [&] { return parser.parseType(tiles.emplace_back()); };
  if (parser.parseLess() || parser.parseInteger(stages) || parser.parseKeyword("x") ||
      parser.parseCommaSeparatedList(parseTile) || parser.parseGreater())
    return {};
  return parser.getChecked<RingType>(loc, parser.getContext(), stages, tiles);
}

void RingType::print(AsmPrinter &printer) const {
  printer << '<' << getStages() << " x ";
  llvm::interleaveComma(getTiles(), printer);
  printer << '>';
}
