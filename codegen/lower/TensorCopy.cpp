// TMA copies of tiles, to and from shared memory: one instruction per box, issued by the thread
// that executes the operation.
#include "ir/instructions/TensorCopy.h"

#include "codegen/InlinePtx.h"
#include "codegen/lower/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

// `$0` is the destination, `$1` the tensor map, `$2` the mbarrier; the coordinates follow, from the
// fastest dimension. With multicast all blocks get the bytes, at the same offset of their shared
// memory, and each block's own mbarrier counts them.
std::string textOfCopy(size_t rank, int64_t blocks) {
  std::string text = "cp.async.bulk.tensor." + std::to_string(rank) +
                     "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes";
  std::string operands = " [$0], [$1, " + operandList(3, rank) + "], [$2]";
  if (blocks == 1)
    return text + operands + ";";
  return "{\n\t.reg .b16 all;\n\tmov.b16 all, " + std::to_string((1 << blocks) - 1) + ";\n\t" +
         text + ".multicast::cluster" + operands + ", all;\n\t}";
}

Value moved(Lowering &l, Location loc, Value position, int64_t by) {
  return by ? arith::AddIOp::create(l.b, loc, position, l.i32(by)).getResult() : position;
}

// `$0` is the tensor map, `$1` the source; the coordinates follow, from the fastest dimension.
std::string textOfStore(size_t rank) {
  return "cp.async.bulk.tensor." + std::to_string(rank) +
         "d.global.shared::cta.tile.bulk_group [$0, " + operandList(2, rank) + "], [$1];";
}

void inlineNoResult(Lowering &l, Location loc, StringRef text, StringRef constraints,
                    ValueRange operands) {
  inlineMemoryPtx(l.b, loc, text, constraints, LLVM::LLVMVoidType::get(l.b.getContext()), operands);
}

// The plan of a copy or a store.
template <class Op> std::optional<gpu::TensorCopyPlan> planOf(Lowering &l, Op op) {
  if (!l.target.hasTma) {
    op.emitOpError("needs TMA, which ") << l.target.name << " does not have";
    return std::nullopt;
  }
  Refusal why;
  auto plan = gpu::planTensorCopy(op, op.getView(), op.getShape(), op.getSmem().getType(), &why);
  if (!plan)
    op.emitOpError("cannot be done by TMA: ") << *why;
  return plan;
}

LogicalResult lowerTensorCopy(Lowering &l, gpu::TensorCopyOp copy) {
  Location loc = copy.getLoc();
  auto plan = planOf(l, copy);
  if (!plan)
    return failure();
  if (!SharedSpace::hasPlace(copy.getSmem()) || !SharedSpace::hasPlace(copy.getBarriers()))
    return copy.emitOpError("needs memory of a tilegpu.smem_alloc");
  int64_t blocks = copy.getMulticast() ? l.threads.cluster() : 1;
  std::optional<gpu::TensorShare> share = gpu::shareOf(*plan, copy.getSmem().getType(), blocks);
  if (!share || (blocks > 1 && !l.target.hasClusters))
    return copy.emitOpError("cannot be shared among ") << blocks << " blocks";
  auto ofRank = [&](int64_t number) {
    return number
               ? arith::MulIOp::create(l.b, loc, l.threads.clusterRank(), l.i32(number)).getResult()
               : Value();
  };
  Value map = l.module.tensorMap(share->map);
  Value barrier = l.shared.address(copy.getBarriers(), 0, l.scalar(copy.getDistance()));
  size_t rank = plan->order.size();
  std::string constraints = "r,l,r";
  for (size_t i = 0; i < rank; ++i)
    constraints += ",r";
  Value bytes = ofRank(share->ofEach.bytes);
  SmallVector<Value> places;
  for (auto [offset, start] : llvm::zip_equal(copy.getOffsets(), share->ofEach.start)) {
    Value first = l.scalar(offset), further = ofRank(start);
    places.push_back(further ? arith::AddIOp::create(l.b, loc, first, further).getResult() : first);
  }
  for (const gpu::TensorBox &box : share->boxes) {
    SmallVector<Value> operands = {l.shared.address(copy.getSmem(), box.bytes, bytes), map,
                                   barrier};
    for (int32_t dim : plan->order)
      operands.push_back(moved(l, loc, places[dim], box.start[dim]));
    inlineNoResult(l, loc, textOfCopy(rank, blocks), constraints, operands);
  }
  return success();
}

// All boxes of a store are one group, which is waited for as a whole.
LogicalResult lowerTensorStore(Lowering &l, gpu::TensorStoreOp store) {
  auto plan = planOf(l, store);
  if (!plan)
    return failure();
  if (!SharedSpace::hasPlace(store.getSmem()))
    return store.emitOpError("needs memory of a tilegpu.smem_alloc");
  Location loc = store.getLoc();
  Value map = l.module.tensorMap(plan->map);
  size_t rank = plan->order.size();
  std::string constraints = "l,r";
  for (size_t i = 0; i < rank; ++i)
    constraints += ",r";
  for (const gpu::TensorBox &box : plan->boxes) {
    SmallVector<Value> operands = {map, l.shared.address(store.getSmem(), box.bytes)};
    for (int32_t dim : plan->order)
      operands.push_back(moved(l, loc, l.scalar(store.getOffsets()[dim]), box.start[dim]));
    inlineNoResult(l, loc, textOfStore(rank), constraints, operands);
  }
  NVVM::CpAsyncBulkCommitGroupOp::create(l.b, loc);
  return success();
}

LogicalResult lowerTensorStoreWait(Lowering &l, gpu::TensorStoreWaitOp wait) {
  if (!l.target.hasTma)
    return wait.emitOpError("needs TMA, which ") << l.target.name << " does not have";
  NVVM::CpAsyncBulkWaitGroupOp::create(l.b, wait.getLoc(), wait.getPendingAttr(),
                                       wait.getReadsAttr());
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<gpu::TensorCopyOp, lowerTensorCopy>,
    on<gpu::TensorStoreOp, lowerTensorStore>,
    on<gpu::TensorStoreWaitOp, lowerTensorStoreWait>,
};

} // namespace

LoweringTable tensorCopyLowerings() { return kLowerings; }

} // namespace tile::codegen
