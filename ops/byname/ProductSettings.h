// Settings of ops that multiply matrices.
#pragma once

#include <tile/Registry.h>
#include <tile/Types.h>
#include <tile/ops/Attention.h>
#include <tile/ops/Matmul.h>

namespace tile::ops {

/// `precision`, tf32x3 unless given.
OpSetting precisionSetting();
Precision precisionOf(const OpSettings &settings);

/// `accumulator`: f32, which is f64 of f64, unless f16 is given.
OpSetting accumulatorSetting();
DType accumulatorOf(const OpSettings &settings);

/// `precision`, `fast` accumulation of 8-bit floats, and `accumulator`.
std::vector<OpSetting> productSettings();
MatmulOptions productOptionsOf(const OpSettings &settings);

/// `scale`, by the head dimension unless given.
OpSetting scaleSetting();
std::optional<float> scaleOf(const OpSettings &settings);

/// `causal`, `scale`, `precision`, `deterministic`, `accumulator`.
std::vector<OpSetting> attentionSettings();
AttentionOptions attentionOptionsOf(const OpSettings &settings);

} // namespace tile::ops
