// The operations of cp.reduce.async.bulk on ranges of elements.
#pragma once

#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/machine/async/BulkTransfer.h"

namespace tile::vgpu {

inline constexpr std::string_view kReductions[] = {"add", "min", "max", "inc",
                                                   "dec", "and", "or",  "xor"};
/// Takes the operation from among the suffixes: 1 + its index in kReductions. Unsupported if there is none.
uint8_t takeReduction(Decoder &decoder, Suffixes &suffixes);

/// Null if the ISA has no such reduction. `operation`: add, min, max, inc, dec, and, or, xor.
Reduction bulkReduction(std::string_view operation, ScalarType type);
/// The reduction of elements as a tensor map has them.
Reduction tensorReduction(std::string_view operation, device::TensorMapType type);

} // namespace tile::vgpu
