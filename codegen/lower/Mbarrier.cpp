// mbarriers, which count arrivals and the bytes of TMA, and `elect`.
#include "codegen/InlinePtx.h"
#include "codegen/lower/Lowering.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::codegen {

namespace {

LogicalResult refuseUnlessTma(Lowering &l, Operation *op) {
  if (l.target.hasTma)
    return success();
  return op->emitOpError("needs barriers that count bytes, which ")
         << l.target.name << " does not have";
}

// An instruction on the mbarrier at address `$0`, with an optional operand `$1`.
void onBarrier(Lowering &l, Location loc, StringRef text, Value address, Value operand = {}) {
  SmallVector<Value> operands = {address};
  if (operand)
    operands.push_back(operand);
  inlineMemoryPtx(l.b, loc, text, operand ? "r,r" : "r", LLVM::LLVMVoidType::get(l.b.getContext()),
                  operands);
}

template <class Op> LogicalResult refuseUnlessPlaced(Lowering &l, Op op) {
  if (failed(refuseUnlessTma(l, op)))
    return failure();
  return SharedSpace::hasPlace(op.getBarriers())
             ? success()
             : op.emitOpError("needs memory of a tilegpu.smem_alloc");
}

template <class Op> LogicalResult onAllBarriers(Lowering &l, Op op, StringRef text) {
  if (failed(refuseUnlessPlaced(l, op)))
    return failure();
  int64_t count = op.getBarriers().getType().getShape()[0];
  for (int64_t i = 0; i < count; ++i)
    onBarrier(l, op.getLoc(), text, l.shared.address(op.getBarriers(), i * gpu::kBarrierBytes));
  return success();
}

// The mbarrier that the operation names by its distance from the first.
template <class Op>
LogicalResult onOneBarrier(Lowering &l, Op op, StringRef text, Value operand = {}) {
  if (failed(refuseUnlessPlaced(l, op)))
    return failure();
  onBarrier(l, op.getLoc(), text, l.shared.address(op.getBarriers(), 0, l.scalar(op.getDistance())),
            operand);
  return success();
}

LogicalResult lowerInit(Lowering &l, gpu::MbarrierInitOp init) {
  return onAllBarriers(
      l, init, "mbarrier.init.shared::cta.b64 [$0], " + std::to_string(init.getArrivals()) + ";");
}

LogicalResult lowerInval(Lowering &l, gpu::MbarrierInvalOp inval) {
  return onAllBarriers(l, inval, "mbarrier.inval.shared::cta.b64 [$0];");
}

LogicalResult lowerExpect(Lowering &l, gpu::MbarrierExpectOp expect) {
  return onOneBarrier(l, expect,
                      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], " +
                          std::to_string(expect.getBytes()) + ";");
}

// One elected thread arrives for its warp, with `after_reads` after all its threads have read. In a
// cluster lane i arrives at the mbarrier of block i.
LogicalResult lowerArrive(Lowering &l, gpu::MbarrierArriveOp arrive) {
  std::string meet = arrive.getAfterReads() ? "bar.warp.sync 0xffffffff;\n\t" : "";
  bool isInCluster = arrive.getScope() == gpu::Scope::Cluster;
  if (isInCluster && !l.target.hasClusters)
    return arrive.emitOpError("needs clusters of blocks, which ")
           << l.target.name << " does not have";
  std::string choose =
      isInCluster ? ".reg .b32 there;\n\tmov.u32 there, %laneid;\n\tsetp.lt.u32 one, there, " +
                        std::to_string(l.threads.cluster()) + ";\n\t"
                  : "elect.sync _|one, 0xffffffff;\n\t";
  std::string at = isInCluster ? "@one mapa.shared::cluster.u32 there, $0, there;\n\t"
                                 "@one mbarrier.arrive.shared::cluster.b64 _, [there];\n\t}"
                               : "@one mbarrier.arrive.shared::cta.b64 _, [$0];\n\t}";
  Value predicate;
  if (arrive.getPredicate()) {
    predicate = arith::ExtUIOp::create(l.b, arrive.getLoc(), l.b.getI32Type(),
                                       l.scalar(arrive.getPredicate()));
    choose += "setp.ne.and.b32 one, $1, 0, one;\n\t";
  }
  return onOneBarrier(l, arrive, meet + "{\n\t.reg .pred one;\n\t" + choose + at, predicate);
}

// try_wait suspends the thread for a limited time only, so it is repeated.
LogicalResult lowerWait(Lowering &l, gpu::MbarrierWaitOp wait) {
  return onOneBarrier(l, wait,
                      "{\n\t.reg .pred done;\n\tagain:\n\t"
                      "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\n\t"
                      "@!done bra again;\n\t}",
                      l.scalar(wait.getParity()));
}

// The first warp of the scope.
int32_t firstWarpOf(gpu::ElectOp elect) {
  gpu::WarpSpecializeOp roles = gpu::rolesOf(elect->getParentOfType<func::FuncOp>());
  std::optional<unsigned> producer = roles && elect.getScope() == gpu::Scope::Block
                                         ? roles.find(gpu::RoleKind::Producer)
                                         : std::nullopt;
  return producer ? roles.getFirstWarp(*producer) : 0;
}

// `elect.sync` lets ptxas know that only one thread executes the body.
LogicalResult lowerElect(Lowering &l, gpu::ElectOp elect) {
  if (failed(refuseUnlessTma(l, elect)))
    return failure();
  OpBuilder::InsertionGuard guard(l.b);
  Location loc = elect.getLoc();
  Value warp = l.threads.uniformWarp();
  if (l.threads.teams() > 1 && elect.getScope() == gpu::Scope::Team)
    warp = arith::AndIOp::create(l.b, loc, warp, l.i32(ir::warpsOf(elect) - 1));
  Value isItsWarp =
      arith::CmpIOp::create(l.b, loc, arith::CmpIPredicate::eq, warp, l.i32(firstWarpOf(elect)));
  if (elect.getPredicate())
    isItsWarp = arith::AndIOp::create(l.b, loc, isItsWarp, l.scalar(elect.getPredicate()));
  auto byWarp = scf::IfOp::create(l.b, loc, isItsWarp, /*withElseRegion=*/false);
  l.b.setInsertionPointToStart(byWarp.thenBlock());
  Value isElected = NVVM::ElectSyncOp::create(l.b, loc, l.b.getI1Type(), Value());
  auto byThread = scf::IfOp::create(l.b, loc, isElected, /*withElseRegion=*/false);
  l.b.setInsertionPointToStart(byThread.thenBlock());
  return l.lowerBlock(elect.getBody().front());
}

constexpr LoweringRow kLowerings[] = {
    on<gpu::ElectOp, lowerElect>,           on<gpu::MbarrierArriveOp, lowerArrive>,
    on<gpu::MbarrierExpectOp, lowerExpect>, on<gpu::MbarrierInitOp, lowerInit>,
    on<gpu::MbarrierInvalOp, lowerInval>,   on<gpu::MbarrierWaitOp, lowerWait>,
};

} // namespace

LoweringTable mbarrierLowerings() { return kLowerings; }

} // namespace tile::codegen
