#include "tools/tilec/tune/Simulate.h"

#include "runtime/tune/Simulation.h"
#include "tools/tilec/Child.h"
#include "tools/tilec/input/Refuse.h"
#include "tools/tilec/tune/Problems.h"

#include <charconv>
#include <cstdio>
#include <iostream>
#include <map>

namespace tile::tilec {
namespace {

/// The target and the number of multiprocessors, which end a device's key.
struct RecordedDevice {
  std::string target;
  int multiprocessors = 0;
};

RecordedDevice deviceOf(const std::string &key) {
  size_t last = key.rfind(' '), before = last == key.npos ? last : key.rfind(' ', last - 1);
  RecordedDevice device;
  if (before != key.npos) {
    device.target = key.substr(before + 1, last - before - 1);
    std::from_chars(key.data() + last + 1, key.data() + key.size(), device.multiprocessors);
  }
  if (device.multiprocessors < 1)
    refuse("'" + key + "' is no device such as \"NVIDIA H100 sm_90a 132\"");
  return device;
}

std::string percent(double part) {
  char text[32];
  std::snprintf(text, sizeof text, "%5.1f %%", part * 100);
  return text;
}

double regretAfter(const tune::Replay &replay, size_t trials) {
  return replay.regretAfter[std::min(trials, replay.regretAfter.size()) - 1];
}

/// Sums over problems.
struct Means {
  double model = 0, own = 0, four = 0, eight = 0;
  int problems = 0, ofOwn = 0;

  void add(const tune::Replay &replay) {
    ++problems, model += replay.modelRegret;
    four += regretAfter(replay, 4), eight += regretAfter(replay, 8);
    if (replay.ownRegret)
      ++ofOwn, own += *replay.ownRegret;
  }
  std::string line() const {
    return "mean of " + std::to_string(problems) + " problems: model " + percent(model / problems) +
           ", own " + (ofOwn ? percent(own / ofOwn) : "-") + ", 4 trials " +
           percent(four / problems) + ", 8 trials " + percent(eight / problems);
  }
};

std::string lineOf(const tune::Replay &replay) {
  return replay.problem + ": " + std::to_string(replay.recorded) + " settings, best " +
         replay.best.str() + "\n  slower than that: model's first " + percent(replay.modelRegret) +
         ", the kernel's own " + (replay.ownRegret ? percent(*replay.ownRegret) : "not recorded") +
         ", best of 4 trials " + percent(regretAfter(replay, 4)) + ", of 8 " +
         percent(regretAfter(replay, 8)) + "\n";
}

} // namespace

int simulate(const std::vector<std::string> &words, const std::string &kernel,
             const std::string &recording) {
  std::vector<tune::Trial> trials = tune::readTable(recording);
  if (trials.empty())
    refuse("'" + recording + "' has no results");
  RecordedDevice device = deviceOf(trials.front().key.device);
  TuneProblem like = kernelOfLines(words, kernel, device.target);
  std::map<std::pair<std::string, std::string>, std::vector<tune::Trial>> byProblem;
  for (tune::Trial &trial : trials)
    if (trial.key.kernel == like.record->name)
      byProblem[{trial.key.device, trial.shape}].push_back(std::move(trial));
  if (byProblem.empty())
    refuse("'" + recording + "' has nothing of kernel '" + like.record->name + "'");
  Means means;
  for (const auto &[place, own] : byProblem) {
    device = deviceOf(place.first);
    TuneProblem problem = problemOfLine(like, place.second, recording);
    tune::Replay replay = tune::replay(*problem.record,
                                       {*problem.record, problem.examples, problem.constants,
                                        device.target, device.multiprocessors},
                                       own);
    replay.problem = own.front().key.problem;
    std::cout << lineOf(replay);
    means.add(replay);
  }
  std::cout << means.line() << "\n";
  return kOk;
}

} // namespace tile::tilec
