// bench(): samples of a call between events of its stream, or the counts of one call.
#include <tile/Bench.h>

#include "runtime/bench/MedianInterval.h"
#include "runtime/bench/QuietSamples.h"
#include "runtime/host/Capture.h"

#include <tile/Grid.h>
#include <tile/Kernel.h>
#include <tile/Reduce.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tile {
namespace {

constexpr double kShortestSample = 0.01; // milliseconds; events tell 0.5 us apart
constexpr int kMostCalls = 1000;         // of one sample
constexpr int kMostRounds = 16;          // of what keeps the device busy before a sample
constexpr int kMostRepeats = 3;          // of the fewest samples, for those that were disturbed
constexpr int64_t kPerProgram = 4096;    // elements that a program reads

// Fills the L2 cache by reading. Lines that are written would be written back while the sample is timed.
const auto readAll = kernel("read_all", [](In<f32, 1> lines, Out<f32, 1> sums, Const Elements) {
  Value program = grid1d(lines, {Elements});
  sums.tile({1})(program) = sum(lines.tile({Elements})(program), 0, {.keep_dims = true});
});

/// What a cache is filled with.
class OtherData {
public:
  OtherData(const Stream &stream, Loc where)
      : stream_(stream), lines_(stream.device(), std::array{elementsFor(stream)}, where),
        sums_(stream.device(), std::array{lines_.numel() / kPerProgram}, where) {
    detail::StreamState &state = stream.state();
    state.owner->device->fill(reinterpret_cast<device::DevicePtr>(lines_.data()), 0, lines_.bytes(),
                              state.handle);
  }
  void read() const { readAll.consts(kPerProgram)(stream_, lines_, sums_); }

private:
  static int64_t elementsFor(const Stream &stream) {
    constexpr size_t kLeast = size_t{64} << 20;
    size_t bytes = std::max(4 * stream.state().owner->device->props().l2Bytes, kLeast);
    return static_cast<int64_t>(bytes / sizeof(float)) / kPerProgram * kPerProgram;
  }

  Stream stream_;
  TensorOf<float> lines_, sums_;
};

/// Takes samples on a device that has a time.
class Sampler {
public:
  Sampler(const Stream &stream, const std::function<void()> &call, bool flushes, Loc where)
      : stream_(stream), call_(call), start_(stream.device().event()),
        stop_(stream.device().event()), clock_(stream.state().owner->device->props()) {
    if (flushes)
      data_.emplace(stream, where);
  }

  /// The time of one of `calls`. The device must be busy until the host has given them all, else it is the host that is
  /// timed; so what comes before takes longer, up to a limit, where the device was at the first event too early. The clock is
  /// read while the device works, as one at rest has another.
  QuietSamples::Sample sample(int calls) {
    for (;; rounds_ *= 2) {
      for (int i = 0; i < rounds_; ++i)
        data_ ? data_->read() : call_();
      start_.record(stream_);
      for (int i = 0; i < calls; ++i)
        call_();
      stop_.record(stream_);
      bool isHostBound = start_.query();
      std::optional<device::ClockReading> clock = clock_.read();
      double milliseconds = start_.elapsedMs(stop_);
      if (isHostBound && rounds_ < kMostRounds)
        continue;
      isHostBound_ |= isHostBound;
      return {milliseconds / calls, clock};
    }
  }
  /// How many calls a sample needs to be long enough.
  int callsForSample() {
    double once = sample(1).milliseconds;
    isHostBound_ = false; // a longer one need not be
    return static_cast<int>(
        std::clamp(std::ceil(kShortestSample / std::max(once, 1e-9)), 1.0, double{kMostCalls}));
  }
  bool isHostBound() const { return isHostBound_; }

private:
  Stream stream_;
  const std::function<void()> &call_;
  Event start_, stop_;
  device::ClockReader clock_;
  std::optional<OtherData> data_;
  int rounds_ = 1;
  bool isHostBound_ = false;
};

/// Whether there are enough samples, which are precise enough; of those that were disturbed others are taken, up to a limit.
bool isEnough(const QuietSamples &samples, const MedianInterval &found,
              const BenchOptions &options) {
  auto fewest = static_cast<size_t>(options.minSamples);
  bool mayRepeat = samples.isDoubtful() && samples.disturbed() < kMostRepeats * fewest;
  return !mayRepeat && samples.sorted().size() >= fewest &&
         found.upper - found.lower <= options.precision * found.median;
}

BenchResult timed(Sampler sampler, const BenchOptions &options) {
  BenchResult result;
  result.callsPerSample =
      options.callsPerSample ? options.callsPerSample : sampler.callsForSample();
  QuietSamples samples;
  MedianInterval found;
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.maxSeconds);
  do {
    samples.add(sampler.sample(result.callsPerSample));
    found = medianIntervalOf(samples.sorted());
  } while (!isEnough(samples, found, options) && std::chrono::steady_clock::now() < end);
  result.median = found.median, result.lower = found.lower, result.upper = found.upper;
  result.samples = samples.inOrder();
  result.isHostBound = sampler.isHostBound();
  result.clockMHz = samples.clock();
  result.doubt = samples.doubt();
  return result;
}

BenchResult counted(const device::Work &work) {
  BenchResult result;
  result.unit = BenchResult::Unit::Instructions;
  result.counts = {work.launches,    work.instructions,  work.multiplyAdds, work.accessedBytes,
                   work.copiedBytes, work.distinctBytes, work.bankConflicts};
  result.median = result.lower = result.upper = static_cast<double>(work.instructions);
  result.samples = {result.median};
  return result;
}

void check(const std::function<void()> &call, const BenchOptions &options, Loc where) {
  auto require = [&](bool isTrue, const char *rule) {
    if (!isTrue)
      throw Error(Fault::User, ErrorCode::InvalidArgument, std::string("bench: ") + rule, where);
  };
  require(call != nullptr, "there is no call to measure: the function is empty");
  require(options.warmups >= 0, "warmups must not be negative");
  require(options.precision > 0, "precision must be above 0, as 0.01 for 1 %");
  require(options.minSamples > 0, "minSamples must be at least 1");
  require(options.maxSeconds > 0, "maxSeconds must be above 0");
  require(options.callsPerSample >= 0, "callsPerSample must not be negative");
}

} // namespace

BenchResult bench(const Stream &stream, const std::function<void()> &call,
                  const BenchOptions &options, Loc where) {
  check(call, options, where);
  detail::refuseInCapture(stream.state(), "bench", where);
  device::Device &device = *stream.state().owner->device;
  bool counts = device.props().countsWork;
  for (int i = 0; i < (counts ? std::min(options.warmups, 1) : options.warmups); ++i)
    call();
  if (counts)
    return counted(device.countWork(call));
  return timed(Sampler(stream, call, options.flushL2, where), options);
}

} // namespace tile
