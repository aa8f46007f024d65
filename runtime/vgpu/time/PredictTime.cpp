#include "runtime/vgpu/time/PredictTime.h"

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
        launch_(std::move(setup), calibration, Occupancy{}) {}

  TimeReport run() {
    const LaunchSetup &setup = launch_.launch().setup();
    launch_.setOccupancy(occupancyOf(
        *setup.program, setup.props, static_cast<unsigned>(setup.config.block.count()),
        launch_.sharedBytes(), launch_.clusterSize(), options_.assembler, calibration_));
    footprint_ = findFootprint(launch_);
    simulate(options_.clockGhz.value_or(kUsualGhz));
    if (!options_.clockGhz) {
      simulate(report_.clockGhz = clock());
      report_.clockGhz = clock();
    }
    report_.us = report_.cycles / report_.clockGhz / kCyclesOfUs + calibration_.launchUs;
    report_.occupancy = launch_.occupancy();
    noteAssumptions();
    return std::move(report_);
  }

private:
  static constexpr double kUsualGhz = 1.755;

  double clock() const {
    return clockUnderLoad(calibration_, report_.busy[static_cast<size_t>(Pipe::Tensor)],
                          report_.cycles / report_.clockGhz / kCyclesOfUs);
  }

  void simulate(double clockGhz) {
    unsigned multiprocessor = options_.multiprocessor.value_or(0);
    Supply supply = findSupply(launch_, footprint_, std::min(multiprocessor, launch_.places() - 1));
    SmEngine engine(launch_, footprint_, supply, {clockGhz, options_.isDirty, options_.mostBlocks});
    report_.sm = engine.run(multiprocessor);
    report_.clockGhz = clockGhz;
    report_.cycles = report_.sm.cycles;
    report_.distinctShare = supply.meanDistinct;
    for (size_t pipe = 0; pipe < kPipes; ++pipe) {
      bool isOfScheduler =
          pipe != static_cast<size_t>(Pipe::Memory) && pipe != static_cast<size_t>(Pipe::BulkCopy);
      report_.busy[pipe] =
          report_.sm.busy[pipe] / report_.cycles / (isOfScheduler ? EngineWarp::kSchedulers : 1);
    }
    report_.issueShare = report_.sm.issued / report_.cycles / EngineWarp::kSchedulers;
  }

  void noteAssumptions() {
    const Program &program = *launch_.program().program;
    for (uint32_t op : launch_.program().assumptions) {
      const Program::Line &line = program.lines[program.code[op].instruction];
      report_.assumptions.push_back("the branch in line " + std::to_string(line.line) +
                                    " depends on data: it is taken to go on where a zero leads");
    }
  }

  const Calibration &calibration_;
  const TimeOptions &options_;
  TimedLaunch launch_;
  Footprint footprint_;
  TimeReport report_;
};

} // namespace

TimeReport predictTime(LaunchSetup setup, const Calibration &calibration,
                       const TimeOptions &options) {
  return Prediction(std::move(setup), calibration, options).run();
}

} // namespace tile::vgpu
