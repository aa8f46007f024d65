// Hints: what a kernel's body asks of its compilation. Each counts for the whole kernel, wherever
// it stands, and for more than the same setting of the binding; of two the later counts. They
// change speed alone, except fp_fusion and ftz, which change rounding.
#pragma once

#include <tile/Value.h>

namespace tile::hint {

/// A number for targets from this sm on.
struct FromTarget {
  int sm;
  int value;
};
/// A number chosen by the GPU that is compiled for: of pairs {sm, number} the one with the nearest
/// sm that is not above the target's. `{{80, 4}, {90, 8}}` is 4 on sm_80, sm_86 and sm_89, 8 from
/// sm_90 on. It is an int while the kernel is traced: a hint, a bound, a tile's extent,
/// `.stages(...)`.
/// Errors: no sm at or below the target's, one sm twice.
int by_target(std::initializer_list<FromTarget> choices, Loc loc = Loc::here());

/// Warps a program: a power of two up to 32.
void warps(int count, Loc loc = Loc::here());
/// The most registers a thread may use, 16 to 255.
void maxnreg(int count, Loc loc = Loc::here());
/// How many programs must fit a multiprocessor together, 1 to 32.
void occupancy(int programs, Loc loc = Loc::here());
/// Whether a * b + c may be rounded once instead of twice.
void fp_fusion(bool allowed, Loc loc = Loc::here());
/// Whether f32 arithmetic takes and makes zeros for numbers below 2^-126.
void ftz(bool flush = true, Loc loc = Loc::here());
/// The stages of the loops that follow and do not say it themselves; see `.stages(n)` of Control.h.
void stages(int count, Loc loc = Loc::here());

} // namespace tile::hint
