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
  uint64_t accessedBytes = 0; ///< by loads and stores: 32 per sector that a warp's access touches
  uint64_t copiedBytes = 0;   ///< by asynchronous copies: cp.async, TMA
  uint64_t distinctBytes = 0; ///< what memory moves per launch with an ideal cache
  uint64_t bankConflicts = 0; ///< cycles of shared memory that they cost
};

/// What bench() found.
struct BenchResult {
  /// What the numbers are: never a time on the virtual GPU.
  enum class Unit { Milliseconds, Instructions };

  Unit unit = Unit::Milliseconds;
  /// The median of all samples, per call.
  double median = 0;
  /// The interval between two samples that holds the true median with a probability of 95 %,
  /// whatever their distribution; the extremes if there are fewer than six samples.
  double lower = 0, upper = 0;
  /// The time of a call per sample, in order. Where NVML reports the GPU's clock, samples that heat
  /// or a power limit slowed, or whose clock was far from that of the others, are repeated and left
  /// out.
  std::vector<double> samples;
  int callsPerSample = 1;
  /// The device waited for the host: it executes calls faster than the host submits them.
  bool isHostBound = false;
  /// The clock of the multiprocessors while samples were taken; 0 if NVML does not report it.
  int clockMHz = 0;
  /// Why the times may be those of a slower device, such as "the device was slowed by heat"; then
  /// all samples count. Empty if NVML reports no such reason.
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
