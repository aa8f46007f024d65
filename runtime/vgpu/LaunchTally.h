// Adds up what launches count and note, over all launches of a device.
#pragma once

#include "runtime/vgpu/machine/Launch.h"

#include <map>

namespace tile::vgpu {

class LaunchTally {
public:
  /// Adds a launch that has run.
  void add(const Launch &launch, const LaunchStatistics &done);
  void clearCounters();

  const Counters &counters() const { return counters_; }
  const LaunchStatistics &statistics() const { return statistics_; }
  /// For lines that ran: module by module, in the order of the lines.
  std::vector<LineCounters> countersByLine() const;
  std::vector<Note> notes() const;

private:
  using Line = std::pair<std::shared_ptr<const Module>, int>;

  void addLines(const Launch &launch);

  Counters counters_;
  LaunchStatistics statistics_;
  std::map<Line, LineCounters> lines_;
  std::map<Line, Note> notes_;
};

} // namespace tile::vgpu
