// Runs the blocks of a launch on host threads, starts it again where that is needed, and says where
// a finding happened.
#include "runtime/vgpu/machine/Launch.h"

#include "runtime/vgpu/machine/Barrier.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/RaceReport.h"
#include "runtime/vgpu/machine/Targets.h"

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
  raceContext_ = {inFlight_->nextCluster(), inFlight_->endedBelow,
                  static_cast<uint32_t>(setup_.config.cluster.count()), reportConflict};
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

std::unique_ptr<GridsInFlight> Launch::leaveInFlight() {
  if (!inFlight_->races || dependents_ == Dependents::NotStarted)
    return nullptr;
  if (dependents_ == Dependents::Started)
    inFlight_->endedBelow = raceContext_.firstCluster;
  return std::move(inFlight_);
}

void Launch::note(const Op &op, const std::string &message) {
  std::lock_guard lock(mutex_);
  auto [entry, isNew] = outcome_.notes.try_emplace(op.instruction);
  if (!isNew)
    return;
  static_cast<CodeLocation &>(entry->second) = locationOf(program(), op.instruction);
  entry->second.message = message;
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

std::unique_ptr<Cluster> Launch::makeCluster() {
  auto cluster = std::make_unique<Cluster>();
  cluster->launch = this;
  if (footprints_)
    cluster->ownGlobalRaces = GlobalRaces::ofCluster(*footprints_);
  cluster->globalRaces = footprints_ ? cluster->ownGlobalRaces.get() : inFlight_->races.get();
  cluster->events = program().usesGlobalAtomics ? &events_ : &cluster->ownEvents;
  for (uint32_t rank = 0; rank < clusterSize(); ++rank) {
    cluster->ctas.push_back(makeCta(rank));
    cluster->ctas.back()->cluster = cluster.get();
  }
  return cluster;
}

std::unique_ptr<Cta> Launch::makeCta(uint32_t rank) {
  auto cta = std::make_unique<Cta>();
  cta->launch = this;
  cta->rank = rank;
  cta->threads = static_cast<uint32_t>(setup_.config.block.count());
  cta->instructionCounters.resize(instructionCounters_.size());
  const Program &code = program();
  size_t warps = (cta->threads + kLanes - 1) / kLanes;
  cta->warps.resize(warps);
  // Rows begin at cache lines, so that a row of 32 lanes is as few of them as it can be.
  cta->registerBytes.resize(warps * code.fileBytes + 64);
  auto misalignment = reinterpret_cast<uintptr_t>(cta->registerBytes.data()) % 64;
  uint8_t *registers = cta->registerBytes.data() + (misalignment ? 64 - misalignment : 0);
  if (checks().init)
    cta->shadowRegisters = ShadowRegisterFile(warps, code.fileBytes);
  cta->shared.resize(sharedBytes_);
  cta->sharedValidWords.resize(sharedBytes_ / 64 + 2);
  cta->sharedValid = ValidBits(cta->sharedValidWords.data());
  cta->local.resize(warps * kLanes * code.localStride());
  cta->localValidWords.resize(cta->local.size() / 64 + 2);
  cta->localValid = ValidBits(cta->localValidWords.data());
  if (checks().tracksAccesses())
    cta->races = std::make_unique<SharedRaces>();
  for (size_t i = 0; i < warps; ++i) {
    Warp &warp = cta->warps[i];
    warp.index = static_cast<uint32_t>(i);
    warp.cta = cta.get();
    warp.registers = registers + i * code.fileBytes;
    if (checks().init)
      warp.shadow = cta->shadowRegisters.warp(i);
    uint32_t lanes = std::min<uint32_t>(kLanes, cta->threads - static_cast<uint32_t>(i) * kLanes);
    warp.present = lanes == kLanes ? kFullMask : (1u << lanes) - 1;
    for (const Program::Constant &constant : code.constants) {
      uint64_t bits = constant.bits + (constant.isShared ? sharedWindowOf(rank) : 0);
      if (constant.bytes == 8)
        std::fill_n(warp.row<uint64_t>(constant.row), kLanes, bits);
      else
        std::fill_n(warp.row<uint32_t>(constant.row), kLanes, static_cast<uint32_t>(bits));
    }
  }
  return cta;
}

void Launch::begin(Cluster &cluster, uint64_t index) {
  static_cast<ClusterState &>(cluster) = {};
  cluster.index = static_cast<uint32_t>(index);
  cluster.actors = static_cast<uint32_t>(clusterSize() * cluster.ctas[0]->warps.size());
  cluster.sync.clear();
  cluster.choices.reset(setup_.seed, index);
  cluster.async.clear();
  for (auto &cta : cluster.ctas)
    begin(*cta);
}

void Launch::begin(Cta &cta) const {
  static_cast<CtaState &>(cta) = {};
  cta.index = grid().blockIndex(cta.cluster->index, cta.rank);
  device::Dim3 coordinates = grid().coordinatesOf(cta.index);
  cta.id[0] = coordinates.x, cta.id[1] = coordinates.y, cta.id[2] = coordinates.z;
  // Shared memory starts with a pattern that is no plausible number: reading it unwritten cannot
  // look right.
  std::ranges::fill(cta.shared, uint8_t{0xCD});
  if (checks().init) {
    std::ranges::fill(cta.sharedValidWords, 0);
    std::ranges::fill(cta.localValidWords, 0);
    cta.shadowRegisters.reset(program().staticRowsBegin);
  }
  if (cta.races)
    cta.races->reset(sharedBytes_);
  cta.warpgroups.assign((cta.warps.size() + 3) / 4, {});
  auto warps = static_cast<uint32_t>(cta.warps.size()), firstActor = cta.rank * warps;
  for (Warp &warp : cta.warps) {
    warp.beginBlock(program());
    warp.clock.reset(raceContext_.firstCluster + cta.cluster->index, firstActor + warp.index,
                     checks().tracksAccesses());
    warp.clock.followsLanes = program().releases;
    warp.clock.setBlock(firstActor, warps);
    fillSpecials(warp);
  }
}

Accessor accessorOf(Warp &warp, const Op &op, unsigned lane, AccessKind kind) {
  Accessor accessor;
  accessor.context = &warp.cta->launch->raceContext();
  accessor.clock = &warp.clock.of(lane);
  accessor.warp = &warp;
  accessor.op = &op;
  accessor.lane = lane;
  accessor.record.clock = warp.clock.time();
  accessor.record.instruction = std::min(op.instruction, AccessRecord::kLastInstruction);
  accessor.record.actor = warp.clock.actor;
  accessor.record.lane = lane;
  accessor.record.kindBits = static_cast<uint64_t>(kind);
  return accessor;
}

// The places at which the function around `line` was inlined, innermost first.
static std::vector<SourceLocation> callersOf(const Module &module, SourceLine line) {
  std::vector<SourceLocation> callers;
  while (line.inlinedAt) { // each site is older than those inlined there
    line = module.callSites[line.inlinedAt - 1];
    if (const std::string *file = module.fileOf(line))
      callers.push_back({*file, static_cast<int>(line.line)});
  }
  return callers;
}

std::string Launch::describe(const Op &op) const {
  const Program::Line &line = program().lines[op.instruction];
  std::string text = std::string(line.spelling) + " in line " + std::to_string(line.line);
  if (const std::string *file = program().module->fileOf(line.source))
    text += " (" + *file + ":" + std::to_string(line.source.line) + ")";
  return text;
}

CodeLocation locationOf(const Program &program, uint32_t instruction) {
  const Program::Line &line = program.lines[instruction];
  CodeLocation location;
  location.ptxFile = program.module->name;
  location.ptxLine = line.line;
  location.ptxText = program.module->lineText(line.line);
  if (const std::string *file = program.module->fileOf(line.source)) {
    location.sourceFile = *file;
    location.sourceLine = static_cast<int>(line.source.line);
    location.inlinedAt = callersOf(*program.module, line.source);
  }
  return location;
}

Finding Launch::findingAt(const Warp &warp, const Op &op, FindingKind kind, unsigned lane,
                          std::string message) const {
  Finding finding;
  static_cast<CodeLocation &>(finding) = locationOf(program(), op.instruction);
  finding.kind = kind;
  finding.message = std::move(message);
  finding.kernel = program().entry->name;
  finding.cta = grid().coordinatesOf(warp.cta->index);
  finding.ctaIndex = warp.cta->index;
  finding.clusterIndex = warp.cta->cluster->index;
  finding.warp = warp.index;
  finding.lane = lane;
  finding.lanes = 1u << lane;
  finding.seed = setup_.seed;
  return finding;
}

} // namespace tile::vgpu
