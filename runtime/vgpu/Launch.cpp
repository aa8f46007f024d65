// Blocks on host threads, warps in turns, deadlocks, and where a finding happened.
#include "runtime/vgpu/Launch.h"

#include "runtime/vgpu/Barrier.h"
#include "runtime/vgpu/Lanes.h"

#include <algorithm>
#include <thread>

namespace tile::vgpu {

// Blocks that spin on others need those resident: a host thread keeps up to this many unfinished blocks in rotation.
static constexpr size_t kMaxResident = 256;
static constexpr uint64_t kTurnsPerVisit = 4;

Launch::Launch(LaunchSetup setup) : setup_(std::move(setup)) {
  sharedBytes_ = program().staticSharedBytes;
  if (setup_.config.dynamicSharedBytes)
    sharedBytes_ = program().dynamicSharedAddress - kSharedBase + setup_.config.dynamicSharedBytes;
  if (setup_.counting)
    instructionCounters_.resize(program().lines.size());
}

void Launch::run() {
  uint64_t blocks = setup_.config.grid.count();
  uint64_t threads = program().usesGlobalAtomics ? 1 : std::min<uint64_t>(setup_.threads, blocks);
  std::vector<std::thread> helpers;
  for (uint64_t i = 1; i < threads; ++i)
    helpers.emplace_back([this] { worker(); });
  worker();
  for (std::thread &helper : helpers)
    helper.join();
  if (failure_)
    std::rethrow_exception(failure_);
  // Which later blocks had started when the first fault appeared depends on timing; the first faulty block does not.
  if (findings_.empty())
    return;
  uint64_t first = std::ranges::min(findings_, {}, &Finding::ctaIndex).ctaIndex;
  std::erase_if(findings_, [&](const Finding &finding) { return finding.ctaIndex != first; });
}

void Launch::worker() {
  try {
    uint64_t blocks = setup_.config.grid.count();
    std::vector<std::unique_ptr<Cta>> idle, resident;
    for (;;) {
      // Prefer a new block; when those are all started, go round the unfinished ones.
      if (resident.size() < kMaxResident && nextCta_.load() < std::min(blocks, stopAt_.load())) {
        uint64_t index = nextCta_.fetch_add(1);
        if (index < std::min(blocks, stopAt_.load())) {
          std::unique_ptr<Cta> cta = idle.empty() ? makeCta() : std::move(idle.back());
          if (!idle.empty())
            idle.pop_back();
          begin(*cta, index);
          resident.push_back(std::move(cta));
        }
      }
      if (resident.empty()) {
        collectCounters(idle);
        return;
      }
      std::unique_ptr<Cta> cta = std::move(resident.back());
      resident.pop_back();
      uint64_t turns = 0;
      if (advance(*cta, turns)) {
        retire(*cta);
        idle.push_back(std::move(cta));
      } else {
        resident.insert(resident.begin(), std::move(cta));
      }
    }
  } catch (...) {
    std::lock_guard lock(mutex_);
    stopAt_ = 0;
    if (!failure_)
      failure_ = std::current_exception();
  }
}

void Launch::retire(Cta &cta) {
  std::lock_guard lock(mutex_);
  ++statistics_.blocks;
  for (const Warp &warp : cta.warps)
    statistics_.warpInstructions += warp.instructions;
  counters_ += cta.counters;
  if (cta.findings.empty())
    return;
  findings_.insert(findings_.end(), cta.findings.begin(), cta.findings.end());
  // Blocks after the first faulty one are not needed; those before it finish, so that reports do not depend on timing.
  uint64_t stop = stopAt_.load();
  while (cta.index + 1 < stop && !stopAt_.compare_exchange_weak(stop, cta.index + 1)) {
  }
}

void Launch::collectCounters(const std::vector<std::unique_ptr<Cta>> &ctas) {
  std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Cta> &cta : ctas)
    for (size_t i = 0; i < cta->instructionCounters.size(); ++i) {
      Counters &counters = cta->instructionCounters[i];
      const Program::Line &line = program().lines[i];
      counters.macs = line.macs * counters.warpInstructions;
      counters.mma = line.macs ? counters.warpInstructions : 0;
      instructionCounters_[i] += counters;
      counters_ += counters;
    }
}

std::unique_ptr<Cta> Launch::makeCta() const {
  auto cta = std::make_unique<Cta>();
  cta->launch = const_cast<Launch *>(this);
  cta->threads = static_cast<uint32_t>(setup_.config.block.count());
  cta->instructionCounters.resize(instructionCounters_.size());
  const Program &code = program();
  size_t warps = (cta->threads + kLanes - 1) / kLanes;
  cta->warps.resize(warps);
  cta->registerBytes.resize(warps * code.fileBytes + 64);
  auto misalignment = reinterpret_cast<uintptr_t>(cta->registerBytes.data()) % 64;
  uint8_t *registers = cta->registerBytes.data() + (misalignment ? 64 - misalignment : 0);
  if (checks().init)
    cta->shadowRegisters = ShadowRegisterFile(warps, code.fileBytes);
  // Room for the widest access at the end keeps the bounds check a single compare.
  cta->shared.resize(sharedBytes_ + 16);
  cta->sharedValidWords.resize(sharedBytes_ / 64 + 2);
  cta->sharedValid = ValidBits(cta->sharedValidWords.data());
  cta->local.resize(warps * kLanes * code.localBytes + 16);
  cta->localValidWords.resize(cta->local.size() / 64 + 2);
  cta->localValid = ValidBits(cta->localValidWords.data());
  if (checks().race)
    cta->races = std::make_unique<RaceShadow>();
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
      if (constant.bytes == 8)
        std::fill_n(warp.row<uint64_t>(constant.row), kLanes, constant.bits);
      else
        std::fill_n(warp.row<uint32_t>(constant.row), kLanes, static_cast<uint32_t>(constant.bits));
    }
  }
  return cta;
}

void Launch::begin(Cta &cta, uint64_t index) const {
  const device::Dim3 &grid = setup_.config.grid;
  cta.index = index;
  cta.id[0] = static_cast<uint32_t>(index % grid.x);
  cta.id[1] = static_cast<uint32_t>(index / grid.x % grid.y);
  cta.id[2] = static_cast<uint32_t>(index / grid.x / grid.y);
  cta.counters = {};
  cta.findings.clear();
  cta.cachedBase = 1, cta.cachedEnd = 0;
  // Shared memory starts with a pattern that is no plausible number: reading it unwritten cannot look right.
  std::ranges::fill(cta.shared, uint8_t{0xCD});
  if (checks().init) {
    std::ranges::fill(cta.sharedValidWords, 0);
    std::ranges::fill(cta.localValidWords, 0);
    cta.shadowRegisters.reset(program().staticRowsBegin);
  }
  if (cta.races)
    cta.races->reset(sharedBytes_, static_cast<unsigned>(cta.warps.size()));
  for (Barrier &barrier : cta.barriers)
    barrier = {};
  for (Warp &warp : cta.warps) {
    warp.mask = warp.present;
    warp.pc = 0;
    warp.exited = 0;
    warp.waits = false;
    warp.status = WarpStatus::Ready;
    warp.splits.clear();
    warp.copies.reset();
    warp.clock = {};
    warp.clock.known[warp.index] = 1;
    warp.instructions = warp.turns = warp.clockReads = 0;
    fillSpecials(warp);
  }
}

uint64_t Launch::specialValue(const Cta &cta, Special what, unsigned warp, unsigned lane) const {
  const device::LaunchConfig &config = setup_.config;
  uint32_t thread = warp * kLanes + lane;
  auto pick = [&](const device::Dim3 &dim, int axis) {
    return axis == 0 ? dim.x : axis == 1 ? dim.y : dim.z;
  };
  auto axisFrom = [&](Special first) { return static_cast<int>(what) - static_cast<int>(first); };
  if (what >= Special::NtidX && what <= Special::NtidZ)
    return pick(config.block, axisFrom(Special::NtidX));
  if (what >= Special::CtaidX && what <= Special::CtaidZ)
    return cta.id[axisFrom(Special::CtaidX)];
  if (what >= Special::NctaidX && what <= Special::NctaidZ)
    return pick(config.grid, axisFrom(Special::NctaidX));
  // Without clusters each block is its own.
  if (what >= Special::ClusterIdX && what <= Special::ClusterIdZ)
    return cta.id[axisFrom(Special::ClusterIdX)];
  if (what >= Special::NclusterIdX && what <= Special::NclusterIdZ)
    return pick(config.grid, axisFrom(Special::NclusterIdX));
  if (what >= Special::ClusterCtaidX && what <= Special::ClusterCtaidZ)
    return 0;
  if (what >= Special::ClusterNctaidX && what <= Special::ClusterNctaidZ)
    return 1;
  switch (what) {
  case Special::TidX:
    return thread % config.block.x;
  case Special::TidY:
    return thread / config.block.x % config.block.y;
  case Special::TidZ:
    return thread / config.block.x / config.block.y;
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return warp;
  case Special::NwarpId:
    return cta.warps.size();
  case Special::SmId:
    return cta.index % setup_.smCount;
  case Special::NsmId:
    return setup_.smCount;
  case Special::LaneMaskEq:
    return 1u << lane;
  case Special::LaneMaskLe:
    return (2u << lane) - 1;
  case Special::LaneMaskLt:
    return (1u << lane) - 1;
  case Special::LaneMaskGe:
    return ~((1u << lane) - 1);
  case Special::LaneMaskGt:
    return ~((2u << lane) - 1);
  case Special::DynamicSharedSize:
    return config.dynamicSharedBytes;
  case Special::TotalSharedSize:
    return sharedBytes_;
  case Special::ClusterNctarank:
    return 1;
  default: // gridid, cluster_ctarank, is_explicit_cluster
    return 0;
  }
}

void Launch::fillSpecials(Warp &warp) const {
  for (const Program::SpecialRow &special : program().specials) {
    uint32_t *row = warp.row<uint32_t>(special.row);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      row[lane] = static_cast<uint32_t>(specialValue(*warp.cta, special.what, warp.index, lane));
  }
}

bool Launch::advance(Cta &cta, uint64_t &turns) {
  try {
    for (;;) {
      bool progress = false, allExited = true;
      for (Warp &warp : cta.warps) {
        if (warp.status == WarpStatus::Ready) {
          progress = true;
          uint64_t before = warp.turns;
          warp.run();
          turns += warp.turns - before;
          if (warp.turns > setup_.maxBranches / 4096 + 1)
            warp.stop(program().code[warp.mask ? warp.pc : 0], FindingKind::StepLimit, 0,
                      "the warp has branched back more than " + std::to_string(setup_.maxBranches) +
                          " times: an endless loop, or raise TILE_VGPU_MAX_BRANCHES");
          if (warp.status == WarpStatus::Exited)
            noteExit(warp);
        }
        allExited &= warp.status == WarpStatus::Exited;
      }
      if (allExited)
        return true;
      if (!progress)
        reportDeadlock(cta);
      // Only blocks that can hear of each other may be waiting for one that has not started.
      if (turns > kTurnsPerVisit && program().usesGlobalAtomics)
        return false;
    }
  } catch (const StopCta &) {
    return true;
  }
}

void Launch::reportDeadlock(Cta &cta) const {
  std::string who;
  const Warp *first = nullptr;
  for (const Warp &warp : cta.warps) {
    if (warp.status != WarpStatus::AtBarrier)
      continue;
    const Barrier &barrier = cta.barriers[warp.barrier];
    who += (first ? "; warp " : "warp ") + std::to_string(warp.index) + " waits at " +
           describe(program().code[warp.pc - 1]) + " for barrier " + std::to_string(warp.barrier) +
           " (" + std::to_string(barrier.arrived) + " of " +
           std::to_string(expectedThreads(cta, barrier)) + " threads have arrived)";
    first = first ? first : &warp;
  }
  if (first)
    const_cast<Warp *>(first)->stop(program().code[first->pc - 1], FindingKind::Deadlock,
                                    std::countr_zero(first->mask), "deadlock: " + who);
  throw StopCta();
}

static const std::string *sourceFileOf(const Module &module, SourceLine source) {
  auto file = module.files.find(source.file);
  return file == module.files.end() ? nullptr : &file->second;
}

std::string Launch::describe(const Op &op) const {
  const Program::Line &line = program().lines[op.instruction];
  std::string text = std::string(line.spelling) + " in line " + std::to_string(line.line);
  if (const std::string *file = sourceFileOf(*program().module, line.source))
    text += " (" + *file + ":" + std::to_string(line.source.line) + ")";
  return text;
}

Finding Launch::place(const Warp &warp, const Op &op, FindingKind kind, unsigned lane,
                      std::string message) const {
  const Program::Line &line = program().lines[op.instruction];
  Finding finding;
  finding.kind = kind;
  finding.message = std::move(message);
  finding.ptxFile = program().module->name;
  finding.ptxLine = line.line;
  finding.ptxText = program().module->lineText(line.line);
  if (const std::string *file = sourceFileOf(*program().module, line.source)) {
    finding.sourceFile = *file;
    finding.sourceLine = static_cast<int>(line.source.line);
  }
  finding.kernel = program().entry->name;
  std::copy_n(warp.cta->id, 3, finding.cta);
  finding.ctaIndex = warp.cta->index;
  finding.warp = warp.index;
  finding.lane = lane;
  finding.seed = setup_.seed;
  return finding;
}

} // namespace tile::vgpu
