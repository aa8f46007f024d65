// f32 and f64 arithmetic with the directed rounding modes rz, rm and rp.
#pragma once

#include "runtime/vgpu/isa/alu/FloatOperation.h"
#include "runtime/vgpu/machine/Program.h"

#include <string_view>

namespace tile::vgpu {

/// The handler of an operation (add, sub, mul, fma, div, sqrt, rcp) with rounding "rz", "rm" or "rp"; null if unknown. Flushing
/// and saturation as in the suffixes. `isDouble`: f64.
Handler roundedHandler(FloatOperation operation, std::string_view rounding, bool isDouble,
                       bool flushes, bool saturates);

} // namespace tile::vgpu
