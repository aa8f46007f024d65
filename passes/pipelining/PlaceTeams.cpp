// PlaceTeams: teams share a block only if a producer warp loads for all of them. Otherwise running
// them at once gains nothing and each would need shared memory for its own loads: they execute one
// after the other, in a loop. Teams that alternate tiles (ping-pong) become one, which computes all
// tiles.
#include "passes/Passes.h"

#include "ir/annotations/FunctionAnnotations.h"
#include "ir/annotations/LoopAnnotations.h"
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

// The rings stay outside of the loop: the teams use the same memory one after the other.
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

bool alternatesTiles(func::FuncOp kernel) {
  return kernel
      .walk([](scf::ForOp loop) {
        return loop->hasAttr(ir::kPingPongAttr) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

// One team computes every tile: all warps take the producer's values, and no ordered barrier is
// needed.
void withoutPingPong(func::FuncOp kernel) {
  bool hasOrder = alternatesTiles(kernel);
  kernel.walk([&](Operation *op) {
    if (auto byRole = dyn_cast<ir::ByRoleOp>(op)) {
      byRole.replaceAllUsesWith(byRole.getAll());
      byRole.erase();
    } else if (hasOrder && isa<gpu::OrderBeginOp, gpu::OrderWaitOp, gpu::OrderArriveOp>(op)) {
      op->erase();
    }
  });
  kernel.walk([](scf::IfOp branch) {
    bool isEmpty = branch.thenBlock()->without_terminator().empty();
    if (isEmpty && gpu::tileStepOf(branch) == gpu::TileStep::First)
      branch.erase();
  });
}

struct PlaceTeams : passes::impl::PlaceTeamsBase<PlaceTeams> {
  void runOnOperation() final {
    func::FuncOp kernel = getOperation();
    if (kernel.isExternal())
      return;
    int64_t teams = ir::teamsOf(kernel);
    if (teams > 1 && hasProducer(kernel))
      return;
    kernel->removeAttr(ir::kTeamsAttr);
    if (teams > 1 && !alternatesTiles(kernel))
      return loopOverTeams(kernel, teams);
    withoutPingPong(kernel);
    kernel.walk([&](ir::TeamIdOp team) {
      OpBuilder b(team);
      team.replaceAllUsesWith(arith::ConstantIntOp::create(b, team.getLoc(), 0, 32).getResult());
      team.erase();
    });
  }
};

} // namespace

} // namespace tile::passes
