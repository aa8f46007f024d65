#include "runtime/vgpu/time/Occupancy.h"

#include "ir/target/Target.h"
#include "runtime/vgpu/machine/BarrierForm.h"
#include "runtime/vgpu/machine/Targets.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace tile::vgpu {
namespace {

// Live ranges as the text has them: from the first assignment to the last use, and whole loops
// where a value goes round.
class Liveness {
public:
  explicit Liveness(const Program &program) : program_(program) {}

  unsigned most() {
    findUses();
    std::vector<int> change(program_.code.size() + 2);
    for (const auto &[row, range] : ranges_) {
      int words = isPredicate(row) ? 0 : program_.rowBytes[row / kRowBytes] / 4;
      change[range.first] += words;
      change[range.last + 1] -= words;
    }
    int alive = 0, most = 0;
    for (int step : change)
      most = std::max(most, alive += step);
    return static_cast<unsigned>(most);
  }

private:
  struct Range {
    uint32_t first, last;
    bool isReadFirst; // its value comes from an earlier round
  };

  void findUses() {
    for (uint32_t i = 0; i < program_.code.size(); ++i) {
      const Op &op = program_.code[i];
      for (unsigned r = op.targets; r < static_cast<unsigned>(op.targets) + op.sources; ++r)
        use(op.rows[r], i, true);
      for (unsigned r = 0; r < op.targets; ++r)
        use(op.rows[r], i, op.flags & kAccumulates);
    }
    widenInLoops();
  }

  void use(uint32_t row, uint32_t at, bool reads) {
    if (row >= program_.staticRowsBegin)
      return;
    auto [found, isNew] = ranges_.try_emplace(row, Range{at, at, reads});
    found->second.last = at;
  }

  // A value that lives into a loop, or comes round in it, lives to its end.
  void widenInLoops() {
    for (uint32_t i = 0; i < program_.code.size(); ++i) {
      const Op &op = program_.code[i];
      if (!(op.flags & kJumps) || op.imm > i)
        continue;
      auto begin = static_cast<uint32_t>(op.imm);
      for (auto &[row, range] : ranges_) {
        bool livesIn = range.first < begin && range.last >= begin && range.last < i;
        bool comesRound = range.isReadFirst && range.first >= begin && range.first <= i;
        if (livesIn || comesRound)
          range.last = std::max(range.last, i);
        if (comesRound)
          range.first = std::min(range.first, begin);
      }
    }
  }

  bool isPredicate(uint32_t row) const { return program_.rowBytes[row / kRowBytes] == 0; }

  const Program &program_;
  std::unordered_map<uint32_t, Range> ranges_;
};

unsigned roundUp(unsigned value, unsigned unit) { return (value + unit - 1) / unit * unit; }

} // namespace

unsigned estimateRegisters(const Program &program) {
  constexpr double kBeyondValues = 1.1; // schedules keep more alive than the text
  constexpr unsigned kLeast = 16, kMost = 255, kUnit = 8;
  if (program.entry->maxRegisters)
    return program.entry->maxRegisters;
  auto values = static_cast<unsigned>(std::ceil(Liveness(program).most() * kBeyondValues));
  const uint32_t(&threads)[3] = program.entry->requiredThreads[0] ? program.entry->requiredThreads
                                                                  : program.entry->maxThreads;
  unsigned most = kMost;
  uint64_t count = uint64_t{threads[0]} * threads[1] * threads[2];
  constexpr uint64_t kRegistersOfSm = 65536;
  if (count) // the launch must be possible, with as many blocks as the kernel says
    most = static_cast<unsigned>(std::min<uint64_t>(
        kMost,
        kRegistersOfSm / (count * std::max(1u, program.entry->minBlocksPerSm)) / kUnit * kUnit));
  return std::clamp(roundUp(values, kUnit), kLeast, std::max(kLeast, most));
}

unsigned countBarriers(const Program &program) {
  unsigned count = 0;
  std::unordered_map<uint32_t, uint64_t> constants;
  for (const Program::Constant &constant : program.constants)
    constants[constant.row] = constant.bits;
  for (const Op &op : program.code) {
    TimeKind kind = program.lines[op.instruction].time.kind;
    if (kind != TimeKind::BarrierSync && kind != TimeKind::BarrierArrive)
      continue;
    auto number = constants.find(op.rows[op.targets]);
    count = std::max(count, number == constants.end() ? kNumBarriers
                                                      : static_cast<unsigned>(number->second) + 1);
  }
  return count;
}

Occupancy occupancyOf(const Program &program, const device::DeviceProps &props, unsigned threads,
                      size_t sharedBytes, unsigned clusterSize, const AssemblerFigures &known,
                      const Calibration &calibration) {
  const ir::Target gpu = *ir::findGpu(props.target);
  constexpr unsigned kUnit = 8, kWarpUnit = 4;
  Occupancy result;
  result.registersAreEstimated = !known.registers;
  result.barriersAreEstimated = !known.barriers;
  result.registers = known.registers ? *known.registers : estimateRegisters(program);
  result.barriers = known.barriers ? *known.barriers : countBarriers(program);
  unsigned warps = (threads + 31) / 32;
  unsigned warpsByRegisters = static_cast<unsigned>(gpu.registersPerSm) /
                              (roundUp(std::max(1u, result.registers), kUnit) * 32) / kWarpUnit *
                              kWarpUnit;
  const std::pair<size_t, const char *> limits[] = {
      {static_cast<size_t>(gpu.maxThreadsPerSm) / (32 * warps), "threads"},
      {warpsByRegisters / warps, "registers"},
      {props.sharedPerSm / (sharedBytes + kReservedSharedBytes), "shared memory"},
      {static_cast<size_t>(gpu.maxBlocksPerSm), "blocks"},
      {static_cast<size_t>(calibration.device.barriers) / std::max(1u, result.barriers),
       "barriers"}};
  auto [blocks, limit] =
      *std::ranges::min_element(limits, {}, &std::pair<size_t, const char *>::first);
  result.blocks = static_cast<unsigned>(std::max<size_t>(1, blocks));
  result.limit = limit;
  if (clusterSize > 1) // clusters are handed out by GPC: taken for one block at a time
    result.blocks = 1;
  return result;
}

} // namespace tile::vgpu
