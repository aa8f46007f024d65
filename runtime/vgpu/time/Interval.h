// How far a prediction is to be trusted: the interval in which nine of ten measured times lie, as
// the validation (bench/time) finds it, and what widens it.
#pragma once

#include "runtime/vgpu/time/PredictTime.h"

namespace tile::vgpu {

/// Sets TimeReport::lowUs and highUs, and says in `assumptions` what made the interval wider.
void setInterval(TimeReport &report, const TimedLaunch &launch);

} // namespace tile::vgpu
