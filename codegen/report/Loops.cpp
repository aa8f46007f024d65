// Software pipelines: how far the loads of each loop run ahead, and what its iterations wait for.
#include "codegen/report/MakeReport.h"

#include "ir/annotations/LoopAnnotations.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::codegen {

namespace {

LoopReport loopOf(scf::ForOp loop, gpu::LoopPlanAttr plan) {
  auto text = [](StringAttr sentence) { return sentence ? sentence.str() : std::string(); };
  LoopReport report;
  report.where = sourceLineOf(loop.getLoc());
  report.stagesAsked = plan.getAsked();
  report.stages = plan.getStages();
  report.reason = text(plan.getReason());
  report.skewed = plan.getSkewed();
  report.whyNotSkewed = text(plan.getWhyNotSkewed());
  report.hasProducer = plan.getProducer();
  report.whyNoProducer = text(plan.getWhyNoProducer());
  report.isOrdered = plan.getOrder() != gpu::Order::None;
  loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<scf::ForOp, scf::WhileOp>(op))
      return WalkResult::skip(); // its iterations are its own
    if (isa<gpu::BarrierOp>(op))
      ++report.barriers;
    if (auto wait = dyn_cast<gpu::AsyncWaitOp>(op))
      report.groupsInFlight = wait.getPending();
    report.waitsForTma |= isa<gpu::MbarrierWaitOp>(op);
    if (auto wait = dyn_cast<gpu::DotWaitOp>(op))
      report.dotsInFlight = std::max<int32_t>(report.dotsInFlight, wait.getPending());
    return WalkResult::advance();
  });
  return report;
}

} // namespace

void reportLoops(func::FuncOp kernel, KernelReport &report) {
  kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (gpu::LoopPlanAttr plan = gpu::loopPlanOf(loop))
      report.loops.push_back(loopOf(loop, plan));
  });
}

} // namespace tile::codegen
