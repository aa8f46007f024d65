// Asynchronous copies by cp.async: each thread copies vectors of 4, 8 or 16 bytes, which arrive as
// zeros outside of the view.
#include "ir/instructions/AsyncCopy.h"

#include "codegen/InlinePtx.h"
#include "codegen/lower/SharedPointers.h"
#include "codegen/lower/ViewAccess.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

/// One vector to copy.
struct CopyVector {
  GlobalPlace from; ///< its predicate says whether the vector is inside the view
  SharedVector to;
  int64_t bytes;
  Value isIssued; ///< null: always
};

// Copies of 16 bytes bypass L1 (.cg); narrower ones cannot.
void issue(Lowering &l, Location loc, const CopyVector &copy) {
  std::string size = std::to_string(copy.bytes);
  std::string text = std::string("cp.async.") + (copy.bytes == 16 ? "cg" : "ca") +
                     ".shared.global [$0+" + std::to_string(copy.to.offset) + "], [$1+" +
                     std::to_string(copy.from.byteOffset) + "], " + size;
  std::string constraints = "r,l";
  Value shared = LLVM::PtrToIntOp::create(l.b, loc, l.b.getI32Type(), copy.to.pointer);
  SmallVector<Value> operands = {shared, copy.from.pointer};
  if (copy.from.predicate) { // an ignored source arrives as zeros
    text += ", $2";
    constraints += ",b";
    operands.push_back(arith::XOrIOp::create(l.b, loc, copy.from.predicate, l.integer(1, 1)));
  }
  if (copy.isIssued) {
    text = "@$" + std::to_string(operands.size()) + " " + text;
    constraints += ",b";
    operands.push_back(copy.isIssued);
  }
  inlineMemoryPtx(l.b, loc, text + ";", constraints, LLVM::LLVMVoidType::get(l.b.getContext()),
                  operands);
}

LogicalResult lowerCopyAsync(Lowering &l, gpu::CopyAsyncOp copy) {
  Operation *op = copy;
  gpu::SmemType memory = copy.getSmem().getType();
  auto plan = gpu::planAsyncCopy(op, copy.getShape(), memory, ir::warpsOf(op));
  auto address = plan ? layout::sharedAddress(plan->inMemory, gpu::sharedOf(memory)) : std::nullopt;
  if (!address || !SharedSpace::hasPlace(copy.getSmem()))
    return op->emitOpError("needs memory of a tilegpu.smem_alloc, and 4 bytes at least that are "
                           "neighbours in it and in the view");
  int64_t bytes = gpu::bytesOf(memory.getElementType());
  ViewAccess access(l, op, copy.getView(), copy.getOffsets(), plan->inView, bytes);
  SharedPointers pointers(l, op->getLoc(), copy.getSmem(), bytes,
                          threadPart(l, address->lanes, address->warps));
  Value isIssued = copy.getPredicate() ? l.scalar(copy.getPredicate()) : Value();
  isIssued = bothTrue(l, op->getLoc(), isIssued, l.coordinates.isFirstHolder(plan->inView));
  uint32_t duplicates = plan->inView.freeMask(layout::In::Register);
  for (int32_t reg = 0; reg < plan->inView.numRegisters(); reg += plan->elements)
    if (!(reg & duplicates))
      issue(l, op->getLoc(),
            {access.place(reg), pointers.vector(address->registers[reg]), plan->elements * bytes,
             isIssued});
  return success();
}

LogicalResult lowerAsyncCommit(Lowering &l, gpu::AsyncCommitOp op) {
  NVVM::CpAsyncCommitGroupOp::create(l.b, op.getLoc());
  return success();
}

LogicalResult lowerAsyncWait(Lowering &l, gpu::AsyncWaitOp op) {
  NVVM::CpAsyncWaitGroupOp::create(l.b, op.getLoc(), op.getPending());
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<gpu::AsyncCommitOp, lowerAsyncCommit>,
    on<gpu::AsyncWaitOp, lowerAsyncWait>,
    on<gpu::CopyAsyncOp, lowerCopyAsync>,
};

} // namespace

LoweringTable asyncCopyLowerings() { return kLowerings; }

} // namespace tile::codegen
