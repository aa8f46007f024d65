// Kernels that run for long: what still runs, and where, is said once.
#pragma once

#include <atomic>
#include <chrono>

namespace tile::vgpu {

struct Cluster;

/// Watches one launch; all of its host threads call it.
class LongRun {
public:
  /// `seconds` after which a line on stderr says what runs; 0: never.
  explicit LongRun(int64_t seconds)
      : saysAt_(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)),
        hasSaid_(seconds == 0) {}
  /// To be called between turns of warps.
  void watch(const Cluster &cluster) {
    if (!hasSaid_.load(std::memory_order_relaxed) && std::chrono::steady_clock::now() >= saysAt_)
      say(cluster);
  }

private:
  void say(const Cluster &cluster);

  std::chrono::steady_clock::time_point saysAt_;
  std::atomic<bool> hasSaid_;
};

} // namespace tile::vgpu
