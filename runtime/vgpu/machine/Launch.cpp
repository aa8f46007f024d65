// Runs the blocks of a launch on host threads, and starts it again where that is needed.
#include "runtime/vgpu/machine/Launch.h"

#include "runtime/vgpu/machine/Targets.h"
#include "runtime/vgpu/machine/access/RaceReport.h"

#include <algorithm>
#include <numeric>
#include <thread>

namespace tile::vgpu {

Launch::Launch(LaunchSetup setup) : setup_(std::move(setup)) {
  sharedBytes_ = program().staticSharedBytes;
  if (setup_.config.dynamicSharedBytes)
    sharedBytes_ = program().dynamicSharedAddress - kSharedBase + setup_.config.dynamicSharedBytes;
  if (setup_.counting) {
    instructionCounters_.resize(program().lines.size());
    distinctSectors_ = std::make_unique<DistinctSectors>(memory().reservedBytes());
  }
  inFlight_ = setup_.before ? std::move(setup_.before) : std::make_unique<GridsInFlight>();
  raceContext_ = {inFlight_->nextCluster(),
                  inFlight_->endedBelow,
                  inFlight_->endedFrom,
                  inFlight_->unawaitedBelow,
                  static_cast<uint32_t>(setup_.config.cluster.count()),
                  reportConflict};
  inFlight_->grids.push_back({setup_.program, setup_.config, raceContext_.firstCluster});
  auto threads = static_cast<uint32_t>(setup_.config.block.count());
  maxResident_ = std::max(1u, residentBlocks(setup_.props, threads, sharedBytes_) / clusterSize());
  // A random order needs a list of all clusters; a grid too large for one runs in order.
  if (setup_.schedule == Schedule::Random && clusterCount() <= (1u << 24)) {
    Choices choices;
    choices.reset(setup_.seed, clusterCount());
    order_.resize(clusterCount());
    std::iota(order_.begin(), order_.end(), 0u);
    for (size_t i = order_.size(); i > 1; --i)
      std::swap(order_[i - 1], order_[choices.below(static_cast<uint32_t>(i))]);
  }
}

uint64_t Launch::clusterCount() const { return setup_.config.grid.count() / clusterSize(); }

const Grid &Launch::gridOf(uint32_t cluster) const {
  return *std::ranges::find_if(inFlight_->grids.rbegin(), inFlight_->grids.rend(),
                               [&](const Grid &grid) { return grid.firstCluster <= cluster; });
}

void Launch::startDependents(bool afterGridsBefore) {
  if (!afterGridsBefore)
    dependents_ = Dependents::StartedEarly;
  else if (dependents_ == Dependents::NotStarted)
    dependents_ = Dependents::Started;
}

// From endedBelow to endedFrom are launches that may still run when the next one starts, up to unawaitedBelow those that may
// even when this one has ended. In the shadow's numbers that is one range, which may take too many for running.
std::unique_ptr<GridsInFlight> Launch::leaveInFlight() {
  if (!inFlight_->races)
    return nullptr;
  GridsInFlight &left = *inFlight_;
  uint32_t first = raceContext_.firstCluster;
  uint32_t besideBelow = std::min(left.endedFrom, first); // that may have run beside this one
  if (!hasWaited_)
    left.unawaitedBelow = besideBelow;
  bool someRunOn = left.unawaitedBelow > left.endedBelow;
  if (dependents_ == Dependents::NotStarted) {
    if (!someRunOn)
      return nullptr;
    left.endedFrom = left.unawaitedBelow;
    return std::move(inFlight_);
  }
  bool haveOthersEnded =
      dependents_ == Dependents::Started ? !someRunOn : besideBelow <= left.endedBelow;
  if (haveOthersEnded)
    left.endedBelow = first;
  left.endedFrom = ~0u;
  left.settleOldest();
  return std::move(inFlight_);
}

void Launch::run() {
  bool communicates = program().usesGlobalAtomics;
  // The clusters of launches that may overlap are compared with each other, so they share one
  // shadow.
  bool overlaps = inFlight_->races || program().startsDependents;
  if (!checks().tracksAccesses()) {
    runOn(communicates ? 1 : setup_.threads);
  } else if (communicates || overlaps || program().prints || !runApart()) {
    if (!inFlight_->races)
      inFlight_->races = GlobalRaces::ofLaunch();
    inFlight_->races->forgetTouched(); // by launches before
    runOn(1);
    touched_ = inFlight_->races->touched();
  }
  if (distinctSectors_)
    distinctSectors_->addTo(outcome_.counters);
  // Which later clusters had started when the first fault appeared depends on timing; the first
  // faulty one does not.
  if (outcome_.findings.empty())
    return;
  uint64_t first = std::ranges::min(outcome_.findings, {}, &Finding::clusterIndex).clusterIndex;
  std::erase_if(outcome_.findings,
                [&](const Finding &finding) { return finding.clusterIndex != first; });
}

void Launch::runOn(uint64_t threads) {
  std::vector<std::thread> helpers;
  for (uint64_t i = 1; i < std::min(threads, clusterCount()); ++i)
    helpers.emplace_back([this] { worker(); });
  worker();
  for (std::thread &helper : helpers)
    helper.join();
  if (failure_)
    std::rethrow_exception(failure_);
}

bool Launch::runApart() {
  backup_ = std::make_unique<PageBackup>(memory());
  footprints_ = std::make_unique<Footprints>([this](uint64_t page) { backup_->keep(page); });
  runOn(setup_.threads);
  bool isClean = outcome_.findings.empty() && !footprints_->haveConflict();
  if (isClean)
    touched_ = footprints_->touched();
  else
    startAgain();
  footprints_.reset();
  backup_.reset();
  return isClean;
}

void Launch::startAgain() {
  backup_->restore();
  outcome_ = {};
  std::ranges::fill(instructionCounters_, Counters());
  if (distinctSectors_)
    distinctSectors_->clear();
  next_ = 0;
  stopAt_ = ~uint64_t{0};
}

std::optional<uint64_t> Launch::takeCluster() {
  uint64_t end = clusterCount();
  while (next_.load() < end) {
    uint64_t turn = next_.fetch_add(1);
    if (turn >= end)
      break;
    uint64_t index = order_.empty() ? turn : order_[turn];
    if (index < stopAt_.load())
      return index;
  }
  return std::nullopt;
}

// A part of the report of a deadlock: blocks that nobody could start may be what the others wait
// for.
std::string Launch::waitingBlocksText(uint64_t clusters) const {
  if (clusters == 0)
    return {};
  return "; " + std::to_string(clusters * clusterSize()) + " blocks have not started, since " +
         setup_.props.target + " holds at most " + std::to_string(maxResident_ * clusterSize()) +
         " of this launch at a time";
}

void Launch::worker() {
  try {
    bool mayPause = program().usesGlobalAtomics;
    std::vector<std::unique_ptr<Cluster>> idle, resident;
    size_t stuck = 0;                      // clusters in a row that could do nothing
    std::optional<std::string> notStarted; // what the first deadlock says of the other blocks
    for (;;) {
      // Prefer a new cluster; when those are all started, go round the unfinished ones.
      if (resident.size() < maxResident_)
        if (std::optional<uint64_t> index = takeCluster()) {
          if (idle.empty())
            idle.push_back(makeCluster());
          begin(*idle.back(), *index);
          resident.push_back(std::move(idle.back()));
          idle.pop_back();
          stuck = 0;
        }
      if (resident.empty()) {
        collectCounters(idle);
        return;
      }
      std::unique_ptr<Cluster> cluster = std::move(resident.back());
      resident.pop_back();
      uint64_t before = *cluster->events;
      TurnEnd end = cluster->advance(mayPause);
      stuck = end == TurnEnd::Stuck && *cluster->events == before ? stuck + 1 : 0;
      // One that has not started may be what they wait for.
      uint64_t started = std::min(next_.load(), clusterCount());
      bool mayStart = started < clusterCount() && resident.size() + 1 < maxResident_;
      if (stuck > resident.size() && !mayStart) {
        // Once a block is given up, the others are not to be started: what it waited for is what
        // all do.
        if (!notStarted)
          notStarted = waitingBlocksText(clusterCount() - started);
        // What waits when a block has been given up for another fault may wait for that one.
        if (!hasFault_)
          cluster->reportDeadlock(*notStarted);
        end = TurnEnd::Done;
      }
      if (end == TurnEnd::Done) {
        retire(*cluster);
        idle.push_back(std::move(cluster));
      } else {
        resident.insert(resident.begin(), std::move(cluster));
      }
    }
  } catch (...) {
    std::lock_guard lock(mutex_);
    stopAt_ = 0;
    if (!failure_)
      failure_ = std::current_exception();
  }
}

void Launch::retire(Cluster &cluster) {
  if (cluster.ownGlobalRaces)
    cluster.ownGlobalRaces->endCluster();
  std::lock_guard lock(mutex_);
  for (auto &cta : cluster.ctas) {
    ++outcome_.statistics.blocks;
    for (const Warp &warp : cta->warps)
      outcome_.statistics.warpInstructions += warp.instructions;
    outcome_.counters += cta->counters;
    outcome_.findings.insert(outcome_.findings.end(), cta->findings.begin(), cta->findings.end());
  }
  bool isFaulty =
      std::ranges::any_of(cluster.ctas, [](const auto &cta) { return !cta->findings.empty(); });
  for (const auto &cta : cluster.ctas)
    hasFault_ |= std::ranges::any_of(cta->findings, [](const Finding &finding) {
      return finding.kind != FindingKind::Deadlock;
    });
  if (footprints_ && (isFaulty || footprints_->haveConflict())) {
    stopAt_ = 0;
    return;
  }
  if (!isFaulty)
    return;
  // Clusters after the first faulty one are not needed; those before it finish, so that reports do
  // not depend on timing.
  uint64_t stop = stopAt_.load();
  while (cluster.index + 1 < stop &&
         !stopAt_.compare_exchange_weak(stop, uint64_t{cluster.index} + 1)) {
  }
}

void Launch::collectCounters(const std::vector<std::unique_ptr<Cluster>> &clusters) {
  std::lock_guard lock(mutex_);
  for (const auto &cluster : clusters)
    for (const auto &cta : cluster->ctas)
      for (size_t i = 0; i < cta->instructionCounters.size(); ++i) {
        Counters &counters = cta->instructionCounters[i];
        const Program::Line &line = program().lines[i];
        counters.macs = line.macs * counters.warpInstructions;
        counters.mma = line.macs ? counters.warpInstructions : 0;
        instructionCounters_[i] += counters;
        outcome_.counters += counters;
      }
}

} // namespace tile::vgpu
