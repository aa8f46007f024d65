// Roles and barriers by scope: which warps execute a region, and at which named barrier they
// synchronize.
#include "codegen/InlinePtx.h"
#include "codegen/lower/Lowering.h"
#include "ir/UserError.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/gpu/NamedBarriers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::codegen {

namespace {

LogicalResult synchronizeTeam(Lowering &l, gpu::BarrierOp barrier) {
  Location loc = barrier.getLoc();
  Value number = arith::AddIOp::create(l.b, loc, l.threads.team(),
                                       l.i32(gpu::numberOf(gpu::NamedBarrier::FirstTeam)));
  std::string text = "bar.sync $0, " + std::to_string(ir::warpsOf(barrier) * ir::kWarpSize) + ";";
  inlineMemoryPtx(l.b, loc, text, "r", LLVM::LLVMVoidType::get(l.b.getContext()), {number});
  return success();
}

// A barrier of both roles also makes the mbarriers that one thread has initialized visible to the
// other blocks.
LogicalResult synchronizeCluster(Lowering &l, gpu::BarrierOp barrier) {
  if (!l.target.hasClusters)
    return barrier.emitOpError("needs clusters of blocks, which ")
           << l.target.name << " does not have";
  bool isOfBothRoles = barrier.getScope() == gpu::Scope::Cluster;
  std::string fence = isOfBothRoles ? "fence.mbarrier_init.release.cluster;\n\t" : "";
  inlineMemoryPtx(l.b, barrier.getLoc(),
                  fence + "barrier.cluster.arrive.release.aligned;\n\t"
                          "barrier.cluster.wait.acquire.aligned;",
                  "", LLVM::LLVMVoidType::get(l.b.getContext()), {});
  return success();
}

// Without roles all threads are consumers.
LogicalResult synchronizeBlock(Lowering &l, gpu::BarrierOp barrier) {
  Location loc = barrier.getLoc();
  gpu::WarpSpecializeOp roles = gpu::rolesOf(barrier->getParentOfType<func::FuncOp>());
  if (!roles) {
    NVVM::Barrier0Op::create(l.b, loc);
    return success();
  }
  bool isOfBothRoles = barrier.getScope() == gpu::Scope::Block;
  int32_t warps = 0;
  for (unsigned number = 0; number < roles.getRoles().size(); ++number)
    if (gpu::RoleAttr role = roles.getRole(number);
        isOfBothRoles || role.getKind() == gpu::RoleKind::Consumers)
      warps += role.getActive();
  auto barrierNumber =
      gpu::numberOf(isOfBothRoles ? gpu::NamedBarrier::Roles : gpu::NamedBarrier::Consumers);
  NVVM::BarrierOp::create(l.b, loc, TypeRange(), l.i32(barrierNumber), l.i32(warps * ir::kWarpSize),
                          {}, Value());
  return success();
}

LogicalResult lowerBarrier(Lowering &l, gpu::BarrierOp barrier) {
  switch (barrier.getScope()) {
  case gpu::Scope::Cluster:
  case gpu::Scope::ClusterConsumers:
    return synchronizeCluster(l, barrier);
  case gpu::Scope::Team:
    return l.threads.teams() > 1 ? synchronizeTeam(l, barrier) : synchronizeBlock(l, barrier);
  case gpu::Scope::Consumers:
  case gpu::Scope::Block:
    return synchronizeBlock(l, barrier);
  }
  llvm_unreachable("all scopes are listed");
}

// Does a role wait for the launches before the kernel? Then its idle warps do, too: no thread ends
// before those launches.
bool waitsForLaunches(Block &role) {
  return role
      .walk([](NVVM::GriddepcontrolOp op) {
        return op.getKind() == NVVM::GridDepActionKind::wait ? WalkResult::interrupt()
                                                             : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult lowerRole(Lowering &l, gpu::WarpSpecializeOp roles, unsigned number) {
  Location loc = roles.getLoc();
  gpu::RoleAttr role = roles.getRole(number);
  if (role.getRegisters()) {
    auto launched = gpu::registersAtLaunch(roles.getWarps());
    NVVM::SetMaxRegisterOp::create(l.b, loc, role.getRegisters(),
                                   role.getRegisters() > launched
                                       ? NVVM::SetMaxRegisterAction::increase
                                       : NVVM::SetMaxRegisterAction::decrease);
  }
  OpBuilder::InsertionGuard guard(l.b);
  if (role.getActive() < role.getWarps()) {
    int32_t first = roles.getFirstWarp(number);
    bool isOne = role.getActive() == 1;
    Value isActive = arith::CmpIOp::create(
        l.b, loc, isOne ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ult,
        l.threads.uniformWarp(), l.i32(isOne ? first : first + role.getActive()));
    bool waits = waitsForLaunches(roles.getBody(number));
    auto active = scf::IfOp::create(l.b, loc, isActive, /*withElseRegion=*/waits);
    if (waits) {
      l.b.setInsertionPointToStart(active.elseBlock());
      NVVM::GriddepcontrolOp::create(l.b, loc, NVVM::GridDepActionKind::wait);
    }
    l.b.setInsertionPointToStart(active.thenBlock());
  }
  return l.lowerBlock(roles.getBody(number));
}

// Branches on the warp's number, from the last role to the first: if warp >= first warp of the role
// { role } else { the roles before }.
LogicalResult lowerRolesUpTo(Lowering &l, gpu::WarpSpecializeOp roles, unsigned number) {
  if (number == 0)
    return lowerRole(l, roles, 0);
  Location loc = roles.getLoc();
  Value isOfRole =
      arith::CmpIOp::create(l.b, loc, arith::CmpIPredicate::uge, l.threads.uniformWarp(),
                            l.i32(roles.getFirstWarp(number)));
  auto branch = scf::IfOp::create(l.b, loc, isOfRole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToStart(branch.thenBlock());
  if (failed(lowerRole(l, roles, number)))
    return failure();
  l.b.setInsertionPointToStart(branch.elseBlock());
  return lowerRolesUpTo(l, roles, number - 1);
}

LogicalResult lowerWarpSpecialize(Lowering &l, gpu::WarpSpecializeOp roles) {
  bool changesRegisters = llvm::any_of(roles.getRoles().getAsRange<gpu::RoleAttr>(),
                                       [](gpu::RoleAttr role) { return role.getRegisters() != 0; });
  if (changesRegisters && !l.target.hasWgmma)
    return roles.emitOpError("needs warpgroups that change their registers, which ")
           << l.target.name << " does not have";
  return lowerRolesUpTo(l, roles, static_cast<unsigned>(roles.getRoles().size()) - 1);
}

// SpecializeWarps resolves it. If that pass is disabled only ping-pong leaves any.
LogicalResult refuseByRole(Lowering &, Operation *op) {
  return ir::userError(op->emitError("the pass specialize-warps is left out, but teams alternate "
                                     "tiles (ping_pong) and need its producer warp"),
                       ErrorCode::InvalidArgument);
}

LogicalResult lowerTeamId(Lowering &l, ir::TeamIdOp team) {
  l.set(team.getResult(), {l.threads.team()});
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<gpu::BarrierOp, lowerBarrier>,
    on<gpu::WarpSpecializeOp, lowerWarpSpecialize>,
    on<ir::ByRoleOp, refuseByRole>,
    on<ir::TeamIdOp, lowerTeamId>,
};

} // namespace

LoweringTable roleLowerings() { return kLowerings; }

} // namespace tile::codegen
