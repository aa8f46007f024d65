#include "tools/tilec/tune/TuneText.h"

#include "runtime/device/ClockReader.h"
#include "runtime/host/State.h"
#include "runtime/tune/Key.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace tile::tilec {
namespace {

constexpr size_t kShown = 10; // of settings in a list

std::string number(double value, const char *format) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// "0.1523 ms", on the virtual GPU "0.1523 ms by the model".
std::string timeText(const tune::Trial &trial) {
  return number(trial.milliseconds, "%.4g ms") +
         (trial.status == tune::Status::Modelled ? " by the model" : "");
}

std::string heading(const tune::TunedCall &call) {
  return call.record.name + "  " + tune::problemKey(call.record, call.args, call.constants) +
         "\non " + tune::deviceKey(call.device) + " multiprocessors\n";
}

std::string leftOutText(const tune::Candidates &candidates) {
  std::string text;
  for (const auto &[why, leftOut] : candidates.leftOut)
    text += "  " + std::to_string(leftOut.count) + " left out: " + why + " (" +
            leftOut.first.str() + ")\n";
  if (!candidates.isComplete)
    text += "  there are more combinations than are looked at: add rules with .where(...)\n";
  return text;
}

std::string failuresText(const tune::TuneResult &result) {
  std::map<std::string, int> byStatus;
  std::map<std::string, const tune::Trial *> first;
  for (const tune::Trial &trial : result.trials)
    if (trial.status > tune::Status::Modelled && byStatus[nameOf(trial.status)]++ == 0)
      first[nameOf(trial.status)] = &trial;
  std::string text;
  for (const auto &[status, count] : byStatus)
    text += "  " + std::to_string(count) + " " + status + ", as " + first[status]->config.str() +
            ": " + first[status]->reason + "\n";
  return text;
}

std::string percent(double part) { return number(part * 100, "%.2g %%"); }

} // namespace

std::string lineOf(const tune::Trial &trial) {
  if (trial.status > tune::Status::Modelled)
    return trial.config.str() + ": " + nameOf(trial.status) + ": " + trial.reason;
  std::string spread =
      trial.spread > 0 ? " +- " + number(trial.spread * 100, "%.1f") + " %" : std::string();
  // Somebody else used the device, or its clock went up and down.
  constexpr double kDoubtful = 0.05;
  std::string doubt =
      trial.doubt.empty() && trial.spread > kDoubtful ? "the device was not quiet" : trial.doubt;
  return trial.config.str() + ": " + timeText(trial) + spread +
         (trial.clockMHz ? " at " + std::to_string(trial.clockMHz) + " MHz" : "") +
         (doubt.empty() ? "" : ", doubtful: " + doubt);
}

std::string comparedWithOwn(const tune::TuneResult &result) {
  const tune::Trial &best = *result.best;
  if (!result.own || !(result.own->milliseconds > 0))
    return "";
  if (result.own->config != best.config)
    return ", " + number(result.own->milliseconds / best.milliseconds, "%.2f") +
           " times as fast as the kernel's own";
  if (!result.passedOver)
    return ", the kernel's own";
  const tune::Trial &other = *result.passedOver;
  return "; " + other.config.str() + " is " + percent(1 - other.milliseconds / best.milliseconds) +
         " faster, within " + percent(tune::gainNeeded(other, best)) +
         ", so the kernel's own stays";
}

std::string summaryOf(const tune::TunedCall &call, const tune::TuneResult &result,
                      const std::string &keptIn) {
  std::string text = heading(call);
  std::vector<const tune::Trial *> ordered;
  for (const tune::Trial &trial : result.trials)
    if (trial.status <= tune::Status::Modelled)
      ordered.push_back(&trial);
  std::ranges::sort(ordered, {}, [](const tune::Trial *trial) {
    return std::pair(trial->milliseconds, trial->config.str());
  });
  for (size_t i = 0; i < std::min(ordered.size(), kShown); ++i)
    text += "  " + lineOf(*ordered[i]) +
            (result.own && ordered[i]->config == result.own->config ? "  (the kernel's own)" : "") +
            "\n";
  if (ordered.size() > kShown)
    text += "  and " + std::to_string(ordered.size() - kShown) + " slower ones\n";
  text += failuresText(result) + leftOutText(result.candidates);
  if (!result.best)
    return text + "nothing worked: launches take what the kernel says\n";
  text += "best: " + lineOf(*result.best);
  text += comparedWithOwn(result);
  return text + (result.wasCutShort ? "\ncut short; the same command goes on" : "") + "\nkept in " +
         keptIn + "\n";
}

/// What times depend on as well; the virtual GPU has none.
static std::string clockText(const Device &device) {
  const device::DeviceProps &props = device.state()->device->props();
  if (props.countsWork)
    return {};
  return "its clock: " + device::ClockReader(props).text() + "\n";
}

/// Settings, and the model's time of them if there is one.
static std::string modelled(const tune::TuningSpace &space, const Config &config,
                            const Problem &problem) {
  std::optional<tune::Estimate> estimate = tune::estimateOf(space, config, problem);
  if (!estimate)
    return config.str();
  return config.str() + ": " + number(estimate->seconds * 1e6, "%.4g us, bound by ") +
         estimate->bound + ", " + std::to_string(estimate->programsTogether) +
         " on a multiprocessor";
}

std::string explanationOf(const tune::TunedCall &call) {
  const tune::TuningSpace &space = tune::spaceOf(call.record);
  Problem problem = call.problem();
  tune::Candidates candidates = tune::candidatesOf(call.record, space, problem);
  std::string text = heading(call) + number(tune::sizeOf(space), "%.0f") + " combinations, " +
                     std::to_string(candidates.ordered.size()) + " to try" +
                     (candidates.isModelled ? ", by the model's time:\n"
                                            : ", in the order of how little they differ from the "
                                              "kernel's own (it has no .work(...)):\n");
  for (size_t i = 0; i < std::min(candidates.ordered.size(), kShown); ++i)
    text += "  " + modelled(space, candidates.ordered[i].config, problem) + "\n";
  if (candidates.ordered.size() > kShown)
    text += "  and " + std::to_string(candidates.ordered.size() - kShown) + " more\n";
  return text + leftOutText(candidates) + "the kernel's own: " +
         modelled(space, tune::defaultOf(call.record, space, problem), problem) + "\n" +
         clockText(call.device);
}

} // namespace tile::tilec
