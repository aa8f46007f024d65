// Where all warps, or those of a role, meet; which warp a thread is of, and the registers that its group may have.
#include "codegen/InlinePtx.h"
#include "codegen/lower/Lowering.h"
#include "ir/Annotations.h"
#include "ir/UserError.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

/// The barriers of teams are those behind turns', and before that of roles.
constexpr int64_t kFirstTeamBarrier = 8;

void meetTeam(Lowering &l, gpu::BarrierOp barrier) {
  Location loc = barrier.getLoc();
  Value number = arith::AddIOp::create(l.b, loc, l.team(), l.i32(kFirstTeamBarrier));
  std::string text = "bar.sync $0, " + std::to_string(ir::warpsOf(barrier) * ir::kWarpSize) + ";";
  inlineMemoryPtx(l.b, loc, text, "r", LLVM::LLVMVoidType::get(l.b.getContext()), {number});
}

// What one thread has made of barriers, before the first fills, is seen by the threads of all blocks.
LogicalResult meetCluster(Lowering &l, gpu::BarrierOp barrier) {
  if (!l.target.hasClusters)
    return barrier.emitOpError("needs clusters of blocks, which ")
           << l.target.name << " does not have";
  std::string fence = barrier.getBeforeFills() ? "fence.mbarrier_init.release.cluster;\n\t" : "";
  inlineMemoryPtx(l.b, barrier.getLoc(),
                  fence + "barrier.cluster.arrive.release.aligned;\n\t"
                          "barrier.cluster.wait.acquire.aligned;",
                  "", LLVM::LLVMVoidType::get(l.b.getContext()), {});
  return success();
}

LogicalResult lowerBarrier(Lowering &l, gpu::BarrierOp barrier) {
  Location loc = barrier.getLoc();
  if (barrier.getOfCluster())
    return meetCluster(l, barrier);
  if (l.teams() > 1 && !barrier.getOfBlock() && !barrier.getBeforeFills()) {
    meetTeam(l, barrier);
    return success();
  }
  if (!barrier.getWarps()) {
    NVVM::Barrier0Op::create(l.b, loc);
    return success();
  }
  std::string text = "bar.sync " + std::to_string(barrier.getNumber()) + ", " +
                     std::to_string(*barrier.getWarps() * ir::kWarpSize) + ";";
  inlineMemoryPtx(l.b, loc, text, "", LLVM::LLVMVoidType::get(l.b.getContext()), {});
  return success();
}

// SpecializeWarps decides it, of which alone the passes of teams in turn cannot do without.
LogicalResult refuseByRole(Lowering &, Operation *op) {
  return ir::userError(op->emitError("the pass specialize-warps is left out, but teams take turns "
                                     "(ping_pong) and need its producer warp"),
                       ErrorCode::InvalidArgument);
}

LogicalResult lowerTeamId(Lowering &l, ir::TeamIdOp team) {
  l.set(team.getResult(), {l.team()});
  return success();
}

LogicalResult lowerWarpId(Lowering &l, gpu::WarpIdOp warp) {
  l.set(warp.getResult(), {l.uniformWarp()});
  return success();
}

LogicalResult lowerSetMaxRegisters(Lowering &l, gpu::SetMaxRegistersOp set) {
  if (!l.target.hasWgmma)
    return set.emitOpError("needs groups of warps that change their registers, which ")
           << l.target.name << " does not have";
  NVVM::SetMaxRegisterOp::create(l.b, set.getLoc(), set.getCount(),
                                 set.getMore() ? NVVM::SetMaxRegisterAction::increase
                                               : NVVM::SetMaxRegisterAction::decrease);
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<gpu::BarrierOp, lowerBarrier>, on<gpu::SetMaxRegistersOp, lowerSetMaxRegisters>,
    on<gpu::WarpIdOp, lowerWarpId>,   on<ir::ByRoleOp, refuseByRole>,
    on<ir::TeamIdOp, lowerTeamId>,
};

} // namespace

LoweringTable roleLowerings() { return kLowerings; }

} // namespace tile::codegen
