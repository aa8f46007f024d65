// Loads, stores, shared memory and cp.async.
#include "runtime/vgpu/time/SmEngine.h"

#include "runtime/vgpu/machine/Lanes.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

constexpr uint64_t kSectorBytes = 32, kSectorsOfLine = 4;
constexpr unsigned kBanks = 32, kBankBytes = 4;

// Cycles of shared memory for one access of a warp: lanes of a phase that want different words of a
// bank take turns.
double bankCycles(const TimedWarp &warp, uint32_t pc, uint32_t row, unsigned bytes,
                  uint32_t lanes) {
  unsigned together = bytes >= 16  ? 8
                      : bytes == 8 ? 16
                                   : 32,
           words = std::max(1u, bytes / kBankBytes);
  double cycles = 0;
  for (unsigned first = 0; first < kLanes; first += together) {
    std::array<std::vector<uint64_t>, kBanks> wanted;
    for (unsigned lane = first; lane < first + together; ++lane)
      for (unsigned word = 0; (lanes >> lane & 1) && word < words; ++word) {
        uint64_t at = addressOf(warp, pc, row, lane) / kBankBytes + word;
        auto &bank = wanted[at % kBanks];
        if (!std::ranges::count(bank, at))
          bank.push_back(at);
      }
    size_t most = 0;
    for (const auto &bank : wanted)
      most = std::max(most, bank.size());
    cycles += static_cast<double>(most);
  }
  return std::max(1.0, cycles);
}

} // namespace

double SmEngine::throughMemoryPipe(const Issue &issue, double cycles) {
  memoryFree_ = std::max(memoryFree_, issue.time) + cycles;
  return memoryFree_;
}

// Products that read shared memory come first; others get the cycles they leave.
double SmEngine::besideWgmma(const Issue &issue, double cycles) const {
  if (schedulers_[issue.warp.scheduler].tensorFree <= issue.time)
    return cycles;
  return cycles / std::max(calibration_.shared.leastShare, 1 - wgmmaShare_);
}

// In ascending order.
std::vector<uint64_t> SmEngine::sectorsOf(const Issue &issue) const {
  std::vector<uint64_t> sectors;
  forLanes(issue.lanes, [&](unsigned lane) {
    uint64_t first = globalAddressOf(issue.warp.lanes, issue.pc, issue.op.form.kind, lane);
    for (uint64_t at = first / kSectorBytes; at <= (first + issue.op.form.bytes - 1) / kSectorBytes;
         ++at)
      sectors.push_back(at);
  });
  std::ranges::sort(sectors);
  auto same = std::ranges::unique(sectors);
  sectors.erase(same.begin(), same.end());
  return sectors;
}

static double pipeCycles(const std::vector<uint64_t> &sectors) {
  double lines = 0;
  for (size_t i = 0; i < sectors.size(); ++i)
    lines += i == 0 || sectors[i] / kSectorsOfLine != sectors[i - 1] / kSectorsOfLine;
  return std::max({1.0, static_cast<double>(sectors.size()) / kSectorsOfLine, lines});
}

// When the sectors that L1 has not got have come; nothing if it has all.
double SmEngine::fetchSectors(double now, const std::vector<uint64_t> &sectors, bool passesL1) {
  double missed = 0, cold = 0;
  for (uint64_t sector : sectors) {
    if (!passesL1 && l1_.has(sector))
      continue;
    missed += kSectorBytes;
    // Each block brings its share of what blocks have in common.
    if (seen_.insert(sector).second)
      cold += footprint_.sharedSectors.contains(sector)
                  ? static_cast<double>(kSectorBytes) / activeSms_
                  : kSectorBytes;
    if (!passesL1)
      l1_.add(sector);
  }
  if (missed == 0)
    return now + calibration_.load.l1;
  constexpr double kMoreThanShare = 1.5; // of shared sectors: some is its own
  bool waitsForDram = cold > kMoreThanShare / activeSms_ * missed;
  double latency =
      memory_.cyclesOf(waitsForDram ? calibration_.load.dramNs : calibration_.load.l2Ns);
  return memory_.fetch(now, {missed, 1, cold / missed, latency});
}

void SmEngine::loadGlobal(Issue &issue) {
  std::vector<uint64_t> sectors = sectorsOf(issue);
  double cycles = pipeCycles(sectors);
  report_.busy[static_cast<size_t>(Pipe::Memory)] += cycles;
  issue.ready = fetchSectors(throughMemoryPipe(issue, cycles), sectors, issue.op.form.flag);
}

void SmEngine::storeGlobal(Issue &issue) {
  double cycles = pipeCycles(sectorsOf(issue));
  report_.busy[static_cast<size_t>(Pipe::Memory)] += cycles;
  double passed = throughMemoryPipe(issue, cycles);
  std::map<uint64_t, uint64_t> written; // bytes, by sector
  forLanes(issue.lanes, [&](unsigned lane) {
    uint64_t address = globalAddressOf(issue.warp.lanes, issue.pc, issue.op.form.kind, lane);
    for (uint64_t at = 0; at < issue.op.form.bytes; at += kBankBytes)
      written[(address + at) / kSectorBytes] += std::min<uint64_t>(kBankBytes, issue.op.form.bytes);
  });
  double bytes = 0;
  for (auto [sector, count] : written)
    bytes += kSectorBytes * (count >= kSectorBytes ? 1 : calibration_.store.partialSector);
  issue.warp.hasStored = true;
  issue.ready = issue.time;
  memory_.store(passed, bytes);
}

void SmEngine::accessShared(Issue &issue) {
  const TimeForm &form = issue.op.form;
  const Op &op = issue.warp.lanes.operation(issue.pc);
  bool isMatrix = form.kind == TimeKind::LoadMatrix || form.kind == TimeKind::StoreMatrix;
  double cycles = isMatrix
                      ? form.number
                      : bankCycles(issue.warp.lanes, issue.pc, decidingRows(op, form.kind).front(),
                                   form.bytes, issue.lanes);
  report_.busy[static_cast<size_t>(Pipe::Memory)] += cycles;
  issue.ready = throughMemoryPipe(issue, besideWgmma(issue, cycles)) + calibration_.shared.latency;
  issue.warp.lanes.execute(issue.pc, issue.lanes);
}

void SmEngine::exchange(Issue &issue) {
  report_.busy[static_cast<size_t>(Pipe::Memory)] += 1;
  issue.ready = throughMemoryPipe(issue, besideWgmma(issue, 1)) + calibration_.shuffleLatency;
  issue.warp.lanes.execute(issue.pc, issue.lanes);
}

// An atomic that hands out work.
void SmEngine::fetchWork(Issue &issue) {
  issue.ready = issue.time + memory_.cyclesOf(calibration_.atomicNs);
  takeTurn(launch_, issue.warp.lanes, issue.pc, issue.lanes, issue.warp.block.fetches);
}

void SmEngine::copyAsync(Issue &issue) {
  std::vector<uint64_t> sectors = sectorsOf(issue);
  double cycles = pipeCycles(sectors);
  report_.busy[static_cast<size_t>(Pipe::Memory)] += cycles;
  double arrival = fetchSectors(throughMemoryPipe(issue, cycles), sectors, true);
  issue.warp.copiesEnd = std::max(issue.warp.copiesEnd, arrival);
}

void SmEngine::waitForCopies(Issue &issue) {
  EngineWarp &warp = issue.warp;
  double end = issue.time + calibration_.asyncCopyWait;
  size_t open = issue.op.form.number;
  if (warp.copyGroups.size() > open)
    end = std::max(end, warp.copyGroups[warp.copyGroups.size() - 1 - open]);
  noteStall(issue.pc, Stall::Copies, end - issue.time);
  warp.next = end;
}

} // namespace tile::vgpu
