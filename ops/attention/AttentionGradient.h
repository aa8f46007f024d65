// The gradient of attention, for the public function and the ops by name.
#pragma once

#include "ops/Arguments.h"
#include "ops/attention/AttentionProgram.h"

#include <tile/Registry.h>

namespace tile::ops {

struct GradientArguments {
  const Operand &q, &k, &v, &out, &lse, &dout, &dq, &dk, &dv;
};

/// The rules for all of them.
void checkGradient(const Arguments &arguments, const GradientArguments &in,
                   const AttentionOptions &options);
/// Launches the kernels; the arguments obey the rules.
void launchGradient(CallSite site, const GradientArguments &in, const AttentionOptions &options);
/// The kernel that computes dq, or dk and dv, or where it may all three, for examples of q and k.
KernelRequest gradientRequest(const AttentionPlan &plan, const AttentionOptions &options,
                              bool isOfQueries, const HostArg &q, const HostArg &k);

} // namespace tile::ops
