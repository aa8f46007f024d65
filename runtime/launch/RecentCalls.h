// The kernels of calls made lately. A loop launches the same kernels on tensors of the same shapes again and again: what is
// known of those is not worked out anew, and what was checked of them not checked again.
#pragma once

#include "frontend/call/Arguments.h"
#include "runtime/launch/Overlap.h"
#include "runtime/launch/TensorMaps.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tile::launch {

struct LoadedKernel;

/// What is known of a call.
struct RecentCall {
  const LoadedKernel *kernel = nullptr;
  std::vector<Footprint> footprints;
  TensorMaps maps = {}; ///< as of the last launch
};

/// Checks of a call that is known what depends on addresses, which may be others than the last time. Errors: those of
/// frontend::checkAddress and refuseOverlap.
void recheck(const RecentCall &known, const detail::KernelRecord &record,
             std::span<const detail::HostArg> args, const frontend::CallDevice &device,
             detail::FunctionRef<Pairs()> allowed);

/// By words that say all that a kernel is chosen by; see CallKey.h. Each thread has its own, so that nobody waits. Newer
/// calls take the places of older ones.
class RecentCalls {
public:
  static RecentCalls &ofThread();

  /// What was added of a call, or null.
  RecentCall *find(std::span<const uint64_t> call);
  /// The kernel's device may end before the thread: no later call has its number. Returns what was added, which the next
  /// call to add may replace.
  RecentCall *add(std::span<const uint64_t> call, RecentCall known);

private:
  static constexpr size_t kSlots = 1024;
  struct Slot {
    std::vector<uint64_t> call;
    RecentCall known;
  };
  static size_t slotOf(std::span<const uint64_t> call);
  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
};

} // namespace tile::launch
