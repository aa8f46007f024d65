#include "codegen/report/WorkOfOp.h"

#include "codegen/report/MakeReport.h"
#include "codegen/report/Roofline.h"
#include "ir/gpu/DotLayouts.h"
#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tile::codegen {

namespace {

int64_t elementsOf(Type type) {
  int64_t count = 1;
  for (int64_t extent : extentsOf(type))
    count *= extent;
  return count;
}

std::string plainUnit(Type element) { return element.isF64() ? kUnitF64 : kUnitF32; }

// Of a `tile.dot` or `tilegpu.dot_async` (on the tensor core) or a `tilegpu.smem_dot` (multiply-add): operands are a, b,
// acc.
std::string dotUnit(Operation *dot) {
  if (auto product = dyn_cast<gpu::SmemDotOp>(dot)) {
    Type element = product.getA().getType().getElementType();
    return element.isInteger() ? kUnitInteger : plainUnit(element);
  }
  auto staged = dyn_cast<gpu::SmemType>(dot->getOperand(0).getType());
  Type element = staged ? staged.getElementType() : ir::elementTypeOf(dot->getOperand(0).getType());
  switch (element.getIntOrFloatBitWidth()) {
  case 8:
    return element.isInteger() ? kUnitTensorI8 : kUnitTensorF8;
  case 16:
    return ir::elementTypeOf(gpu::tileOf(dot->getResult(0).getType())).isF16()
               ? kUnitTensor16SumsOfF16
               : kUnitTensor16;
  default:
    return element.isF64() ? kUnitF64 : kUnitTensorTf32;
  }
}

// Operations per element: moves, comparisons, conversions and logic of masks are none, a fused multiply-add two, the rest
// one.
int64_t operationsPerElement(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool isArithmetic =
      dialect == "arith" || dialect == "math" || op->hasTrait<OpTrait::Elementwise>();
  if (!isArithmetic || op->getNumResults() != 1 ||
      isa<arith::ConstantOp, arith::SelectOp, arith::CmpIOp, arith::CmpFOp, CastOpInterface,
          ir::ConvertOp>(op))
    return 0;
  Type element = ir::elementTypeOf(op->getResult(0).getType());
  if (!element.isIntOrFloat() || element.isInteger(1))
    return 0;
  return isa<math::FmaOp>(op) ? 2 : 1;
}

std::string unitOf(Type element) { return element.isInteger() ? kUnitInteger : plainUnit(element); }

int64_t bytesOf(Type type) { return elementsOf(type) * gpu::bytesOf(ir::elementTypeOf(type)); }

// Of a copy between a view and shared memory.
template <class Copy> int64_t bytesOfCopy(Copy copy) {
  return llvm::product_of(copy.getShape()) *
         gpu::bytesOf(copy.getSmem().getType().getElementType());
}

// Reductions and scans: the region, once for each element.
void countCombination(Operation *op, OpWork &work) {
  auto elements = static_cast<double>(elementsOf(op->getOperand(0).getType()));
  op->getRegion(0).walk([&](Operation *step) {
    if (int64_t each = operationsPerElement(step))
      work.flops[unitOf(ir::elementTypeOf(step->getResult(0).getType()))] +=
          static_cast<double>(each) * elements;
  });
}

void countArithmetic(Operation *op, OpWork &work) {
  if (gpu::isDot(op)) {
    work.flops[dotUnit(op)] += 2.0 * static_cast<double>(elementsOf(op->getResult(0).getType())) *
                               static_cast<double>(depthOf(op));
  } else if (isCombination(op)) {
    countCombination(op, work);
  } else if (isPureForeign(op)) { // as a function such as exp
    for (Value result : op->getResults())
      work.flops[unitOf(ir::elementTypeOf(result.getType()))] +=
          static_cast<double>(elementsOf(result.getType()));
  } else if (isa<gpu::SmemCountOp>(op)) { // a histogram counts each element once
    work.flops[kUnitInteger] += static_cast<double>(elementsOf(op->getOperand(0).getType()));
  } else if (int64_t each = operationsPerElement(op);
             each && isa<RankedTensorType>(op->getResult(0).getType())) {
    Type type = op->getResult(0).getType();
    work.flops[unitOf(ir::elementTypeOf(type))] +=
        static_cast<double>(each) * static_cast<double>(elementsOf(type));
  }
}

void countBytes(Operation *op, OpWork &work) {
  if (isa<ir::AtomicRmwOp, ir::AtomicCasOp>(op))
    work.bytesRead = work.bytesWritten = bytesOf(op->getResult(0).getType());
  else if (isa<ir::ViewLoadOp, ir::LoadOp, gpu::WorkspaceLoadOp, gpu::WorkspaceAddOp>(op))
    work.bytesRead = bytesOf(op->getResult(0).getType());
  else if (auto copy = dyn_cast<gpu::CopyAsyncOp>(op))
    work.bytesRead = bytesOfCopy(copy);
  else if (auto copy = dyn_cast<gpu::TensorCopyOp>(op))
    work.bytesRead = bytesOfCopy(copy);
  else if (auto store = dyn_cast<gpu::TensorStoreOp>(op))
    work.bytesWritten = bytesOfCopy(store);
  else if (isa<ir::ViewStoreOp, ir::StoreOp, gpu::WorkspaceStoreOp>(op))
    work.bytesWritten = bytesOf(op->getOperand(0).getType());
  if (auto store = dyn_cast<ir::ViewStoreOp>(op); store && store.getAdds())
    work.bytesRead = work.bytesWritten;
}

} // namespace

bool isPureForeign(Operation *op) {
  return isa<ir::InlinePtxOp, ir::InlineCudaOp>(op) && isMemoryEffectFree(op);
}

bool isCombination(Operation *op) {
  return isa<ir::ReduceOp, gpu::ReducePartialOp, ir::ScanOp>(op);
}

OpWork workOf(Operation *op) {
  OpWork work;
  countArithmetic(op, work);
  countBytes(op, work);
  std::erase_if(work.flops, [](auto &entry) { return entry.second == 0; });
  return work;
}

} // namespace tile::codegen
