#include "runtime/vgpu/PredictedLaunch.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

namespace tile::vgpu {
namespace {

thread_local PredictionScope *innermost = nullptr;

constexpr double kCyclesOfUs = 1e3; // at 1 GHz
constexpr double kBytesOfUs = 1e3;  // at 1 GB/s

void setShape(uint32_t (&to)[3], const device::Dim3 &from) {
  to[0] = from.x, to[1] = from.y, to[2] = from.z;
}

/// `blocks` of the grid: the report is of one multiprocessor, which stands for all that have some.
std::vector<PredictedShare> sharesOf(const TimeReport &report, uint64_t blocks,
                                     const Calibration &calibration) {
  std::vector<PredictedShare> shares;
  auto add = [&](const char *name, double share) {
    if (share > 0)
      shares.push_back({name, std::min(share, 1.0)});
  };
  for (Pipe pipe :
       {Pipe::Tensor, Pipe::Fma, Pipe::Alu, Pipe::Imad, Pipe::Mufu, Pipe::Memory, Pipe::BulkCopy})
    add(nameOf(pipe), report.busy[static_cast<size_t>(pipe)]);
  add("issue", report.issueShare);
  double kernelUs = report.sm.cycles / report.clockGhz / kCyclesOfUs;
  double multiprocessors = std::min(calibration.device.sms, static_cast<double>(blocks));
  add("L2", report.sm.loadedBytes / (calibration.l2.smPortGbs * kBytesOfUs * kernelUs));
  add("DRAM",
      report.sm.dramBytes * multiprocessors / (calibration.dram.gbs * kBytesOfUs * kernelUs));
  std::ranges::stable_sort(shares, std::greater(), &PredictedShare::share);
  return shares;
}

/// A path without what differs between those who wrote it down: "../../ops/./A.cpp" is "ops/A.cpp".
std::string plainPath(const std::string &file) {
  std::string path = std::filesystem::path(file).lexically_normal().generic_string();
  while (path.starts_with("../"))
    path.erase(0, 3);
  return path;
}

/// Where warps wait, by line and reason: several instructions may be of one line.
std::vector<PredictedStall> stallsOf(const TimeReport &report, const Program &program) {
  std::map<std::tuple<std::string, int, Stall>, double> byLine;
  double all = 0;
  for (const auto &[place, cycles] : report.sm.stalls) {
    CodeLocation location = locationOf(program, place.first);
    bool hasSource = location.sourceLine > 0;
    byLine[{hasSource ? plainPath(location.sourceFile) : location.ptxFile,
            hasSource ? location.sourceLine : location.ptxLine, place.second}] += cycles;
    all += cycles;
  }
  std::vector<PredictedStall> stalls;
  for (const auto &[place, cycles] : byLine)
    stalls.push_back(
        {std::get<0>(place), std::get<1>(place), nameOf(std::get<2>(place)), cycles / all});
  std::ranges::stable_sort(stalls, std::greater(), &PredictedStall::share);
  return stalls;
}

/// A unit that works most of the time; else what warps wait for longest.
std::string boundOf(const PredictedLaunch &launch) {
  constexpr double kMost = 0.7;
  if (!launch.busy.empty() && launch.busy.front().share >= kMost)
    return launch.busy.front().name;
  std::map<std::string, double> reasons;
  for (const PredictedStall &stall : launch.stalls)
    reasons[stall.reason] += stall.share;
  auto longest =
      std::ranges::max_element(reasons, {}, [](const auto &each) { return each.second; });
  return longest == reasons.end() ? "launch" : "waits for " + longest->first;
}

/// The calibration is of an H100.
bool isOfCalibration(const device::DeviceProps &props, const Calibration &calibration) {
  constexpr int kArchOfH100 = 90;
  return props.arch == kArchOfH100 && calibration.name.find("h100") != std::string::npos;
}

} // namespace

Predictions::Predictions(PredictionRequest request)
    : request(std::move(request)), calibration(defaultCalibration()) {
  for (const auto &[name, value] : this->request.settings)
    setNumber(calibration, name, value);
}

PredictionScope::PredictionScope(const device::Device &device,
                                 std::shared_ptr<Predictions> predictions)
    : device_(device), predictions_(std::move(predictions)), outer_(innermost) {
  innermost = this;
}

PredictionScope::~PredictionScope() { innermost = outer_; }

std::shared_ptr<Predictions> PredictionScope::current(const device::Device &device) {
  for (PredictionScope *scope = innermost; scope; scope = scope->outer_)
    if (&scope->device_ == &device)
      return scope->predictions_;
  return nullptr;
}

PredictedLaunch predictLaunch(LaunchSetup setup, const Calibration &calibration,
                              const TimeOptions &options) {
  PredictedLaunch launch;
  launch.kernel = setup.program->entry->name;
  setShape(launch.grid, setup.config.grid);
  setShape(launch.block, setup.config.block);
  setShape(launch.cluster, setup.config.cluster);
  launch.dynamicSharedBytes = setup.config.dynamicSharedBytes;
  launch.isCalibrated = isOfCalibration(setup.props, calibration);
  launch.calibration = calibration.name;
  launch.calibrationVersion = calibration.version;
  std::shared_ptr<const Program> program = setup.program;
  uint64_t blocks = setup.config.grid.count();
  TimeReport report = predictTime(std::move(setup), calibration, options);
  launch.us = report.us, launch.lowUs = report.lowUs, launch.highUs = report.highUs;
  launch.cycles = report.cycles, launch.clockGhz = report.clockGhz;
  launch.blocksPerMultiprocessor = static_cast<int>(report.occupancy.blocks);
  launch.occupancyLimit = report.occupancy.limit;
  launch.registers = static_cast<int>(report.occupancy.registers);
  launch.barriers = static_cast<int>(report.occupancy.barriers);
  launch.registersAreEstimated = report.occupancy.registersAreEstimated;
  launch.barriersAreEstimated = report.occupancy.barriersAreEstimated;
  launch.busy = sharesOf(report, blocks, calibration);
  launch.stalls = stallsOf(report, *program);
  launch.bound = boundOf(launch);
  launch.assumptions = std::move(report.assumptions);
  return launch;
}

} // namespace tile::vgpu
