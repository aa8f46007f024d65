// Hints: what a kernel's body asks of its compilation. Each counts for the whole kernel, wherever it
// stands, and for more than the same setting of the binding; of two the later counts. They change
// speed alone, except fp_fusion and ftz, which change rounding.
#pragma once

#include <tile/Value.h>

namespace tile::hint {

/// A number chosen by the GPU that is compiled for: `hint::warps(hint::by_target{{80, 4}, {90, 8}})`.
/// Of pairs {sm, number} the one with the nearest sm that is not above the target's counts: here 4
/// on sm_80, sm_86 and sm_89, 8 from sm_90 on. It is an int while the kernel is traced, so bounds,
/// tiles and `.stages(...)` may be made of it too. Errors: no sm at or below the target's, one sm
/// twice.
class by_target {
public:
  struct Choice {
    int sm;
    int value;
  };
  by_target(std::initializer_list<Choice> choices, Loc loc = Loc::here());
  operator int() const { return value_; }

private:
  int value_ = 0;
};

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
