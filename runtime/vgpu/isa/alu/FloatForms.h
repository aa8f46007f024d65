// The float forms of opcodes that integers share.
#pragma once

#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/isa/alu/FloatOperation.h"

namespace tile::vgpu {

// f32 and f64, and halves by the functions below (Float.cpp). `type` has been taken from the suffixes.
/// add, sub, mul, min, max.
void decodeFloatBinary(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
                       ScalarType type, FloatOperation operation);
void decodeFloatDivision(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
                         ScalarType type);
/// abs, neg.
void decodeFloatSign(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
                     ScalarType type, FloatOperation operation);
void decodeFma(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
               ScalarType type);

/// The modifiers that change results.
struct FloatForm {
  bool flush = false, saturate = false, relu = false, propagateNan = false, absolute = false,
       xorSign = false;
};
// The handlers for f16 and bf16 (Half.cpp); null if there is none.
Handlers halfBinary(FloatOperation operation, ScalarType type, const FloatForm &form);
Handlers halfUnary(FloatOperation operation, ScalarType type, const FloatForm &form);
Handlers halfFma(ScalarType type, const FloatForm &form);

} // namespace tile::vgpu
