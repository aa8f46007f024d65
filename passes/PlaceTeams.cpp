// PlaceTeams: teams share a block where a warp of its own loads for all of them. Else nothing is gained by their being there
// at once, and each would need memory of its own for what it loads: one comes after the other.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "ir/gpu/TileGpuDialect.h"
#include "passes/analysis/WarpRoles.h"
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

struct PlaceTeams : passes::impl::PlaceTeamsBase<PlaceTeams> {
  void runOnOperation() final {
    func::FuncOp kernel = getOperation();
    int64_t teams = ir::teamsOf(kernel);
    if (teams > 1 && hasProducer(kernel))
      return;
    kernel->removeAttr(ir::kTeamsAttr);
    if (teams > 1)
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
