// Measuring: how long calls take on a GPU, or what they do on the virtual GPU, which has no time.
//
//   BenchResult result = bench(stream, [&] { ops::softmax(stream, x, y); });
//   std::cout << result << '\n';
//
//   GPU           98.31 us (95 %: 98.14 to 98.56, 20 samples)
//   virtual GPU   544768 warp instructions in 1 launch, ... (virtual GPU: counted, not timed)
//
// docs/measuring.md says how it is measured, and what to look out for. Not part of tile/tile.h.
#pragma once

#include <tile/Device.h>

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace tile {

struct BenchOptions {
  /// Calls before anything is measured, which compile kernels and warm everything up. The virtual
  /// GPU makes one, unless this is 0.
  int warmups = 3;
  /// Whether the L2 cache is filled with other data before each sample, by reading them. Takes
  /// memory of four times its size, at least 64 MB. Else each sample follows a call that is not
  /// timed.
  bool flushL2 = true;
  /// Samples are taken until the interval of the median is narrower than this share of it, ...
  double precision = 0.01;
  /// ... but no fewer than these, ...
  int minSamples = 20;
  /// ... and no longer than this, but for the first sample.
  double maxSeconds = 1;
  /// Calls that a sample times together; 0: as many as take 10 us, 20 times what events can tell
  /// apart. Where there are several only the first finds a flushed cache.
  int callsPerSample = 0;
};

/// What the virtual GPU counts of one call.
struct WorkCounts {
  uint64_t launches = 0;
  uint64_t instructions = 0;  ///< of warps
  uint64_t multiplyAdds = 0;  ///< of tensor cores
  uint64_t accessedBytes = 0; ///< by loads and stores: 32 for each sector that a warp's one touches
  uint64_t copiedBytes = 0;   ///< by copies that go on by themselves: cp.async, TMA
  uint64_t distinctBytes = 0; ///< what a memory behind an ideal cache moves for each launch
  uint64_t bankConflicts = 0; ///< cycles of shared memory that they cost
};

/// What bench() found.
struct BenchResult {
  /// What the numbers are: of the virtual GPU never a time.
  enum class Unit { Milliseconds, Instructions };

  Unit unit = Unit::Milliseconds;
  /// Of one call: the median of all samples.
  double median = 0;
  /// The interval between two samples that holds the median of all samples there could be, with a
  /// probability of 95 % and whatever their distribution; of fewer than six samples the extremes.
  double lower = 0, upper = 0;
  /// One call each, in the order in which they were taken. Where NVML tells the GPU's clock, those
  /// are repeated and left out that were slowed by heat or by a limit of power, or that had a clock
  /// far from that of the others.
  std::vector<double> samples;
  int callsPerSample = 1;
  /// The device waited for the host: calls take it less time than they take the host to give.
  bool isHostBound = false;
  /// Of the multiprocessors, while samples were taken; 0 if NVML does not tell.
  int clockMHz = 0;
  /// Why the times may be those of a slower device, as "the device was slowed by heat"; then all
  /// samples count. Empty: there is no such reason that NVML tells.
  std::string doubt;
  /// On the virtual GPU only.
  std::optional<WorkCounts> counts;

  /// The median. Error: Unsupported on the virtual GPU.
  double milliseconds(Loc where = Loc::here()) const;
  /// One line for people, which says what was measured.
  std::string str() const;
};

std::ostream &operator<<(std::ostream &out, const BenchResult &result);

/// Measures `call`, which gives its work to `stream`; work that it gives to others is missed,
/// unless the stream waits for it. On the virtual GPU one call is counted: it does the same each
/// time. What others give the device meanwhile is counted as well.
/// Errors: InvalidArgument for options that make no sense; OutOfMemory; those of the call.
BenchResult bench(const Stream &stream, const std::function<void()> &call,
                  const BenchOptions &options = {}, Loc where = Loc::here());

} // namespace tile
