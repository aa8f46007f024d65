// Bulk copies: the engine takes one operation after the other, bytes come by the port.
#include "runtime/vgpu/isa/async/CopyForms.h"
#include "runtime/vgpu/time/SmEngine.h"

#include <algorithm>
#include <bit>

namespace tile::vgpu {

// Returns when TMA has taken the operation.
double SmEngine::startBulk(Issue &issue, double issueCycles) {
  bulkFree_ = std::max(bulkFree_, issue.time + calibration_.tma.start) + calibration_.tma.occupancy;
  report_.busy[static_cast<size_t>(Pipe::BulkCopy)] += calibration_.tma.occupancy;
  issue.warp.next = issue.time + issueCycles;
  return bulkFree_;
}

// A multicast brings its own part and what its neighbours send: as many boxes as it names blocks.
void SmEngine::loadBox(Issue &issue) {
  const auto &tma = calibration_.tma;
  Box box = boxOf(launch_, issue.warp.lanes, issue.pc, firstLane(issue.lanes));
  bool isMulticast = issue.op.form.flag;
  constexpr uint64_t kMask = 0xffff;
  int copies = isMulticast ? std::popcount(operand(issue, kBulkMask) & kMask) : 1;
  double started = startBulk(issue, tma.issue);
  size_t load = nextLoad_++;
  bool isKnown = load < supply_.distinct.size();
  double distinct = isKnown ? supply_.distinct[load] : supply_.meanDistinct;
  double fromDram = isKnown ? supply_.fromDram[load] : supply_.meanFromDram;
  constexpr double kHalf = 0.5, kAllDistinct = 0.95;
  bool isCold =
      isKnown ? supply_.isCold[load] : supply_.meanFromDram > kHalf * supply_.meanDistinct;
  double latency = tma.l2Ns;
  if (isCold) // where others load the same lines, one of them has asked before
    latency += (tma.dramNs - tma.l2Ns) * (distinct < kAllDistinct ? tma.coldShared : 1);
  latency = memory_.cyclesOf(latency);
  if (copies > 1) {
    latency += calibration_.multicast.latency;
    distinct = distinct / copies * calibration_.multicast.cost;
  }
  double bytes = static_cast<double>(box.bytesInside()) * copies;
  double arrival = memory_.fetch(started, {bytes, distinct, fromDram / copies, latency});
  push(arrival, EventKind::BytesArrive, nullptr, &issue.warp.block,
       inWindow(operand(issue, kBulkBarrier)), static_cast<int64_t>(box.bytes()) * copies);
}

void SmEngine::loadRange(Issue &issue) {
  auto bytes = static_cast<int64_t>(operand(issue, kBulkBytes));
  double started = startBulk(issue, calibration_.tma.issue);
  double arrival = memory_.fetch(
      started, {static_cast<double>(bytes), 1, 1, memory_.cyclesOf(calibration_.bulkDramNs)});
  push(arrival, EventKind::BytesArrive, nullptr, &issue.warp.block,
       inWindow(operand(issue, kBulkBarrier)), bytes);
}

void SmEngine::storeBulk(Issue &issue) {
  double bytes =
      issue.op.form.number
          ? static_cast<double>(
                boxOf(launch_, issue.warp.lanes, issue.pc, firstLane(issue.lanes)).bytes())
          : static_cast<double>(operand(issue, kBulkBytes));
  double started = startBulk(issue, calibration_.tma.storeIssue);
  issue.warp.bulkRead = memory_.store(started, bytes) + calibration_.bulkStore.read;
}

void SmEngine::waitForBulk(Issue &issue) {
  EngineWarp &warp = issue.warp;
  double end = issue.time + calibration_.bulkStore.wait;
  size_t open = issue.op.form.number;
  if (warp.bulkGroups.size() > open) {
    const EngineWarp::BulkGroup &group = warp.bulkGroups[warp.bulkGroups.size() - 1 - open];
    end = std::max(end, issue.op.form.flag ? group.read : group.done);
  }
  noteStall(issue.pc, Stall::Copies, end - issue.time);
  warp.next = end;
}

} // namespace tile::vgpu
