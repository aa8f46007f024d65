// Settings of ops that multiply matrices.
#pragma once

#include <tile/Registry.h>
#include <tile/Types.h>
#include <tile/ops/Attention.h>

namespace tile::ops {

/// `precision`, tf32x3 unless given.
Precision precisionOf(const OpSettings &settings);
/// `causal`, `scale`, `precision`, `deterministic`.
AttentionOptions attentionOptionsOf(const OpSettings &settings);

} // namespace tile::ops
