#include "codegen/thread/ThreadValues.h"

#include "ir/LayoutAttr.h"
#include "ir/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tile::codegen {

const Registers &ThreadValues::operator[](Value value) const {
  auto it = map_.find(value);
  assert(it != map_.end() && "operands are lowered before their users");
  return it->second;
}

size_t ThreadValues::countOf(Type type) {
  type = gpu::tileOf(type); // what is in flight is in the registers of its tile
  return isa<RankedTensorType>(type) ? gpu::layoutOf(type).numRegisters() : 1;
}

Type ThreadValues::registerType(Type type) {
  Type element = ir::elementTypeOf(gpu::tileOf(type));
  if (isa<ir::PtrType>(element))
    return LLVM::LLVMPointerType::get(type.getContext(),
                                      static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  if (ir::isFloat8(element))
    return IntegerType::get(type.getContext(), 8);
  return element;
}

Value ThreadValues::integer(unsigned bits, int64_t value) {
  return arith::ConstantOp::create(b, loc(), b.getIntegerAttr(b.getIntegerType(bits), value));
}

Value ThreadValues::constant(Location loc, TypedAttr number) {
  if (ir::isFloat8(number.getType()))
    number = b.getIntegerAttr(b.getI8Type(), cast<FloatAttr>(number).getValue().bitcastToAPInt());
  return arith::ConstantOp::create(b, loc, number);
}

} // namespace tile::codegen
