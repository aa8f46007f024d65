// The target as ops choose kernels for it, whose dots may accumulate in f16.
#pragma once

#include <tile/Ops.h>

#include <string_view>

namespace tile::ops {

/// The GPU of this name, without wgmma if dots accumulate in f16: `dot` uses wgmma for f32
/// accumulators only.
inline TargetInfo dotTarget(std::string_view gpu, bool accumulatesInF16) {
  TargetInfo info = target_info(gpu);
  info.has_wgmma = info.has_wgmma && !accumulatesInF16;
  return info;
}

} // namespace tile::ops
