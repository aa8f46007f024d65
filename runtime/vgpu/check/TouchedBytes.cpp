// Finds conflicts between pieces of work, and drops what later work makes superfluous.
#include "runtime/vgpu/check/TouchedBytes.h"

namespace tile::vgpu {

std::optional<Conflict> firstConflict(const TouchedBytes &first, const TouchedBytes &second) {
  std::optional<Conflict> found;
  for (TouchKind a : kTouchKinds)
    for (TouchKind b : kTouchKinds) {
      if ((!isWrite(a) && !isWrite(b)) || (isStrong(a) && isStrong(b)))
        continue;
      auto both = first[a].firstCommon(second[b]);
      if (both && (!found || both->begin < found->bytes.begin))
        found = Conflict{*both, a, b};
    }
  return found;
}

void supersede(TouchedBytes &earlier, const TouchedBytes &later) {
  for (TouchKind kind : kTouchKinds) {
    earlier[kind].subtract(later[TouchKind::Write]);
    if (kind != TouchKind::Write)
      earlier[kind].subtract(later[kind]);
  }
}

} // namespace tile::vgpu
