// Hints: compile settings that a kernel's body gives. A hint holds for the whole kernel, wherever
// it stands, and overrides the same setting of the launcher; the later of two hints wins. Hints
// change speed only, except fp_fusion and ftz, which change rounding.
#pragma once

#include <tile/Value.h>

namespace tile::hint {

/// A value for targets of this sm and later.
struct FromTarget {
  int sm;
  int value;
};
/// A number that depends on the target: from pairs {sm, number}, the one with the highest sm that
/// is not above the target's. `{{80, 4}, {90, 8}}` is 4 on sm_80, sm_86 and sm_89, 8 from sm_90 on.
/// It is an int while the kernel is traced: for a hint, a bound, a tile's extent, `.stages(...)`.
/// Errors: no sm at or below the target's, one sm twice.
int by_target(std::initializer_list<FromTarget> choices, Loc loc = Loc::here());

/// Warps per program: a power of two up to 32.
void warps(int count, Loc loc = Loc::here());
/// The most registers a thread may use, 16 to 255.
void maxnreg(int count, Loc loc = Loc::here());
/// How many programs must be resident on a multiprocessor at once, 1 to 32.
void occupancy(int programs, Loc loc = Loc::here());
/// Whether a * b + c may be rounded once instead of twice.
void fp_fusion(bool allowed, Loc loc = Loc::here());
/// Whether f32 arithmetic flushes inputs and results below 2^-126 (denormals) to zero.
void ftz(bool flush = true, Loc loc = Loc::here());
/// The stages of loops that follow and have no `.stages(n)` of their own; see Control.h.
void stages(int count, Loc loc = Loc::here());

} // namespace tile::hint
