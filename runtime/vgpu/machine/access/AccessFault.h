// Accesses that stop their block: the finding, with the lanes at fault and where their addresses lie.
#pragma once

#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/access/Access.h"

namespace tile::vgpu {

/// Stops the block with a finding for these lanes, of which there is one at least. `what` follows the address in
/// the message: "is out of bounds".
[[noreturn]] void stopAtFault(Warp &warp, const Op &op, const Access &access, uint32_t lanes,
                              FindingKind kind, const std::string &what);

/// The same for the lanes of the access at which `isWrong(lane)`.
template <class Wrong>
[[noreturn]] void fault(Warp &warp, const Op &op, const Access &access, Wrong isWrong,
                        FindingKind kind, const std::string &what) {
  uint32_t lanes = 0;
  forLanes(access.mask, [&](unsigned each) { lanes |= uint32_t{isWrong(each)} << each; });
  stopAtFault(warp, op, access, lanes, kind, what);
}

} // namespace tile::vgpu
