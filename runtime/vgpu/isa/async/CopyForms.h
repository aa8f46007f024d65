// The parts of cp that have files of their own.
#pragma once

#include "runtime/vgpu/decode/Decode.h"

namespace tile::vgpu {

/// The rows of a bulk copy. All addresses are 64 bits wide.
enum BulkRow : unsigned {
  kBulkTarget,
  kBulkSource,
  kBulkBytes,
  kBulkBarrier,
  kBulkMask,
  kBulkCoordinates
};

/// cp.async.bulk and, if it `reduces`, cp.reduce.async.bulk. The words up to `.bulk` have been taken from the suffixes.
void decodeBulkCopy(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
                    bool reduces);
/// cp.async.mbarrier. The words up to `.mbarrier` have been taken from the suffixes.
void decodeCopyArrival(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes);

} // namespace tile::vgpu
