// Copies of tiles by the copy engine: one instruction a box, by the thread that executes it alone.
#include "ir/TensorCopy.h"

#include "codegen/InlinePtx.h"
#include "codegen/lower/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

// `$0` is where to, `$1` the map, `$2` the barrier; the coordinates follow, from the fastest dimension.
std::string textOf(size_t rank) {
  return "cp.async.bulk.tensor." + std::to_string(rank) +
         "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, " +
         operandList(3, rank) + "], [$2];";
}

Value moved(Lowering &l, Location loc, Value position, int64_t by) {
  return by ? arith::AddIOp::create(l.b, loc, position, l.i32(by)).getResult() : position;
}

LogicalResult lowerTensorCopy(Lowering &l, gpu::TensorCopyOp copy) {
  Location loc = copy.getLoc();
  if (!l.target.hasTma)
    return copy.emitOpError("needs the copy engine, which ") << l.target.name << " does not have";
  std::string why;
  auto plan =
      gpu::planTensorCopy(copy, copy.getView(), copy.getShape(), copy.getSmem().getType(), &why);
  if (!plan)
    return copy.emitOpError("cannot be done by the copy engine: ") << why;
  if (!Lowering::hasPlace(copy.getSmem()) || !Lowering::hasPlace(copy.getBarriers()))
    return copy.emitOpError("needs memory of a tilegpu.smem_alloc");
  Value map = l.tensorMap(plan->map);
  Value barrier = l.sharedAddress(copy.getBarriers(), 0, l.scalar(copy.getDistance()));
  size_t rank = plan->order.size();
  std::string constraints = "r,l,r";
  for (size_t i = 0; i < rank; ++i)
    constraints += ",r";
  for (const gpu::TensorBox &box : plan->boxes) {
    SmallVector<Value> operands = {l.sharedAddress(copy.getSmem(), box.bytes), map, barrier};
    for (int32_t dim : plan->order)
      operands.push_back(moved(l, loc, l.scalar(copy.getOffsets()[dim]), box.start[dim]));
    inlineMemoryPtx(l.b, loc, textOf(rank), constraints, LLVM::LLVMVoidType::get(l.b.getContext()),
                    operands);
  }
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<gpu::TensorCopyOp, lowerTensorCopy>,
};

} // namespace

LoweringTable tensorCopyLowerings() { return kLowerings; }

} // namespace tile::codegen
