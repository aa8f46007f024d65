// Hints: what a kernel's body asks of its compilation. Each counts for the whole kernel, wherever it
// stands, and for more than the same setting of the binding; of two the later counts. They change
// speed alone, except fp_fusion and ftz, which change rounding.
#pragma once

#include <tile/Value.h>

namespace tile::hint {

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
/// The stages of the loops that follow and do not say it themselves (`.stages(n)`).
void stages(int count, Loc loc = Loc::here());

} // namespace tile::hint
