// The address space of a kernel: where global, shared, local and parameter memory begin.
#pragma once

#include <cstdint>

namespace tile::vgpu {

/// Where address windows begin. Generic addresses outside the windows of shared and local memory
/// are global.
constexpr uint64_t kGlobalBase = 0x10'0000'0000;
constexpr uint64_t kSharedWindow = 0x6000'0000'0000;
constexpr uint64_t kLocalWindow = 0x5000'0000'0000;
constexpr uint64_t kParamWindow = 0x4000'0000'0000;
/// The first shared address, as on hardware since sm_90: address 0 is never valid.
constexpr uint32_t kSharedBase = 1024;
/// Each block of a cluster has a window of shared addresses, in the order of ranks; a block alone
/// has the first.
constexpr unsigned kRankShift = 24;
constexpr uint32_t kOffsetMask = (1u << kRankShift) - 1;
constexpr uint32_t sharedWindowOf(uint32_t rank) { return rank << kRankShift; }

} // namespace tile::vgpu
