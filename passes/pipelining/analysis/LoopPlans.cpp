#include "passes/pipelining/analysis/LoopPlans.h"

#include "ir/UserError.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/annotations/LoopAnnotations.h"
#include "passes/analysis/RunAhead.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::passes {

// In a branch of the first step or, if every step is a first one, in the body.
static bool waitsInFirstSteps(scf::ForOp loop) {
  auto waits = [](Block &block) { return !block.getOps<gpu::OrderWaitOp>().empty(); };
  return waits(*loop.getBody()) ||
         llvm::any_of(loop.getBody()->getOps<scf::IfOp>(), [&](scf::IfOp branch) {
           return gpu::tileStepOf(branch) == gpu::TileStep::First && waits(*branch.thenBlock());
         });
}

static LogicalResult verifyPingPong(scf::ForOp loop) {
  gpu::LoopPlanAttr plan = gpu::loopPlanOf(loop);
  if (!plan || plan.getOrder() != gpu::Order::PingPong)
    return success();
  auto refuse = [&](const Twine &sentence) {
    return ir::userError(loop.emitError("alternates tiles (ping_pong), "),
                         ErrorCode::InvalidArgument)
           << sentence;
  };
  auto arrivals = llvm::to_vector(loop.getBody()->getOps<gpu::OrderArriveOp>());
  if (arrivals.size() != 1 || !arrivals.front().getPredicate() || !arrivals.front().getTripCount())
    return refuse("which takes the pass flatten-loops: its body has no tilegpu.order_arrive with a "
                  "predicate and a trip count");
  if (!waitsInFirstSteps(loop))
    return refuse("but no tilegpu.order_wait stands in the first step of a tile");
  if (llvm::any_of(ringsOf(loop), [](gpu::ProducerAcquireOp acquire) {
        return acquire.getRing().getType().getStages() == 1;
      }))
    return refuse("which takes the pass pipeline-loops: its ring has one stage, which the producer "
                  "cannot fill for both teams");
  if (int64_t teams = ir::teamsOf(loop); teams != 2)
    return refuse("which two teams do, but the kernel has " + Twine(teams));
  return success();
}

LogicalResult verifyPlans(func::FuncOp function) {
  WalkResult all = function.walk([](scf::ForOp loop) {
    return failed(verifyPingPong(loop)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(all.wasInterrupted());
}

} // namespace tile::passes
