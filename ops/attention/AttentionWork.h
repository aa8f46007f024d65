// What the tuner may choose of attention, forward, and what a launch with such a choice has to do.
#pragma once

#include "ops/attention/AttentionProgram.h"

#include <tile/Tuning.h>

#include <string>

namespace tile::ops {

/// The plan of these knobs for a problem.
AttentionPlan planOf(const Config &config, const Problem &problem);

/// Why the target or the shape refuses a plan, as a sentence; empty if they do not.
std::string attentionObjection(const Config &config, const Problem &problem);
/// The plan that is taken where nothing is known.
Config attentionConfig(const Problem &problem);
/// What a launch does: the model of its time.
Work attentionWork(const Config &config, const Problem &problem);

} // namespace tile::ops
