// What the tuner may choose of attention, forward, and what a launch with such a choice has to do.
#pragma once

#include "ops/attention/AttentionProgram.h"

#include <tile/Tuning.h>

#include <string>

namespace tile::ops {

/// The settings of a plan, by the names of the kernel's constants; and back, but for the head's width and the precision.
Config configOf(const AttentionPlan &plan);
AttentionPlan planOf(const Config &config, const Problem &problem);

/// Why a plan is none for a problem, as a sentence; empty if it is.
std::string attentionObjection(const Config &config, const Problem &problem);
/// The plan that is taken where nothing is known.
Config attentionConfig(const Problem &problem);
/// What a launch does: the model of its time.
Work attentionWork(const Config &config, const Problem &problem);

} // namespace tile::ops
