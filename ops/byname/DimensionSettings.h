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
/// Those of x; of a tensor of rank 0 the dimension 0 or -1 is none that is reduced.
inline Axes axesOf(const OpSettings &settings, const Operand &x) {
  if (!settings.has("axes"))
    return {};
  std::vector<int64_t> given = settings.integers("axes");
  if (x.rank() == 0 && given.size() == 1 && (given[0] == 0 || given[0] == -1))
    given.clear();
  std::vector<int> axes(given.begin(), given.end());
  return Axes(std::span<const int>(axes));
}

} // namespace tile::ops
