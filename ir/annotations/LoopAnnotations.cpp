#include "ir/annotations/LoopAnnotations.h"

#include "ir/annotations/AnnotationTable.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::gpu {

namespace {

constexpr llvm::StringLiteral kLoopPlanName = "tilegpu.loop_plan";
constexpr llvm::StringLiteral kTileStepName = "tilegpu.tile_step";

LogicalResult verifyLoopPlan(Operation *op, Attribute value) {
  if (!isa<LoopPlanAttr>(value))
    return op->emitOpError() << kLoopPlanName << " must be a #tilegpu.loop_plan<...>, got "
                             << value;
  if (!isa<scf::ForOp>(op))
    return op->emitOpError() << kLoopPlanName << " belongs on a loop";
  return success();
}

LogicalResult verifyTileStep(Operation *op, Attribute value) {
  auto branch = dyn_cast<scf::IfOp>(op);
  bool isPlain = branch && branch.getNumResults() == 0 && branch.getElseRegion().empty();
  if (!isPlain || !isa<TileStepAttr>(value))
    return op->emitOpError() << kTileStepName << " must be a #tilegpu.tile_step<...> on an scf.if "
                             << "without results and without an else";
  return success();
}

constexpr Annotation kAnnotations[] = {{kLoopPlanName, verifyLoopPlan},
                                       {kTileStepName, verifyTileStep}};

} // namespace

ArrayRef<Annotation> loopAnnotations() { return kAnnotations; }

LogicalResult LoopPlanAttr::verify(function_ref<InFlightDiagnostic()> emitError, int32_t asked,
                                   int32_t stages, StringAttr, int32_t dotsInFlight, bool skewed,
                                   StringAttr whyNotSkewed, bool producer, StringAttr whyNoProducer,
                                   Order order) {
  if (asked < 0 || stages < 1)
    return emitError() << "a loop has one stage at least, got " << stages << " where " << asked
                       << " were asked for";
  if (dotsInFlight < 0 || dotsInFlight >= stages)
    return emitError() << "fewer dots than stages are in flight, got " << dotsInFlight << " of "
                       << stages << " stages";
  if (skewed && whyNotSkewed)
    return emitError() << "a loop that is skewed has no reason why not";
  if (skewed && dotsInFlight)
    return emitError() << "a skewed loop waits for its dots in the iteration that issues them";
  if (producer && whyNoProducer)
    return emitError() << "a loop that has a producer warp has no reason why not";
  if ((order == Order::PingPong && !producer) || (order == Order::Warpgroups && !skewed))
    return emitError() << "tiles alternate (ping_pong) beside a producer warp, and warpgroups have "
                          "an order in skewed loops";
  return success();
}

LoopPlanAttr loopPlanOf(Operation *loop) {
  return loop->getAttrOfType<LoopPlanAttr>(kLoopPlanName);
}

void setLoopPlan(Operation *loop, LoopPlanAttr plan) { loop->setAttr(kLoopPlanName, plan); }

void removeLoopPlan(Operation *loop) { loop->removeAttr(kLoopPlanName); }

std::optional<TileStep> tileStepOf(Operation *branch) {
  auto step = branch->getAttrOfType<TileStepAttr>(kTileStepName);
  return step ? std::optional(step.getValue()) : std::nullopt;
}

void setTileStep(Operation *branch, TileStep step) {
  branch->setAttr(kTileStepName, TileStepAttr::get(branch->getContext(), step));
}

} // namespace tile::gpu
