// Errors of approximate functions. PTX bounds them and leaves the rest to the hardware, so a test that a correctly rounded
// result passes may still ask for too much. With noise a result is any number inside the bound, chosen by seed, function
// and operands: the same function of the same operands has the same value.
#pragma once

#include "runtime/vgpu/decode/Decode.h"

namespace tile::vgpu {

/// The functions whose results PTX bounds: ex2, lg2, sin, cos, tanh, rsqrt, sqrt, rcp, div (of .approx and .full).
enum class Approximate : uint8_t { Ex2, Lg2, Sin, Cos, Tanh, Rsqrt, Sqrt, Rcp, Div };

/// emitSimple, with noise where the device is to make some. Of f64 and of what is not approximate there is none.
void emitApproximate(Decoder &decoder, const Instruction &instruction, Approximate function,
                     Handlers handlers, ScalarType type, size_t operands);

/// The distance that PTX allows between a result of f32, f16 or bf16 and the function's exact value `truth` at `x`.
double errorBound(Approximate function, ScalarType type, double x, double truth);

} // namespace tile::vgpu
