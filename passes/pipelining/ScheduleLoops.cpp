// ScheduleLoops: decides how each loop is pipelined and writes its plan (`tilegpu.loop_plan`). No
// other pass writes one.
//
// - The number of stages of its rings, the one that is read included.
// - Whether dots that depend on loads alone run an iteration ahead of the rest (skew), or one dot
//   stays in flight across the back edge.
// - Whether a producer warp issues the loads.
// - Whether warpgroups issue their dots in a fixed order, or two teams alternate tiles.
//
// PlaceTeams, SplitRings, PipelineLoops, SkewLoops, LowerRings and SpecializeWarps implement it.
#include "passes/Passes.h"

#include "ir/annotations/FunctionAnnotations.h"
#include "ir/annotations/LoopAnnotations.h"
#include "ir/annotations/VariantAnnotations.h"
#include "ir/gpu/DotLayouts.h"
#include "ir/instructions/Wgmma.h"
#include "ir/target/Target.h"
#include "passes/analysis/RunAhead.h"
#include "passes/pipelining/DotInFlight.h"
#include "passes/pipelining/analysis/RingProtocol.h"
#include "passes/pipelining/analysis/RingReaders.h"
#include "passes/pipelining/analysis/WarpRoles.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <limits>

namespace tile::passes {
#define GEN_PASS_DEF_SCHEDULELOOPS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

/// Stages of a loop that asks for none: a copy has two iterations to arrive.
constexpr int32_t kDefaultStages = 3;

struct Decision {
  int32_t stages = 1;
  std::string reason;
};

std::optional<int64_t> constantTrips(scf::ForOp loop) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  return trips ? std::optional(trips->getSExtValue()) : std::nullopt;
}

bool loadsSingleElements(scf::ForOp loop) {
  return llvm::any_of(loop.getBody()->getOps<ir::ViewLoadOp>(), [](ir::ViewLoadOp load) {
    return gpu::loadVariantOf(load) == gpu::LoadVariant::Scalar;
  });
}

// The reason of the first load that feeds a dot and cannot run ahead.
std::string whyNothingRunsAhead(scf::ForOp loop) {
  std::string why = "no product of its body depends on what it loads";
  loop.walk([&](ir::ViewLoadOp load) {
    Refusal refusal = whyNotAhead(load);
    if (!feedsDot(load) || !refusal)
      return WalkResult::advance();
    why = "of its load, " + *refusal;
    return WalkResult::interrupt();
  });
  return why;
}

struct ScheduleLoops : passes::impl::ScheduleLoopsBase<ScheduleLoops> {
  using ScheduleLoopsBase::ScheduleLoopsBase;

  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (isToBePlanned(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      gpu::setLoopPlan(loop, planOf(loop));
    // The order depends on whether the kernel keeps its teams, and that on all plans.
    for (scf::ForOp loop : loops)
      gpu::setLoopPlan(loop, withOrder(loop, gpu::loopPlanOf(loop)));
  }

  static bool isToBePlanned(scf::ForOp loop) {
    return loop->hasAttr(ir::kStagesAttr) || loop->hasAttr(ir::kOverlapDotsAttr) ||
           loop->hasAttr(ir::kSpecializeAttr) || !ringsOf(loop).empty();
  }

  gpu::LoopPlanAttr planOf(scf::ForOp loop) {
    auto given = loop->getAttrOfType<IntegerAttr>(ir::kStagesAttr);
    auto asked = given ? static_cast<int32_t>(given.getInt()) : 0;
    Decision decision = decide(loop, asked);
    bool wantsSkew = loop->hasAttr(ir::kOverlapDotsAttr),
         wantsProducer = loop->hasAttr(ir::kSpecializeAttr);
    Refusal noSkew, noProducer;
    if (wantsSkew)
      noSkew = whyNotSkewed(loop, decision.stages);
    if (wantsProducer)
      noProducer = whyNoProducer(loop, decision.stages);
    bool isSkewed = wantsSkew && !noSkew;
    auto text = [&](const Refusal &refusal) {
      return refusal ? StringAttr::get(&getContext(), *refusal) : StringAttr();
    };
    return gpu::LoopPlanAttr::get(
        &getContext(), asked, decision.stages, StringAttr::get(&getContext(), decision.reason),
        !isSkewed && decision.stages > 1 && keepsDotInFlight(loop) ? 1 : 0, isSkewed, text(noSkew),
        wantsProducer && !noProducer, text(noProducer), gpu::Order::None);
  }

  static bool keepsDotInFlight(scf::ForOp loop) {
    return llvm::any_of(ringsOf(loop), [&](gpu::ProducerAcquireOp acquire) {
      return isFilledByTma(acquire.getRing().getDefiningOp<gpu::RingAllocOp>()) &&
             canKeepDotInFlight(loop, acquire.getRing());
    });
  }

  gpu::LoopPlanAttr withOrder(scf::ForOp loop, gpu::LoopPlanAttr plan) {
    gpu::Order order = gpu::Order::None;
    if (plan.getProducer() && loop->hasAttr(ir::kPingPongAttr))
      order = gpu::Order::PingPong;
    else if (plan.getSkewed() && canOrderWarpgroups(loop))
      order = gpu::Order::Warpgroups;
    return gpu::LoopPlanAttr::get(plan.getContext(), plan.getAsked(), plan.getStages(),
                                  plan.getReason(), plan.getDotsInFlight(), plan.getSkewed(),
                                  plan.getWhyNotSkewed(), plan.getProducer(),
                                  plan.getWhyNoProducer(), order);
  }

  // If several warpgroups issue all dots as wgmma, one's are in flight while the others compute;
  // unordered, they tend to run in lockstep. If threads fill a ring, all synchronize in each
  // iteration, so that there is no order to keep.
  bool canOrderWarpgroups(scf::ForOp loop) {
    int64_t teams =
        hasProducer(getOperation()) ? ir::teamsOf(loop) : 1; // else PlaceTeams leaves one
    LoopSkew skew = *skewOf(loop);
    auto isTma = [](gpu::ProducerAcquireOp acquire) {
      return isFilledByTma(acquire.getRing().getDefiningOp<gpu::RingAllocOp>());
    };
    auto isWgmma = [](Operation *op) { return !gpu::isDot(op) || isa<gpu::DotAsyncOp>(op); };
    return ir::warpsOf(loop) * teams > ir::kWarpsPerWarpgroup &&
           llvm::all_of(ringsOf(loop), isTma) && llvm::all_of(skew.leading, isWgmma) &&
           llvm::all_of(skew.late, isWgmma);
  }

  static Refusal whyNotSkewed(scf::ForOp loop, int32_t stages) {
    Refusal why;
    std::optional<LoopSkew> skew = skewOf(loop, &why);
    if (!skew)
      return why;
    int32_t fewest = fewestStages(loop, *skew);
    if (!fewest)
      return "none of its loads runs ahead";
    if (stages < fewest)
      return "it has " + std::to_string(stages) + " of the " + std::to_string(fewest) +
             " stages that takes";
    return {};
  }

  // 0 if the loop waits for no fill.
  static int32_t fewestStages(scf::ForOp loop, const LoopSkew &skew) {
    int32_t fewest = 0;
    for (gpu::ProducerAcquireOp acquire : ringsOf(loop))
      if (gpu::ConsumerWaitOp get = getOf(acquire.getRing(), loop))
        for (const TilesOfReaders &ring : ringsByReaders(get, skew))
          fewest = std::max(fewest, ring.fewestStages());
    return fewest;
  }

  // An upper bound: other allocations are not known before AllocateShared. It only keeps the
  // verifier from simulating rings that cannot fit.
  int64_t stagesThatFit(scf::ForOp loop) const {
    std::optional<ir::Target> known = ir::findTarget(target);
    if (!known)
      return std::numeric_limits<int64_t>::max();
    int64_t bytes = 0;
    for (gpu::ProducerAcquireOp acquire : ringsOf(loop))
      for (gpu::SmemType tile : acquire.getRing().getType().getTiles())
        bytes += tile.getBytes();
    return std::max<int64_t>(1, known->maxSharedBytesPerBlock / std::max<int64_t>(1, bytes));
  }

  Decision decide(scf::ForOp loop, int32_t asked) {
    if (ringsOf(loop).empty())
      return {1, asked > 1 ? whyNothingRunsAhead(loop) : "as asked"};
    Decision decision{asked ? asked : kDefaultStages, asked ? "as asked" : "by default"};
    if (decision.stages > kDefaultStages && loadsSingleElements(loop))
      decision = {
          kDefaultStages,
          "its loads of single elements, which go through registers, gain nothing from more"};
    if (int32_t most = std::min<int64_t>(mostStages, stagesThatFit(loop)); decision.stages > most)
      decision = {most, "more do not fit in shared memory"};
    if (std::optional<int64_t> trips = constantTrips(loop); trips && decision.stages > *trips)
      decision = {static_cast<int32_t>(std::max<int64_t>(1, *trips)), "it has no more iterations"};
    return decision;
  }
};

} // namespace

} // namespace tile::passes
