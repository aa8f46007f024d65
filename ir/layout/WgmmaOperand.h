// How wgmma reads an operand in shared memory: the fields of its matrix descriptor, and where each
// instruction starts.
//
// A descriptor names rows of a span (the swizzle: 32, 64 or 128 bytes). With x the start plus
//
//   K-major:   (row / 8) stride + (row % 8) span + (byte along K)
//   MN-major:  (byte along M or N / span) leading + (k / 8) stride + (k % 8) span + (byte % span)
//
// the byte lies at x with its 16-byte chunk number XORed with bits 7 and up of x, as many bits as a
// span has chunks (hardware does this on absolute addresses: memory starts at a multiple of 8
// spans). Source: PTX ISA, "Matrix Descriptor Format", "Strides"; compared with an H100 for 480
// combinations.
#pragma once

#include "ir/layout/Shared.h"

#include <optional>
#include <vector>

namespace tile::layout {

/// The tile as one operand of m64nNkK instructions. "Outer" is the dimension that is not K: M of
/// the left operand, N of the right one.
struct WgmmaOperand {
  int swizzleBytes = 0;  ///< the span of a row: 32, 64 or 128
  bool isKMajor = false; ///< neighbours in memory are neighbours along K
  int64_t leadingBytes = 0, strideBytes = 0;
  /// Bytes from the tile's first to the start of the instruction for an outer coordinate and a k;
  /// both must begin blocks.
  [[nodiscard]] int64_t startOf(int64_t outer, int64_t k) const;

  SharedLayout shared;
  int outerDim = 0, elementBytes = 0;
};

/// The descriptor of a two-dimensional tile whose dimension `outerDim` (0 or 1) is cut into blocks
/// of `outerBlock`, and the other, K, into blocks of `kBlock` elements, one an instruction.
/// Nothing, with a sentence in *why, if no descriptor reaches the tile's elements where they lie.
std::optional<WgmmaOperand> matchWgmmaOperand(const SharedLayout &shared, int outerDim,
                                              int64_t outerBlock, int64_t kBlock, int elementBytes,
                                              Refusal *why = nullptr);

/// Memory for a tile that wgmma reads, its dimensions from the fastest in `order`: rows as wide as
/// the widest swizzle that divides the fastest dimension, as the TMA engine writes them. Nothing if
/// that has fewer than 32 bytes.
std::optional<SharedLayout> wgmmaOperandMemory(const Shape &shape,
                                               const std::vector<int32_t> &order, int elementBytes);

/// What the memory of wgmma's operands must start at a multiple of: the pattern of the widest
/// swizzle.
inline constexpr int kWgmmaAlignment = 1024;

} // namespace tile::layout
