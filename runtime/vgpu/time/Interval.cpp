#include "runtime/vgpu/time/Interval.h"

#include "runtime/vgpu/isa/tensor/WgmmaForm.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

/// What is known of a launch when it is judged.
struct Facts {
  bool usesTensorCores = false, hasOrder = false, isLimitedByEstimate = false;
  bool contends =
      false; ///< several warpgroups alternate between tensor cores and special functions
  unsigned blocksOfSm = 1, clusterSize = 1;
  bool dependsOnData = false;
};

/// A reason to widen the interval, in shares of the time.
struct Doubt {
  bool (*applies)(const Facts &);
  double below, above;
  const char *reason; ///< null: the usual interval
};

// Measured by validate.py on variants that nothing was fitted to: 90th percentiles, and the errors
// of those families for which the model is known to be wrong.
constexpr Doubt kDoubts[] = {
    {[](const Facts &facts) { return facts.usesTensorCores; }, 0.12, 0.14, nullptr},
    {[](const Facts &facts) { return !facts.usesTensorCores; }, 0.08, 0.10, nullptr},
    {[](const Facts &facts) { return facts.usesTensorCores && facts.blocksOfSm > 1; }, 0, 0.10,
     "several blocks a multiprocessor share tensor cores, which costs more than the model knows"},
    {[](const Facts &facts) { return facts.contends && !facts.hasOrder; }, 0, 0.25,
     "warpgroups contend for the tensor cores without an order between them: some phases are slow"},
    {[](const Facts &facts) { return facts.clusterSize > 2; }, 0.25, 0,
     "clusters of more than two blocks: the supply by multicast is guessed from few measurements"},
    {[](const Facts &facts) { return facts.isLimitedByEstimate; }, 0.05, 0.15,
     "registers are estimated, and they limit the blocks of a multiprocessor"},
    {[](const Facts &facts) { return facts.dependsOnData; }, 0.30, 0.30, "control depends on data"},
};

Facts factsOf(const TimeReport &report, const TimedLaunch &launch) {
  Facts facts;
  constexpr double kSome = 0.1;
  auto busy = [&](Pipe pipe) { return report.busy[static_cast<size_t>(pipe)]; };
  facts.usesTensorCores = busy(Pipe::Tensor) > 0;
  for (const TimedOp &op : launch.program().ops)
    facts.hasOrder |= op.form.kind == TimeKind::BarrierArrive;
  facts.contends = busy(Pipe::Tensor) > kSome && busy(Pipe::Mufu) > kSome &&
                   launch.warpsOfBlock() >= 2 * kWarpsOfGroup;
  facts.isLimitedByEstimate = report.occupancy.registersAreEstimated &&
                              std::string_view(report.occupancy.limit) == "registers";
  facts.blocksOfSm = report.occupancy.blocks;
  facts.clusterSize = launch.clusterSize();
  facts.dependsOnData = !report.assumptions.empty();
  return facts;
}

} // namespace

void setInterval(TimeReport &report, const TimedLaunch &launch) {
  Facts facts = factsOf(report, launch);
  double below = 0, above = 0;
  for (const Doubt &doubt : kDoubts)
    if (doubt.applies(facts)) {
      below += doubt.below;
      above += doubt.above;
      if (doubt.reason)
        report.assumptions.push_back(doubt.reason);
    }
  report.lowUs = report.us / (1 + below);
  report.highUs = report.us * (1 + above);
}

} // namespace tile::vgpu
