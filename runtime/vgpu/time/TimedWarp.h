// A warp that the time model steps: registers and handlers are the interpreter's (machine/Warp.h),
// lanes that have diverged are kept here. A split can wait at an mbarrier while the others go on.
#pragma once

#include "runtime/vgpu/machine/Cluster.h"
#include "runtime/vgpu/time/TimedProgram.h"

#include <optional>

namespace tile::vgpu {

/// Lanes of a warp that are at the same operation.
struct TimedSplit {
  uint32_t pc = 0, mask = 0;
  bool isWaiting = false; ///< at an mbarrier
};

class TimedWarp {
public:
  TimedWarp(const TimedProgram &program, Warp &warp);

  /// The split whose turn it is: the lowest operation first, so that lanes meet again; those that
  /// wait come last. There is one.
  size_t nextSplit();
  /// The lanes of the split that the operation's guard admits.
  uint32_t activeLanes(const TimedSplit &split) const;
  /// Sends the lanes for which the branch at `split` is taken to its target, the others on.
  void branch(size_t split, uint32_t taken);
  /// Ends lanes of a split; the others go on.
  void exitLanes(size_t split, uint32_t leaving);
  /// Computes the operation for these lanes, and gives what it cannot know the value that stands
  /// for it: zero.
  void execute(uint32_t pc, uint32_t lanes);
  /// Executes the rest of an instruction of several operations behind `pc`. Returns the operation
  /// after it.
  uint32_t finishInstruction(uint32_t pc, uint32_t lanes);

  /// The value of a 32- or 64-bit row in a lane.
  uint64_t value(uint32_t row, unsigned lane) const;
  /// Sets a predicate of these lanes.
  void setPredicate(uint32_t row, uint32_t lanes, bool value);
  void setValue(uint32_t row, unsigned lane, uint64_t value);

  const Op &operation(uint32_t pc) const { return program_.code[pc]; }
  uint32_t index() const { return warp_.index; }
  Warp &registers() { return warp_; }

  std::vector<TimedSplit> splits; ///< empty: it has ended

private:
  void branchIndexed(size_t split);

  const TimedProgram &program_;
  Warp &warp_;
};

/// Passes a branch or an exit at `split`; false if the operation is another.
bool passControl(TimedWarp &warp, size_t split, TimeKind kind, uint32_t lanes);

/// The first active lane.
inline unsigned firstLane(uint32_t lanes) { return static_cast<unsigned>(std::countr_zero(lanes)); }

/// Where a lane's access begins: `row` holds the address, the operation its offset.
inline uint64_t addressOf(const TimedWarp &warp, uint32_t pc, uint32_t row, unsigned lane) {
  return warp.value(row, lane) + static_cast<uint64_t>(warp.operation(pc).imm);
}
/// A shared address as in the first window of its cluster: what barriers are known by.
inline uint32_t inWindow(uint64_t address) { return static_cast<uint32_t>(address) & kOffsetMask; }

} // namespace tile::vgpu
