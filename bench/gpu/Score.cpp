#include "bench/gpu/Score.h"

#include "runtime/host/State.h"
#include "tools/tilec/run/LowerBounds.h"

#include <tile/Tensor.h>
#include <tile/ops/Arithmetic.h>
#include <tile/ops/Reduce.h>

#include <algorithm>

namespace tile::bench {

namespace {

/// Times a call after the L2 cache was filled with other lines by reading: lines that are written would be written back while
/// the call is timed. The GPU must be busy with that until the host has queued the whole call, else what is timed is the
/// host; so it reads more often, up to a limit, where the first event was reached too early.
class GpuScorer : public Scorer {
public:
  GpuScorer(const Device &device, const Stream &stream)
      : stream_(stream), start_(device.event()), stop_(device.event()),
        lines_(device.tensor<float>({kFlushBytes / 4})), sum_(device.tensor<float>({1})) {
    ops::fill(stream_, 1, lines_);
    flush();
    stream_.synchronize();
  }

  nlohmann::json score(const std::function<void()> &call) override {
    for (;; reads_ *= 2) {
      for (int i = 0; i < reads_; ++i)
        flush();
      start_.record(stream_);
      call();
      stop_.record(stream_);
      bool isHostBound = start_.query();
      float milliseconds = start_.elapsedMs(stop_);
      if (!isHostBound || reads_ >= kMostReads)
        return {{"ms", milliseconds}, {"host_bound", isHostBound}};
    }
  }

private:
  static constexpr int64_t kFlushBytes = int64_t{256} << 20; // five times the L2 of an H100
  static constexpr int kMostReads = 16;

  void flush() { ops::sum(stream_, lines_, {}, sum_); }

  Stream stream_;
  Event start_, stop_;
  TensorOf<float> lines_, sum_;
  int reads_ = 2;
};

/// Counts a call and takes the time of the resource that needs most of it.
class ModelScorer : public Scorer {
public:
  ModelScorer(std::shared_ptr<vgpu::VirtualDevice> device, const Stream &stream)
      : device_(std::move(device)), stream_(stream) {}

  nlohmann::json score(const std::function<void()> &call) override {
    uint64_t blocksBefore = device_->statistics().blocks;
    device_->setCounters(true);
    call();
    stream_.synchronize();
    auto bounds = tilec::lowerBoundsOf(*device_, device_->statistics().blocks - blocksBefore);
    device_->setCounters(false);
    vgpu::Counters counters = device_->counters();
    nlohmann::json score = {{"ms", nullptr},
                            {"instructions", counters.warpInstructions},
                            {"bytes", counters.distinctBytes()}};
    auto most = std::ranges::max_element(bounds.resources, {}, &Resource::microseconds);
    if (most != bounds.resources.end()) {
      score["ms"] = most->microseconds * 1e-3;
      score["resource"] = most->name;
      score["card"] = bounds.card.name;
    }
    return score;
  }

private:
  using Resource = tilec::LowerBounds::Resource;

  std::shared_ptr<vgpu::VirtualDevice> device_;
  Stream stream_;
};

} // namespace

std::unique_ptr<Scorer> scorerOf(const Device &device, const Stream &stream) {
  if (auto virtualDevice = vgpu::asVirtual(device.state()->device))
    return std::make_unique<ModelScorer>(std::move(virtualDevice), stream);
  return std::make_unique<GpuScorer>(device, stream);
}

} // namespace tile::bench
