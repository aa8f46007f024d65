// Propagation and reports of uninitialised registers.
#include "runtime/vgpu/machine/access/InitCheck.h"

#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/Access.h"

namespace tile::vgpu {
namespace {

void propagate(Warp &warp, const Op &op, unsigned targets, unsigned sources) {
  uint32_t whole = kFullMask;
  for (unsigned i = 0; i < sources; ++i)
    whole &= warp.shadow.whole(op.rows[targets + i]);
  if (op.shadow && (warp.mask & ~whole))
    return op.shadow(warp, op);
  for (unsigned i = 0; i < targets; ++i)
    warp.shadow.set(op.rows[i], whole, warp.mask);
}

void runTracked(Warp &warp, const Op &op) {
  propagate(warp, op, op.targets, op.sources);
  op.real(warp, op);
}

// Nearly all operations have one target and few sources: loops that the compiler takes apart.
template <unsigned Sources> void runTrackedOf(Warp &warp, const Op &op) {
  propagate(warp, op, 1, Sources);
  op.real(warp, op);
}

Handler trackedHandler(const Op &op) {
  constexpr Handler kOfSources[] = {runTrackedOf<0>, runTrackedOf<1>, runTrackedOf<2>,
                                    runTrackedOf<3>};
  return op.targets == 1 && op.sources < std::size(kOfSources) ? kOfSources[op.sources]
                                                               : runTracked;
}

void runGuardedTracked(Warp &warp, const Op &op) {
  checkCondition(warp, op, op.guardRow);
  uint32_t saved = warp.mask;
  warp.mask &= warp.predicate(op.guardRow) ^ (0u - op.guardFlip);
  if (warp.mask) {
    if (!(op.flags & kOwnValidity))
      propagate(warp, op, op.targets, op.sources);
    op.real(warp, op);
  }
  warp.mask = saved;
}

void reportUninitialised(Warp &warp, const Op &op, uint32_t row, const char *what) {
  uint32_t bad = warp.mask & ~warp.shadow.whole(row);
  if (bad)
    warp.report(op, FindingKind::Uninitialised, LaneMask{bad}, unwrittenText(warp, what));
}

} // namespace

Handler initTrackingHandler(const Op &op) {
  if (op.flags & kOwnGuard)
    return op.real;
  if (op.flags & kHasGuard)
    return runGuardedTracked;
  return op.flags & kOwnValidity ? op.real : trackedHandler(op);
}

std::string unwrittenText(Warp &warp, const std::string &what) {
  std::string text = what + " depends on data that were never written";
  const UnwrittenLoad &load = warp.unwritten;
  if (!load.op)
    return text;
  bool isGlobal = load.space == Space::Global;
  return text + "; " + warp.cta->launch->describe(*load.op) + " loaded such from " +
         describeAddress(warp, load.space, load.address) +
         (isGlobal ? ": upload or fill it first, or mask the load" : ": store to it first");
}

void checkCondition(Warp &warp, const Op &op, uint32_t row) {
  reportUninitialised(warp, op, row, "a condition");
}

void checkAddress(Warp &warp, const Op &op, uint32_t row) {
  reportUninitialised(warp, op, row, "an address");
}

} // namespace tile::vgpu
