#include "runtime/tune/Tuner.h"

#include "runtime/cache/BuildId.h"
#include "runtime/tune/Key.h"
#include "runtime/tune/Shape.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include <unistd.h>

namespace tile::tune {
namespace {

using Clock = std::chrono::steady_clock;

std::string hostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

class Tuning {
public:
  Tuning(const TunedCall &call, Trier &trier, Store *store, const TuneOptions &options)
      : call_(call), space_(spaceOf(call.record)), trier_(trier), store_(store), options_(options),
        own_(defaultOf(call.record, space_, call.problem())) {
    result_.key = {call.record.name, trier.versionOf(call),
                   problemKey(call.record, call.args, call.constants), deviceKey(call.device)};
    result_.candidates = candidatesOf(call.record, space_, call.problem());
    device_ = modelOf(call.device.target(), call.device.multiprocessors());
  }

  TuneResult run() {
    takeKnown();
    Search search(
        space_, result_.candidates, seeds(), [&](const Config &config) { return mayTry(config); },
        options_.search);
    std::deque<Config> due;
    while (true) {
      while (due.size() < static_cast<size_t>(std::max(options_.ahead, 1)))
        if (std::optional<Config> config = search.next())
          due.push_back(std::move(*config));
        else
          break;
      if (due.empty())
        break;
      if (isOver()) {
        result_.wasCutShort = true;
        break;
      }
      trier_.expect({due.begin(), due.end()});
      Config config = std::move(due.front());
      due.pop_front();
      search.tell(config, timeOf(tryOnce(config)));
    }
    choose();
    return std::move(result_);
  }

private:
  static std::optional<double> timeOf(const Trial &trial) {
    return trial.status <= Status::Modelled ? std::optional(trial.milliseconds / 1e3)
                                            : std::nullopt;
  }

  bool isOver() const {
    std::chrono::duration<double> since = Clock::now() - begun_;
    return since.count() > options_.seconds || (options_.stop && *options_.stop);
  }

  // What is known of this version and toolchain need not be tried; what made a process die or hang must not.
  void takeKnown() {
    if (!store_)
      return;
    for (Trial &trial :
         store_->trialsOf(result_.key.kernel, result_.key.problem, result_.key.device)) {
      trial.config = inOrder(space_, trial.config);
      bool isSame = trial.key.version == result_.key.version && trial.toolchain == toolchain_;
      bool isDangerous = trial.status == Status::Crashed || trial.status == Status::TimedOut;
      if (isSame && (!options_.fresh || isDangerous))
        known_.emplace(trial.config.str(), std::move(trial));
      else if (!isDangerous && trial.isChosen)
        seeds_.push_back(trial.config);
    }
  }

  // The kernel's own settings first: all others are compared with them.
  std::vector<Config> seeds() {
    std::vector<Config> seeds = {own_};
    for (const Config &config : options_.seeds)
      seeds.push_back(inOrder(space_, config));
    seeds.insert(seeds.end(), seeds_.begin(), seeds_.end());
    return seeds;
  }

  bool mayTry(const Config &config) {
    if (config == own_)
      return true;
    if (!refusalOf(space_, config, call_.problem()).empty())
      return false;
    return !device_ || !space_.work ||
           lackOf(space_.work(config, call_.problem()), *device_).empty();
  }

  const Trial &tryOnce(const Config &config) {
    auto known = known_.find(config.str());
    Trial trial = known != known_.end() ? known->second : trier_.attempt(config);
    if (known == known_.end()) {
      sign(trial), keep(trial);
      if (options_.progress)
        options_.progress(trial);
    }
    if (config == own_)
      result_.own = trial;
    result_.trials.push_back(std::move(trial));
    return result_.trials.back();
  }

  void sign(Trial &trial) {
    trial.key = result_.key;
    trial.shape = shapeLine(call_.record, call_.args, call_.constants);
    trial.toolchain = toolchain_;
    trial.host = hostName();
    trial.time = std::chrono::duration_cast<std::chrono::seconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count();
  }

  void keep(const Trial &trial) {
    if (store_)
      store_->keep(trial);
  }

  void choose() {
    std::vector<Trial *> finalists;
    for (Trial &trial : result_.trials)
      if (timeOf(trial))
        finalists.push_back(&trial);
    if (finalists.empty())
      return;
    std::ranges::sort(finalists, {}, [](const Trial *trial) {
      return std::tuple(trial->milliseconds, trial->config.str());
    });
    Trial *own = nullptr;
    for (Trial *trial : finalists)
      if (trial->config == own_)
        own = trial;
    constexpr size_t kFinalists = 3;
    finalists.resize(std::min(finalists.size(), kFinalists));
    if (own && std::ranges::count(finalists, own) == 0)
      finalists.push_back(own);
    if (finalists.size() > 1)
      trier_.compare(finalists);
    Trial *best = *std::ranges::min_element(finalists, {},
                                            [](const Trial *trial) { return trial->milliseconds; });
    if (own && best != own && !isClearlyFaster(*best, *own))
      result_.passedOver = *std::exchange(best, own);
    for (Trial &trial : result_.trials) {
      trial.isChosen = &trial == best;
      keep(trial);
    }
    result_.best = *best;
    if (own)
      result_.own = *own;
  }

  static bool isClearlyFaster(const Trial &trial, const Trial &own) {
    return trial.milliseconds < own.milliseconds * (1 - gainNeeded(trial, own));
  }

  const TunedCall &call_;
  const TuningSpace &space_;
  Trier &trier_;
  Store *store_;
  const TuneOptions &options_;
  const Config own_;
  const std::string toolchain_ = cache::buildId();
  const Clock::time_point begun_ = Clock::now();
  std::optional<DeviceModel> device_;
  std::map<std::string, Trial> known_;
  std::vector<Config> seeds_;
  TuneResult result_;
};

} // namespace

double gainNeeded(const Trial &trial, const Trial &own) {
  return kLeastGain + trial.spread + own.spread;
}

TuneResult tune(const TunedCall &call, Trier &trier, Store *store, const TuneOptions &options) {
  return Tuning(call, trier, store, options).run();
}

} // namespace tile::tune
