// Settings that name dimensions of a tensor.
#pragma once

#include <tile/Registry.h>
#include <tile/Shape.h>
#include <tile/ops/Reduce.h>

namespace tile::ops {

/// `dim`, the last unless given.
inline OpSetting dimSetting() {
  return OpSetting::integer("dim", -1).from(-kMaxRank).to(kMaxRank - 1);
}
inline int dimOf(const OpSettings &settings) { return static_cast<int>(settings.integer("dim")); }

/// `axes`, all unless given; an empty list is none.
inline OpSetting axesSetting() {
  return OpSetting::integers("axes").from(-kMaxRank).to(kMaxRank - 1);
}
inline Axes axesOf(const OpSettings &settings) {
  if (!settings.has("axes"))
    return {};
  std::vector<int64_t> given = settings.integers("axes");
  std::vector<int> axes(given.begin(), given.end());
  return Axes(std::span<const int>(axes));
}

} // namespace tile::ops
