// What lies beyond a multiprocessor: its port to L2, its share of DRAM, and what it may write. Each
// is a time at which it is free again; no cycle is simulated.
#pragma once

#include "runtime/vgpu/time/Calibration.h"

#include <cstdint>
#include <deque>
#include <unordered_set>

namespace tile::vgpu {

/// What a load takes from where.
struct Fetch {
  double bytes = 0;
  double distinct = 1; ///< share that is distinct inside the GPC
  double fromDram = 0; ///< share that L2 does not have
  double latency = 0;  ///< cycles
};

class SmMemory {
public:
  /// `sms`: that work. `isDirty`: L2 is full of lines that somebody wrote, as after a flush by
  /// writing.
  SmMemory(const Calibration &calibration, double clockGhz, unsigned sms, bool isDirty);

  /// Asks at `now`; returns when all has come.
  double fetch(double now, const Fetch &fetch);
  /// Writes at `now`; returns when the source may be written again.
  double store(double now, double bytes);

  double outFree() const { return outFree_; }
  double cyclesOf(double nanoseconds) const { return nanoseconds * clockGhz_; }

  double loadedBytes = 0, storedBytes = 0, dramBytes = 0;

private:
  /// A rate of the whole GPU, in bytes a cycle for one of the multiprocessors that
  /// work.
  double shareOf(double gbs) const { return gbs / clockGhz_ / sms_; }

  const Calibration &calibration_;
  double clockGhz_;
  double sms_;
  double absorbed_ = 0, dirty_ = 0; // bytes left
  double inFree_ = 0, outFree_ = 0, dramFree_ = 0;
};

/// The sectors in L1, by age: plain loads leave them there.
class L1Sectors {
public:
  explicit L1Sectors(double bytes) : capacity_(bytes) {}
  bool has(uint64_t sector) const { return sectors_.contains(sector); }
  void add(uint64_t sector);

private:
  double capacity_;
  std::unordered_set<uint64_t> sectors_;
  std::deque<uint64_t> order_;
};

} // namespace tile::vgpu
