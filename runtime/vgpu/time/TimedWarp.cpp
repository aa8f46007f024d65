// Splits of a warp, and its values.
#include "runtime/vgpu/time/TimedWarp.h"

#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"

#include <algorithm>

namespace tile::vgpu {

TimedWarp::TimedWarp(const TimedProgram &program, Warp &warp)
    : splits{{0, warp.present, false}}, program_(program), warp_(warp) {
  for (uint32_t row : program.unknownRows)
    std::fill_n(warp.row<uint8_t>(row),
                std::max<size_t>(4, program.program->rowBytes[row / kRowBytes]) * kLanes,
                uint8_t{0});
}

size_t TimedWarp::nextSplit() {
  for (size_t i = 0; splits.size() > 1 && i < splits.size(); ++i)
    for (size_t j = i + 1; j < splits.size();)
      if (splits[i].pc == splits[j].pc && !splits[i].isWaiting && !splits[j].isWaiting) {
        splits[i].mask |= splits[j].mask;
        splits.erase(splits.begin() + static_cast<ptrdiff_t>(j));
      } else {
        ++j;
      }
  auto first = std::ranges::min_element(
      splits, {}, [](const TimedSplit &split) { return std::pair(split.isWaiting, split.pc); });
  return static_cast<size_t>(first - splits.begin());
}

uint32_t TimedWarp::activeLanes(const TimedSplit &split) const {
  const Op &op = operation(split.pc);
  if (!(op.flags & kHasGuard))
    return split.mask;
  return split.mask & (warp_.predicate(op.guardRow) ^ (0u - op.guardFlip));
}

void TimedWarp::branch(size_t split, uint32_t taken) {
  TimedSplit &from = splits[split];
  if (operation(from.pc).sources)
    return branchIndexed(split);
  auto target = static_cast<uint32_t>(operation(from.pc).imm);
  if (taken == from.mask) {
    from.pc = target;
    return;
  }
  ++from.pc;
  if (!taken)
    return;
  from.mask &= ~taken;
  splits.push_back({target, taken, false});
}

// Behind the operation is a jump for each index; lanes with another one than the first come back to
// it.
void TimedWarp::branchIndexed(size_t split) {
  TimedSplit &from = splits[split];
  uint32_t row = operation(from.pc).rows[0], same = 0;
  uint64_t first = value(row, firstLane(from.mask));
  forLanes(from.mask, [&](unsigned lane) { same |= uint32_t{value(row, lane) == first} << lane; });
  uint32_t pc = from.pc, others = from.mask & ~same;
  from.mask = same;
  from.pc = pc + 1 + static_cast<uint32_t>(first);
  if (others)
    splits.push_back({pc, others, false});
}

void TimedWarp::exitLanes(size_t split, uint32_t leaving) {
  if (leaving == splits[split].mask) {
    splits.erase(splits.begin() + static_cast<ptrdiff_t>(split));
    return;
  }
  splits[split].mask &= ~leaving;
  ++splits[split].pc;
}

void TimedWarp::execute(uint32_t pc, uint32_t lanes) {
  if (!program_.ops[pc].isExecuted || !lanes)
    return;
  const Op &op = operation(pc);
  warp_.mask = lanes;
  warp_.pc = pc + 1;
  op.real(warp_, op);
}

uint32_t TimedWarp::finishInstruction(uint32_t pc, uint32_t lanes) {
  for (++pc; pc < program_.ops.size() && program_.ops[pc].belongsToLast; ++pc)
    execute(pc, lanes);
  return pc;
}

uint64_t TimedWarp::value(uint32_t row, unsigned lane) const {
  return program_.program->rowBytes[row / kRowBytes] == 8 ? warp_.row<uint64_t>(row)[lane]
                                                          : warp_.row<uint32_t>(row)[lane];
}

void TimedWarp::setPredicate(uint32_t row, uint32_t lanes, bool value) {
  mergeMask(warp_.predicate(row), value ? lanes : 0, lanes);
}

void TimedWarp::setValue(uint32_t row, unsigned lane, uint64_t value) {
  if (program_.program->rowBytes[row / kRowBytes] == 8)
    warp_.row<uint64_t>(row)[lane] = value;
  else
    warp_.row<uint32_t>(row)[lane] = static_cast<uint32_t>(value);
}

bool passControl(TimedWarp &warp, size_t split, TimeKind kind, uint32_t lanes) {
  if (kind == TimeKind::Branch) {
    warp.branch(split, lanes);
    return true;
  }
  if (kind != TimeKind::Exit)
    return false;
  if (lanes)
    warp.exitLanes(split, lanes);
  else
    ++warp.splits[split].pc;
  return true;
}

} // namespace tile::vgpu
