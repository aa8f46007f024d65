#include "runtime/vgpu/time/PredictTime.h"

#include "runtime/vgpu/time/Interval.h"
#include "runtime/vgpu/time/Placement.h"
#include "runtime/vgpu/time/SmEngine.h"

#include <algorithm>
#include <cmath>

namespace tile::vgpu {
namespace {

constexpr double kCyclesOfUs = 1e3; // at 1 GHz

// Power lets the clock fall with the share of time that tensor cores work, and further in long
// kernels.
double clockUnderLoad(const Calibration &calibration, double tensorShare, double us) {
  const auto &clock = calibration.clock;
  double lost = tensorShare * (clock.load + clock.heat * us / (us + clock.heatUs));
  return std::clamp(clock.maxGhz - lost, clock.minGhz, clock.maxGhz);
}

class Prediction {
public:
  Prediction(LaunchSetup setup, const Calibration &calibration, const TimeOptions &options)
      : calibration_(calibration), options_(options),
        launch_(std::move(setup), calibration, options.assembler) {}

  TimeReport run() {
    footprint_ = findFootprint(launch_);
    placement_ = options_.multiprocessor ? placementOf(launch_, *options_.multiprocessor, 1)
                                         : placeBlocks(launch_);
    simulate(options_.clockGhz.value_or(kUsualGhz));
    if (!options_.clockGhz) {
      simulate(report_.clockGhz = clock());
      report_.clockGhz = clock();
    }
    report_.us = report_.cycles / report_.clockGhz / kCyclesOfUs + calibration_.launchUs;
    report_.occupancy = launch_.occupancy();
    noteAssumptions();
    setInterval(report_, launch_);
    return std::move(report_);
  }

private:
  static constexpr double kUsualGhz = 1.755;

  double clock() const {
    return clockUnderLoad(calibration_, report_.busy[static_cast<size_t>(Pipe::Tensor)],
                          report_.cycles / report_.clockGhz / kCyclesOfUs);
  }

  void simulate(double clockGhz) {
    auto place = static_cast<unsigned>(placement_.turns.front() % launch_.places());
    Supply supply = findSupply(launch_, footprint_, place);
    SmEngine engine(launch_, footprint_, supply, {clockGhz, options_.isDirty});
    report_.sm = engine.run(placement_.turns, placement_.blocks);
    report_.clockGhz = clockGhz;
    report_.cycles = report_.sm.cycles * placement_.factor;
    report_.distinctShare = supply.meanDistinct;
    for (size_t pipe = 0; pipe < kPipes; ++pipe) {
      bool isOfScheduler =
          pipe != static_cast<size_t>(Pipe::Memory) && pipe != static_cast<size_t>(Pipe::BulkCopy);
      report_.busy[pipe] =
          report_.sm.busy[pipe] / report_.sm.cycles / (isOfScheduler ? EngineWarp::kSchedulers : 1);
    }
    report_.issueShare = report_.sm.issued / report_.sm.cycles / EngineWarp::kSchedulers;
  }

  void noteAssumptions() {
    const Program &program = *launch_.program().program;
    for (uint32_t op : launch_.program().assumptions) {
      const Program::Line &line = program.lines[launch_.program().code[op].instruction];
      report_.assumptions.push_back("the branch in line " + std::to_string(line.line) +
                                    " depends on data: it is taken to go on where a zero leads");
    }
  }

  const Calibration &calibration_;
  const TimeOptions &options_;
  TimedLaunch launch_;
  Footprint footprint_;
  Placement placement_;
  TimeReport report_;
};

} // namespace

TimeReport predictTime(LaunchSetup setup, const Calibration &calibration,
                       const TimeOptions &options) {
  return Prediction(std::move(setup), calibration, options).run();
}

} // namespace tile::vgpu
