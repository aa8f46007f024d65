// L2 as an LRU of units over the loads of all places, step by step: places are taken to load in
// step.
#include "runtime/vgpu/time/Supply.h"

#include <algorithm>
#include <deque>

namespace tile::vgpu {
namespace {

// A unit, and when it was used and fetched last.
class L2Units {
public:
  explicit L2Units(size_t capacity) : capacity_(capacity) {}

  struct Use {
    bool isMiss;
    size_t fetchedAt; // the step
  };
  Use touch(uint64_t unit, size_t step) {
    auto [found, isNew] = units_.try_emplace(unit);
    if (isNew)
      found->second.fetchedAt = step;
    Use use{isNew, found->second.fetchedAt};
    found->second.lastUse = ++uses_;
    order_.push_back({unit, uses_});
    while (units_.size() > capacity_) {
      auto [oldest, when] = order_.front();
      order_.pop_front();
      auto stale = units_.find(oldest);
      if (stale != units_.end() && stale->second.lastUse == when)
        units_.erase(stale);
    }
    return use;
  }

private:
  struct Unit {
    uint64_t lastUse = 0;
    size_t fetchedAt = 0;
  };
  size_t capacity_;
  std::unordered_map<uint64_t, Unit> units_;
  std::deque<std::pair<uint64_t, uint64_t>> order_;
  uint64_t uses_ = 0;
};

class Estimate {
public:
  Estimate(const TimedLaunch &launch, const Footprint &footprint, unsigned place)
      : launch_(launch), footprint_(footprint), place_(place),
        units_(static_cast<size_t>(launch.calibration().l2.capacityMb * kUnitsOfMb)) {}

  Supply run() {
    for (const std::vector<Box> &loads : footprint_.boxes)
      steps_ = std::max(steps_, loads.size());
    seenInGpc_.resize(TimedLaunch::kGpcs * std::max(1u, launch_.occupancy().blocks));
    for (size_t step = 0; step < steps_; ++step)
      takeStep(step);
    supply_.meanDistinct = all_.distinct / std::max(1.0, all_.units);
    supply_.meanFromDram = all_.missed / std::max(1.0, all_.units);
    smooth();
    return std::move(supply_);
  }

private:
  static constexpr double kUnitsOfMb = 1024; // of 1 KB

  struct Step {
    double units = 0, distinct = 0, missed = 0;
    void operator+=(const Step &other) {
      units += other.units, distinct += other.distinct, missed += other.missed;
    }
  };

  void takeStep(size_t step) {
    Step sum;
    bool isCold = false;
    auto coldFor = static_cast<size_t>(launch_.calibration().tma.coldLoads);
    for (auto &seen : seenInGpc_)
      seen.clear();
    for (unsigned place = 0; place < footprint_.boxes.size(); ++place) {
      const std::vector<Box> &loads = footprint_.boxes[place];
      if (step >= loads.size())
        continue;
      unsigned sms = launch_.multiprocessors();
      auto &seen = seenInGpc_[launch_.gpcOf(place % sms) + TimedLaunch::kGpcs * (place / sms)];
      forUnits(loads[step], [&](uint64_t unit) {
        ++sum.units;
        sum.distinct += seen.insert(unit).second;
        L2Units::Use use = units_.touch(unit, step);
        sum.missed += use.isMiss;
        isCold |= place == place_ && (use.isMiss || step - use.fetchedAt < coldFor);
      });
    }
    sums_.push_back(sum);
    all_ += sum;
    if (step < footprint_.boxes[place_].size())
      supply_.isCold.push_back(isCold);
  }

  // Places drift apart: each load sees the mean of those around it.
  void smooth() {
    auto window = static_cast<size_t>(launch_.calibration().tma.window);
    for (size_t load = 0; load < supply_.isCold.size(); ++load) {
      Step sum;
      for (size_t i = load > window ? load - window : 0; i < std::min(steps_, load + window); ++i)
        sum += sums_[i];
      // A load outside of its tensor touches nothing.
      supply_.distinct.push_back(
          sum.units && launch_.calibration().l2.sharing > 0 ? sum.distinct / sum.units : 1);
      supply_.fromDram.push_back(sum.units ? sum.missed / sum.units : 0);
    }
  }

  const TimedLaunch &launch_;
  const Footprint &footprint_;
  unsigned place_;
  L2Units units_;
  size_t steps_ = 0;
  std::vector<std::unordered_set<uint64_t>> seenInGpc_;
  std::vector<Step> sums_;
  Step all_;
  Supply supply_;
};

} // namespace

Supply findSupply(const TimedLaunch &launch, const Footprint &footprint, unsigned place) {
  if (footprint.boxes.empty())
    return {};
  return Estimate(launch, footprint, place).run();
}

} // namespace tile::vgpu
