#include "codegen/thread/SharedSpace.h"

#include "ir/annotations/FunctionAnnotations.h"
#include "ir/gpu/SharedAccesses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::codegen {

// How far a team's own shared memory is behind that of the first.
Value SharedSpace::teamMemory() {
  if (teamMemory_)
    return teamMemory_;
  OpBuilder::InsertionGuard guard(values_.b);
  values_.b.setInsertionPointAfter(threads_.team().getDefiningOp());
  return teamMemory_ = arith::MulIOp::create(values_.b, values_.loc(), threads_.team(),
                                             values_.i32(gpu::teamBytesOf(values_.source())));
}

Value SharedSpace::pointer(Value byteOffset) {
  auto type = LLVM::LLVMPointerType::get(values_.b.getContext(),
                                         static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  Value base = LLVM::AddressOfOp::create(values_.b, values_.loc(), type, kSharedSymbol);
  return LLVM::GEPOp::create(values_.b, values_.loc(), type, values_.b.getI8Type(), base,
                             ValueRange{byteOffset});
}

bool SharedSpace::hasPlace(Value smem) { return gpu::allocationOf(smem) != nullptr; }

// The distance of a stage that is known is part of the offset.
SharedSpace::Place SharedSpace::placeOf(Value smem) {
  auto stage = smem.getDefiningOp<gpu::SmemStageOp>();
  gpu::SmemAllocOp memory = gpu::allocationOf(smem);
  Place place{static_cast<int64_t>(memory.getOffset().value_or(0)), {}};
  APInt distance;
  if (stage && matchPattern(stage.getDistance(), m_ConstantInt(&distance)))
    place.offset += distance.getSExtValue();
  else if (stage)
    place.moved = values_.scalar(stage.getDistance());
  if (threads_.teams() > 1 && memory.getScope() == gpu::Scope::Team)
    place.moved =
        place.moved
            ? arith::AddIOp::create(values_.b, values_.loc(), place.moved, teamMemory()).getResult()
            : teamMemory();
  return place;
}

Value SharedSpace::address(Value smem, int64_t byteOffset, Value moved) {
  Location loc = values_.loc();
  Place place = placeOf(smem);
  Value offset = values_.i32(place.offset + byteOffset);
  for (Value part : {place.moved, moved})
    if (part)
      offset = arith::AddIOp::create(values_.b, loc, offset, part);
  return LLVM::PtrToIntOp::create(values_.b, loc, values_.b.getI32Type(), pointer(offset));
}

} // namespace tile::codegen
