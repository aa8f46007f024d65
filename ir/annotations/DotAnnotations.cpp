#include "ir/annotations/DotAnnotations.h"

#include "ir/annotations/AnnotationTable.h"
#include "ir/annotations/VariantAnnotations.h"
#include "ir/gpu/DotLayouts.h"

using namespace mlir;

namespace tile::gpu {

namespace {

constexpr llvm::StringLiteral kWarpGridName = "tilegpu.warp_grid";
constexpr llvm::StringLiteral kAFromRegistersName = "tilegpu.a_from_registers";
constexpr llvm::StringLiteral kKMajorName = "tilegpu.k_major";
constexpr llvm::StringLiteral kKWidthName = "tilegpu.k_width";

LogicalResult verifyWarpGrid(Operation *op, Attribute value) {
  if (!isa<WarpGridAttr>(value))
    return op->emitOpError() << kWarpGridName << " must be a #tilegpu.warp_grid<...>, got "
                             << value;
  if (!isDot(op))
    return op->emitOpError() << kWarpGridName << " belongs on a product";
  return success();
}

LogicalResult verifyAFromRegisters(Operation *op, Attribute value) {
  if (!isa<UnitAttr>(value) || !isDot(op))
    return op->emitOpError() << kAFromRegistersName << " belongs on a product, without a value";
  return success();
}

LogicalResult verifyKMajor(Operation *op, Attribute value) {
  auto majors = dyn_cast<DenseBoolArrayAttr>(value);
  if (!isa<ir::DotOp>(op) || dotVariantOf(op) != DotVariant::Wgmma || !majors || majors.size() != 2)
    return op->emitOpError() << kKMajorName
                             << " must be array<i1: ...>, of a and b, on a tile.dot by wgmma";
  return success();
}

LogicalResult verifyKWidth(Operation *op, Attribute value) {
  auto width = dyn_cast<IntegerAttr>(value);
  if (!isa<ir::DotOp>(op) || dotVariantOf(op) != DotVariant::MmaSync || !width ||
      !width.getType().isInteger(32) || width.getInt() < 1 ||
      !llvm::isPowerOf2_64(static_cast<uint64_t>(width.getInt())))
    return op->emitOpError() << kKWidthName
                             << " must be a power of two (i32) on a tile.dot by mma_sync";
  return success();
}

constexpr Annotation kAnnotations[] = {{kWarpGridName, verifyWarpGrid},
                                       {kAFromRegistersName, verifyAFromRegisters},
                                       {kKMajorName, verifyKMajor},
                                       {kKWidthName, verifyKWidth}};

} // namespace

ArrayRef<Annotation> dotAnnotations() { return kAnnotations; }

LogicalResult WarpGridAttr::verify(function_ref<InFlightDiagnostic()> emitError, int32_t rows,
                                   int32_t columns, int32_t batch) {
  for (int32_t warps : {rows, columns, batch})
    if (warps < 1 || !llvm::isPowerOf2_32(static_cast<uint32_t>(warps)))
      return emitError() << "warps along a dimension must be a power of two, got " << warps;
  return success();
}

WarpGridAttr warpGridOf(Operation *dot) { return dot->getAttrOfType<WarpGridAttr>(kWarpGridName); }

void setWarpGrid(Operation *dot, int32_t rows, int32_t columns, int32_t batch) {
  dot->setAttr(kWarpGridName, WarpGridAttr::get(dot->getContext(), rows, columns, batch));
}

bool takesAFromRegisters(Operation *dot) { return dot->hasAttr(kAFromRegistersName); }

void setTakesAFromRegisters(Operation *dot) {
  dot->setAttr(kAFromRegistersName, UnitAttr::get(dot->getContext()));
}

std::optional<bool> isKMajor(OpOperand &operand) {
  auto majors = operand.getOwner()->getAttrOfType<DenseBoolArrayAttr>(kKMajorName);
  return majors ? std::optional(majors[operand.getOperandNumber()]) : std::nullopt;
}

void setKMajor(Operation *dot, bool a, bool b) {
  dot->setAttr(kKMajorName, DenseBoolArrayAttr::get(dot->getContext(), {a, b}));
}

void removeKMajor(Operation *dot) { dot->removeAttr(kKMajorName); }

int64_t kWidthOf(Operation *dot) {
  auto width = dot->getAttrOfType<IntegerAttr>(kKWidthName);
  return width ? width.getInt() : 0;
}

void setKWidth(Operation *dot, int64_t elements) {
  dot->setAttr(kKWidthName,
               Builder(dot->getContext()).getI32IntegerAttr(static_cast<int32_t>(elements)));
}

} // namespace tile::gpu
