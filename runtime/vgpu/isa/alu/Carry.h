// Sums, differences and products with a carry.
#pragma once

#include "runtime/vgpu/decode/Decode.h"

namespace tile::vgpu {

/// The use that an operation makes of the condition code's carry.
struct Carrying {
  bool reads = false, writes = false;
};
enum class CarriedOperation { Sum, Difference, ProductSum };
/// add, sub and mad with a carry. `type` and `.cc` have been taken from the suffixes.
void decodeWithCarry(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
                     CarriedOperation operation, ScalarType type, Carrying carrying);

} // namespace tile::vgpu
