// Elements that the host reads although nothing has written them: a grid that is too small shows
// only there.
#pragma once

#include "runtime/vgpu/machine/Memory.h"

#include <tile/Error.h>

#include <set>
#include <span>
#include <string>
#include <utility>

namespace tile::vgpu {

/// Elements of device memory: extents and strides, in elements, from `base` on. Strides are not
/// negative.
struct ElementRange {
  uint64_t base = 0;
  size_t elementBytes = 1;
  std::span<const int64_t> extents, strides;
};

/// The number of elements that have bytes which were never written.
size_t countUnwritten(const ValidBits &valid, const ElementRange &elements);

/// Says on stderr, once for each line of the host's program, that it reads elements which nothing
/// has written. It is no finding: a program may well download a tensor of which it has filled a
/// part.
class UnwrittenReads {
public:
  /// Nothing for reads without a line, which are those of tools that say it themselves.
  void note(GlobalMemory &memory, const ElementRange &elements, Loc where);

private:
  std::set<std::pair<std::string, int>> said_;
};

} // namespace tile::vgpu
