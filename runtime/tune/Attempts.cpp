#include "runtime/tune/Attempts.h"

#include "runtime/bench/MedianInterval.h"
#include "runtime/bench/QuietSamples.h"
#include "runtime/tune/Candidates.h"
#include "runtime/tune/DeviceLock.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace tile::tune {
namespace {

/// Does this say no to the settings, rather than that something went wrong with them?
bool isRefusal(ErrorCode code) {
  switch (code) {
  case ErrorCode::InvalidArgument:
  case ErrorCode::InvalidShape:
  case ErrorCode::ResourceExceeded:
  case ErrorCode::Unsupported:
  case ErrorCode::Verify:
    return true;
  default:
    return false;
  }
}

// What the virtual GPU does in some seconds.
constexpr double kMostMultiplyAdds = 2e8, kMostBytes = 2e8;

/// All that is counted of a call, spread evenly over the multiprocessors of a device.
Work workOf(const WorkCounts &counts, int multiprocessors) {
  Work work;
  work.programs = multiprocessors;
  work.multiplyAdds = static_cast<double>(counts.multiplyAdds) / work.programs;
  constexpr double kLanes = 32;
  work.operations = static_cast<double>(counts.instructions) * kLanes / work.programs;
  work.bytesRead = static_cast<double>(counts.accessedBytes + counts.copiedBytes) / work.programs;
  work.distinctBytes = static_cast<double>(counts.distinctBytes);
  return work;
}

/// Makes the time of a trial from those of its turns: the doubtful ones do not count, unless all are.
void takeTogether(const std::vector<BenchResult> &turns, Trial &trial) {
  bool areAllDoubtful =
      std::ranges::none_of(turns, [](const BenchResult &turn) { return turn.doubt.empty(); });
  std::vector<double> samples;
  std::vector<int> clocks;
  for (const BenchResult &turn : turns) {
    if (!areAllDoubtful && !turn.doubt.empty())
      continue;
    samples.insert(samples.end(), turn.samples.begin(), turn.samples.end());
    clocks.push_back(turn.clockMHz);
  }
  std::ranges::sort(samples);
  MedianInterval interval = medianIntervalOf(samples);
  trial.milliseconds = interval.median;
  trial.spread = (interval.upper - interval.lower) / 2 / interval.median;
  trial.samples = static_cast<int>(samples.size());
  trial.clockMHz = medianClock(std::move(clocks));
  trial.doubt = areAllDoubtful ? turns.back().doubt : "";
}

} // namespace

Attempts::Attempts(const TunedCall &call, AttemptOptions options)
    : call_(call), options_(options), copies_(call) {
  if (options_.runsOwn)
    makeReference(defaultOf(call_.record, spaceOf(call_.record), call_.problem()));
}

void Attempts::makeReference(const Config &config) {
  try {
    if (runs(config)) {
      launch(settingsOf(config));
      checkResults();
    }
  } catch (const Error &) { // their own trial will tell
  }
}

Attempts::Settings Attempts::settingsOf(const Config &config) const {
  Settings settings;
  settings.constants.assign(call_.constants.begin(), call_.constants.end());
  apply(spaceOf(call_.record), config, settings.constants, settings.launch.compile);
  return settings;
}

void Attempts::launch(const Settings &settings) {
  detail::launch(call_.record, copies_.stream(), copies_.args(), settings.constants,
                 settings.launch);
}

bool Attempts::runs(const Config &config) const {
  const TuningSpace &space = spaceOf(call_.record);
  if (!call_.device.isVirtual() || !space.work)
    return true;
  Work work = space.work(config, call_.problem());
  return work.programs * work.multiplyAdds <= kMostMultiplyAdds &&
         work.programs * (work.bytesRead + work.bytesWritten) <= kMostBytes;
}

Trial Attempts::attempt(const Config &config) {
  Trial trial;
  trial.config = config;
  try {
    Settings settings = settingsOf(config);
    detail::prepare(call_.record, call_.device, copies_.args(), settings.constants,
                    settings.launch);
    if (runs(config)) {
      copies_.restore();
      launch(settings);
      trial.reason = checkResults();
    }
    trial.status = Status::Wrong;
    if (trial.reason.empty())
      findTime(settings, trial);
  } catch (const Error &error) {
    trial.status = isRefusal(error.code()) ? Status::Refused : Status::Failed;
    trial.reason = error.message();
  }
  return trial;
}

std::string Attempts::checkResults() {
  std::vector<PrivateCall::Result> results = copies_.results();
  copies_.stream().synchronize();
  if (!std::exchange(hasReference_, true)) {
    reference_ = std::move(results);
    return {};
  }
  for (size_t i = 0; i < results.size(); ++i)
    if (std::string why = disagreement(results[i], reference_[i]); !why.empty())
      return "output " + std::to_string(i) + ": " + why;
  return {};
}

void Attempts::findTime(const Settings &settings, Trial &trial) {
  if (call_.device.isVirtual())
    return model(settings, trial);
  constexpr int kFewestSamples = 6;
  DeviceLock alone(call_.device);
  BenchResult time = timeAtUsualClock(settings, medianClock(clocks_),
                                      {.warmups = 1,
                                       .precision = options_.precision,
                                       .minSamples = kFewestSamples,
                                       .maxSeconds = options_.mostSeconds});
  if (time.clockMHz && (clocks_.empty() || time.doubt.empty()))
    clocks_.push_back(time.clockMHz);
  trial.status = Status::Timed;
  trial.milliseconds = time.median;
  trial.spread = (time.upper - time.lower) / 2 / time.median;
  trial.samples = static_cast<int>(time.samples.size());
  trial.clockMHz = time.clockMHz;
  trial.doubt = time.doubt;
}

BenchResult Attempts::timeAtUsualClock(const Settings &settings, int usualClock,
                                       const BenchOptions &options) {
  constexpr int kMostTimes = 3;
  BenchResult time;
  for (int nth = 1; nth <= kMostTimes; ++nth) {
    if (nth > 1) // it may cool down, and others may end
      std::this_thread::sleep_for(std::chrono::duration<double>(options_.restSeconds));
    time = bench(
        copies_.stream(), [&] { launch(settings); }, options);
    if (usualClock && time.clockMHz && time.doubt.empty() && isFarClock(time.clockMHz, usualClock))
      time.doubt = "its clock was " + std::to_string(time.clockMHz) + " MHz, in other trials " +
                   std::to_string(usualClock) + " MHz";
    if (time.doubt.empty())
      break;
  }
  return time;
}

// A kernel that does not tell its work is counted.
void Attempts::model(const Settings &settings, Trial &trial) {
  std::optional<Estimate> estimate =
      estimateOf(spaceOf(call_.record), trial.config, call_.problem());
  int multiprocessors = call_.device.multiprocessors();
  if (!estimate)
    if (std::optional<DeviceModel> device = modelOf(call_.device.target(), multiprocessors)) {
      BenchResult counts = bench(copies_.stream(), [&] { launch(settings); }, {.warmups = 0});
      estimate = timeOf(workOf(*counts.counts, multiprocessors), *device);
    }
  if (!estimate)
    throw Error(Fault::User, ErrorCode::Unsupported,
                "there is no model of " + call_.device.target() + " to tell settings apart by");
  trial.status = Status::Modelled;
  trial.milliseconds = estimate->seconds * 1e3;
}

// In turns, some samples each time, until all medians are known well enough; the times of all turns together.
void Attempts::compare(std::vector<Trial *> finalists) {
  if (call_.device.isVirtual())
    return;
  constexpr int kFewestTurns = 5, kMostTurns = 30, kSamples = 10;
  DeviceLock alone(call_.device);
  std::vector<std::vector<BenchResult>> turns(finalists.size());
  std::vector<int> clocks;
  const auto begun = std::chrono::steady_clock::now();
  auto isOver = [&] {
    std::chrono::duration<double> since = std::chrono::steady_clock::now() - begun;
    return since.count() > options_.mostFinalSeconds ||
           std::ranges::all_of(finalists, [&](const Trial *trial) {
             return trial->spread * 2 <= options_.finalPrecision;
           });
  };
  for (int turn = 0; turn < kFewestTurns || (turn < kMostTurns && !isOver()); ++turn)
    for (size_t i = 0; i < finalists.size(); ++i) {
      turns[i].push_back(timeAtUsualClock(settingsOf(finalists[i]->config), medianClock(clocks),
                                          {.warmups = 1,
                                           .precision = 1,
                                           .minSamples = kSamples,
                                           .maxSeconds = options_.mostSeconds}));
      if (int clock = turns[i].back().clockMHz)
        clocks.push_back(clock);
      takeTogether(turns[i], *finalists[i]);
    }
}

} // namespace tile::tune
