// The kernels of calls made lately. A loop launches the same kernels on tensors of the same shapes again and again: what is
// known of those is not worked out anew, and what was checked of them not checked again.
//
// This is the way of nearly every launch: it relies on a form (CallForm.h) having passed all checks once, and looks at what may
// be another in each call, which are addresses. A call that find() does not know, or whose addresses it does not like, goes the
// long way, which makes all checks, says what is wrong, and adds the call.
#pragma once

#include "runtime/launch/Footprints.h"
#include "runtime/launch/LoadedKernel.h"
#include "runtime/launch/RecentForms.h"
#include "runtime/launch/TensorMaps.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tile::launch {

/// What is known of a call.
struct RecentCall {
  RecentCall() = default;
  RecentCall(const LoadedKernel &kernel, std::vector<Footprint> footprints)
      : kernel(&kernel), footprints(std::move(footprints)), maps(kernel.tensorMaps.size()) {}

  const LoadedKernel *kernel = nullptr;
  std::vector<Footprint> footprints;
  TensorMaps maps = {};                  ///< as of the last launch
  std::optional<device::Dim3> grid = {}; ///< as gridOf has worked it out
};

/// Each thread has its own, so that nobody waits.
class RecentCalls {
public:
  static RecentCalls &ofThread();

  /// A call of this form that was added, or null. Its kernel can run on these arguments on the device: they are where tensors
  /// may be, and apart where they were apart.
  RecentCall *find(const CallForm &form, uint64_t device);
  /// The kernel's device may end before the thread: no later call has its number. A kernel that is for the values of numbers is
  /// not met again. Returns the call, which the next one to be added may replace.
  RecentCall &add(const CallForm &form, RecentCall known);

private:
  RecentForms<RecentCall> calls_;
  RecentCall passing_; ///< the last one that is not met again
};

} // namespace tile::launch
