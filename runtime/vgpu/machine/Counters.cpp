// Adds counters up.
#include "runtime/vgpu/machine/Counters.h"

#include <algorithm>
#include <map>

namespace tile::vgpu {
InstructionMix mixOf(const std::vector<LineCounters> &lines) {
  InstructionMix mix = {};
  for (const LineCounters &line : lines)
    mix[static_cast<size_t>(line.kind)] += line.counters.warpInstructions;
  return mix;
}

std::vector<LineCounters> bySource(const std::vector<LineCounters> &lines) {
  std::map<std::pair<std::string, int>, Counters> sums;
  for (const LineCounters &line : lines)
    if (!line.sourceFile.empty())
      sums[{line.sourceFile, line.sourceLine}] += line.counters;
  std::vector<LineCounters> sources;
  for (const auto &[place, counters] : sums) {
    LineCounters &source = sources.emplace_back();
    source.sourceFile = place.first;
    source.sourceLine = place.second;
    source.counters = counters;
  }
  return sources;
}

Counters &Counters::operator+=(const Counters &other) {
  warpInstructions += other.warpInstructions;
  activeLanes += other.activeLanes;
  executedLanes += other.executedLanes;
  mma += other.mma;
  macs += other.macs;
  sharedRequests += other.sharedRequests;
  sharedWavefronts += other.sharedWavefronts;
  sharedIdeal += other.sharedIdeal;
  globalRequests += other.globalRequests;
  globalSectors += other.globalSectors;
  globalLines += other.globalLines;
  globalBytesUsed += other.globalBytesUsed;
  distinctSectorsLoaded += other.distinctSectorsLoaded;
  distinctSectorsStored += other.distinctSectorsStored;
  atomics += other.atomics;
  asyncBytes += other.asyncBytes;
  waits += other.waits;
  barriers += other.barriers;
  sharedTouched = std::max(sharedTouched, other.sharedTouched);
  return *this;
}

} // namespace tile::vgpu
