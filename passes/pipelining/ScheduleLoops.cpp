// ScheduleLoops: decides how many iterations the loads of a loop run ahead, as stages: so many fills of its ring are in use
// at once, the one that is read included; whether products that depend on loads alone run an iteration ahead of the rest;
// and whether a warp of its own issues the loads. PipelineLoops, SkewLoops and SpecializeWarps carry it out.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "ir/target/Target.h"
#include "passes/analysis/RunAhead.h"
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

/// Stages of a loop that does not say: the copies of two iterations hide what one copy takes.
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
    return gpu::variantOf(load) == gpu::VariantKind::Scalar;
  });
}

// The first load of the loop that had to stay says why; or there is none.
std::string whyNothingRunsAhead(scf::ForOp loop) {
  std::string why = "no product of its body depends on what it loads";
  loop.walk([&](ir::ViewLoadOp load) {
    std::optional<std::string> refusal = whyNotAhead(load);
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
    getOperation().walk([&](scf::ForOp loop) {
      auto asked = loop->getAttrOfType<IntegerAttr>(ir::kStagesAttr);
      if (!asked && ringsOf(loop).empty() && !loop->hasAttr(ir::kOverlapDotsAttr) &&
          !loop->hasAttr(ir::kSpecializeAttr))
        return;
      auto count = asked ? static_cast<int32_t>(asked.getInt()) : 0;
      Decision decision = decide(loop, count);
      std::string whyNotSkewed;
      bool isAsked = loop->hasAttr(ir::kOverlapDotsAttr),
           isSkewed = isAsked && maySkew(loop, decision.stages, whyNotSkewed);
      bool wantsProducer = loop->hasAttr(ir::kSpecializeAttr);
      std::string whyNotSpecialized =
          wantsProducer ? whyNoProducer(loop, decision.stages) : std::string();
      bool isSpecialized = wantsProducer && whyNotSpecialized.empty();
      auto text = [&](StringRef sentence) { return StringAttr::get(&getContext(), sentence); };
      gpu::setSchedule(
          loop, gpu::ScheduleAttr::get(
                    &getContext(), count, decision.stages, text(decision.reason), isSkewed,
                    isAsked && !isSkewed ? text(whyNotSkewed) : StringAttr(), isSpecialized,
                    wantsProducer && !isSpecialized ? text(whyNotSpecialized) : StringAttr()));
    });
  }

  static bool maySkew(scf::ForOp loop, int32_t stages, std::string &why) {
    std::optional<LoopSkew> skew = skewOf(loop, &why);
    if (!skew)
      return false;
    int32_t fewest = fewestStages(loop, *skew);
    if (!fewest)
      why = "none of its loads runs ahead";
    else if (stages < fewest)
      why = "it has " + std::to_string(stages) + " of the " + std::to_string(fewest) +
            " stages that takes";
    return why.empty();
  }

  // 0 if no fill of a ring is got.
  static int32_t fewestStages(scf::ForOp loop, const LoopSkew &skew) {
    int32_t fewest = 0;
    for (gpu::ProducerAcquireOp acquire : ringsOf(loop))
      if (gpu::ConsumerWaitOp get = getOf(acquire.getRing(), loop))
        for (const TilesOfReaders &ring : ringsByReaders(get, skew))
          fewest = std::max(fewest, ring.fewestStages());
    return fewest;
  }

  // What stands beside the ring is known later, when memory is placed: here only what can never fit is left out, so that
  // nobody simulates it.
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
