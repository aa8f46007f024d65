// A run: events, blocks that come and go, and what is said at the end. How warps issue is in
// SmEngineIssue.cpp.
#include "runtime/vgpu/time/SmEngine.h"

#include "runtime/vgpu/isa/tensor/WgmmaForm.h"

#include <tile/Error.h>

#include <algorithm>
#include <cmath>

namespace tile::vgpu {

const char *nameOf(Stall stall) {
  static constexpr const char *names[] = {"operand", "pipe",      "tensor", "memory", "mbarrier",
                                          "barrier", "warpgroup", "wgmma",  "copies"};
  static_assert(std::size(names) == kStalls);
  return names[static_cast<size_t>(stall)];
}

static constexpr double kBytesOfKb = 1024;

SmEngine::SmEngine(TimedLaunch &launch, const Footprint &footprint, const Supply &supply,
                   const SmConditions &conditions)
    : launch_(launch), program_(launch.program()), calibration_(launch.calibration()),
      footprint_(footprint), supply_(supply), conditions_(conditions),
      memory_(calibration_, conditions.clockGhz, launch.activeMultiprocessors(),
              conditions.isDirty),
      l1_(calibration_.load.l1Kb * kBytesOfKb -
          static_cast<double>(launch.sharedBytes() * launch.occupancy().blocks)),
      activeSms_(launch.activeMultiprocessors()) {}

SmReport SmEngine::run(std::vector<uint64_t> turns, uint64_t all) {
  turns_ = std::move(turns);
  for (unsigned i = 0; i < launch_.occupancy().blocks; ++i)
    startBlock(0);
  while (!events_.empty()) {
    Event event = events_.top();
    events_.pop();
    handle(event);
  }
  for (const auto &block : blocks_)
    if (block->live)
      reportDeadlock();
  return finish(all);
}

void SmEngine::push(double time, EventKind kind, EngineWarp *warp, EngineBlock *block,
                    uint32_t address, int64_t bytes) {
  events_.push({time, order_++, kind, warp, block, address, bytes});
}

void SmEngine::startBlock(double now) {
  if (nextTurn_ >= turns_.size())
    return;
  auto block = std::make_unique<EngineBlock>();
  if (rooms_.empty())
    rooms_.push_back(launch_.makeRoom());
  block->room = std::move(rooms_.back());
  rooms_.pop_back();
  block->cta = &launch_.begin(*block->room, turns_[nextTurn_++]);
  block->warpgroups.resize((block->cta->warps.size() + kWarpsOfGroup - 1) / kWarpsOfGroup);
  double start = std::max(now, lastLaunch_ + memory_.cyclesOf(calibration_.block.launchNs));
  lastLaunch_ = start;
  for (Warp &warp : block->cta->warps) {
    block->warps.push_back(std::make_unique<EngineWarp>(program_, warp, *block));
    push(start, EventKind::Run, block->warps.back().get());
  }
  block->live = static_cast<unsigned>(block->warps.size());
  blocks_.push_back(std::move(block));
}

void SmEngine::endBlock(EngineBlock &block, double now) {
  blockEnds_.push_back(now);
  end_ = std::max(end_, now);
  rooms_.push_back(std::move(block.room));
  std::erase_if(blocks_, [&](const auto &other) { return other.get() == &block; });
  bool isAlone = launch_.occupancy().blocks == 1;
  startBlock(now + (isAlone ? calibration_.block.handover : calibration_.block.handoverShared));
}

void SmEngine::handle(const Event &event) {
  switch (event.kind) {
  case EventKind::Run:
    run(*event.warp, event.time);
    break;
  case EventKind::BytesArrive:
    event.block->mbarriers[event.address].bytes -= event.bytes;
    complete(*event.block, event.address, event.time);
    break;
  case EventKind::RemoteArrival:
    --event.block->mbarriers[event.address].pending;
    complete(*event.block, event.address, event.time);
    break;
  case EventKind::BlockEnds:
    endBlock(*event.block, event.time);
    break;
  }
}

// Blocks that were not simulated take as long as the second half of those that were.
SmReport SmEngine::finish(uint64_t allBlocks) {
  double cycles = std::max(end_, memory_.outFree()), factor = 1;
  if (turns_.size() < allBlocks && blockEnds_.size() > 2) {
    size_t together = launch_.occupancy().blocks;
    size_t half = std::max<size_t>(1, blockEnds_.size() / 2 / together * together);
    double each =
        (blockEnds_.back() - blockEnds_[half - 1]) / static_cast<double>(blockEnds_.size() - half);
    factor = (cycles + each * static_cast<double>(allBlocks - turns_.size())) / cycles;
    cycles *= factor;
  }
  for (double &busy : report_.busy)
    busy *= factor;
  report_.issued *= factor;
  report_.loadedBytes = memory_.loadedBytes * factor;
  report_.storedBytes = memory_.storedBytes * factor;
  report_.dramBytes = memory_.dramBytes * factor;
  double dramRate = calibration_.dram.gbs / conditions_.clockGhz / activeSms_;
  double exponent = calibration_.dram.blend;
  report_.cycles = std::pow(
      std::pow(cycles, exponent) + std::pow(report_.dramBytes / dramRate, exponent), 1 / exponent);
  return std::move(report_);
}

void SmEngine::reportDeadlock() const {
  for (const auto &block : blocks_)
    for (const auto &warp : block->warps)
      if (!warp->hasEnded) {
        const Program &program = *program_.program;
        const Program::Line &line = program.lines[program_.code[warp->lastOp].instruction];
        throw Error(Fault::User, ErrorCode::Unsupported,
                    "the time model cannot go on: warp " + std::to_string(warp->lanes.index()) +
                        " of block " + std::to_string(block->cta->index) + " waits for ever at " +
                        std::string(line.spelling),
                    {program.module->name.c_str(), line.line});
      }
  throw Error(Fault::Compiler, ErrorCode::InternalCompilerError, "no warp of the time model waits");
}

} // namespace tile::vgpu
