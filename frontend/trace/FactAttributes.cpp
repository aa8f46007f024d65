#include "frontend/trace/FactAttributes.h"

#include "ir/tile/TileDialect.h"

#include <mlir/IR/Builders.h>

using namespace mlir;

namespace tile::frontend {
namespace {

void set(NamedAttrList &list, StringRef name, mlir::Attribute value) {
  if (value)
    list.set(name, value);
  else
    list.erase(name);
}

/// Null where nothing is known of any dimension.
mlir::Attribute perDimension(Builder &builder, const PerDimension &numbers, int rank) {
  ArrayRef<int64_t> known(numbers.data(), static_cast<size_t>(rank));
  bool isKnown = llvm::any_of(known, [](int64_t number) { return number != 0; });
  return isKnown ? builder.getDenseI64ArrayAttr(known) : mlir::Attribute();
}

mlir::Attribute unitStrides(Builder &builder, const ArgFacts &facts) {
  SmallVector<int32_t> dims;
  for (int dim = 0; dim < facts.rank; ++dim)
    if (facts.unitStrides >> dim & 1)
      dims.push_back(dim);
  return dims.empty() ? mlir::Attribute() : builder.getDenseI32ArrayAttr(dims);
}

void setFacts(NamedAttrList &list, Builder &builder, const ArgFacts &facts) {
  set(list, ir::kAlignmentAttr,
      facts.alignment > 0 ? builder.getI32IntegerAttr(facts.alignment) : mlir::Attribute());
  set(list, ir::kUnitStrideAttr, unitStrides(builder, facts));
  set(list, ir::kStrideBytesDivisibleAttr,
      perDimension(builder, facts.strideBytesDivisible, facts.rank));
  set(list, ir::kExtentDivisibleAttr, perDimension(builder, facts.extentDivisible, facts.rank));
  set(list, ir::kWideAttr, facts.isWide ? builder.getUnitAttr() : mlir::Attribute());
}

} // namespace

void setFacts(func::FuncOp function, std::span<const ArgFacts> args) {
  Builder builder(function.getContext());
  SmallVector<mlir::Attribute> attributes;
  for (size_t i = 0; i < args.size(); ++i) {
    NamedAttrList list(function.getArgAttrDict(static_cast<unsigned>(i)));
    setFacts(list, builder, args[i]);
    attributes.push_back(list.getDictionary(function.getContext()));
  }
  function.setAllArgAttrs(attributes);
}

bool isWide(func::FuncOp function, int index) {
  return bool(function.getArgAttr(static_cast<unsigned>(index), ir::kWideAttr));
}

} // namespace tile::frontend
