// PlaceTeams: teams share a block where a warp of its own loads for all of them. Else nothing is gained by their being there
// at once, and each would need memory of its own for what it loads: one comes after the other. Teams that carry out a loop's
// passes in turn are one then, which carries out all.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "ir/gpu/TileGpuDialect.h"
#include "passes/pipelining/analysis/WarpRoles.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::passes {
#define GEN_PASS_DEF_PLACETEAMS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

// Rings are reserved for all of them once.
void loopOverTeams(func::FuncOp kernel, int64_t teams) {
  Block &body = kernel.getBody().front();
  OpBuilder b(body.getTerminator());
  Location loc = kernel.getLoc();
  auto number = [&](int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 32); };
  auto loop = scf::ForOp::create(b, loc, number(0), number(teams), number(1));
  SmallVector<Operation *> once;
  for (Operation &op : body)
    if (isa<gpu::RingAllocOp>(op))
      once.push_back(&op);
  loop.getBody()->getOperations().splice(loop.getBody()->begin(), body.getOperations(),
                                         body.begin(),
                                         loop.getLowerBound().getDefiningOp()->getIterator());
  for (Operation *op : llvm::reverse(once))
    op->moveBefore(&body, body.begin());
  loop.walk([&](ir::TeamIdOp team) {
    team.replaceAllUsesWith(loop.getInductionVar());
    team.erase();
  });
}

// In a kernel without a warp that loads for all there are no turns to take, and each number is the one for all.
void withoutTurns(func::FuncOp kernel) {
  kernel.walk([](Operation *op) {
    if (auto byRole = dyn_cast<ir::ByRoleOp>(op)) {
      byRole.replaceAllUsesWith(byRole.getAll());
      byRole.erase();
    } else if (isa<gpu::OrderWaitOp, gpu::OrderArriveOp>(op)) {
      op->erase();
    }
  });
  kernel.walk([](scf::IfOp branch) {
    if (gpu::beginsPass(branch) && branch.thenBlock()->without_terminator().empty())
      branch.erase();
  });
}

bool hasTurns(func::FuncOp kernel) {
  return kernel.walk([](gpu::OrderWaitOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

struct PlaceTeams : passes::impl::PlaceTeamsBase<PlaceTeams> {
  void runOnOperation() final {
    func::FuncOp kernel = getOperation();
    int64_t teams = ir::teamsOf(kernel);
    if (teams > 1 && hasProducer(kernel))
      return;
    kernel->removeAttr(ir::kTeamsAttr);
    bool isDivided = teams > 1 && !hasTurns(kernel);
    withoutTurns(kernel);
    if (isDivided)
      return loopOverTeams(kernel, teams);
    kernel.walk([&](ir::TeamIdOp team) {
      OpBuilder b(team);
      team.replaceAllUsesWith(arith::ConstantIntOp::create(b, team.getLoc(), 0, 32).getResult());
      team.erase();
    });
  }
};

} // namespace

} // namespace tile::passes
