#include "passes/pipelining/analysis/LoopPlans.h"

#include "ir/UserError.h"
#include "ir/annotations/LoopAnnotations.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::passes {

static LogicalResult verifyPingPong(scf::ForOp loop) {
  gpu::LoopPlanAttr plan = gpu::loopPlanOf(loop);
  if (!plan || plan.getOrder() != gpu::Order::PingPong)
    return success();
  auto arrivals = llvm::to_vector(loop.getBody()->getOps<gpu::OrderArriveOp>());
  if (arrivals.size() == 1 && arrivals.front().getPredicate() && arrivals.front().getTripCount())
    return success();
  return ir::userError(loop.emitError("alternates tiles (ping_pong), which takes the pass "
                                      "flatten-loops: its body has no tilegpu.order_arrive with a "
                                      "predicate and a trip count"),
                       ErrorCode::InvalidArgument);
}

LogicalResult verifyPlans(func::FuncOp function) {
  WalkResult all = function.walk([](scf::ForOp loop) {
    return failed(verifyPingPong(loop)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(all.wasInterrupted());
}

} // namespace tile::passes
