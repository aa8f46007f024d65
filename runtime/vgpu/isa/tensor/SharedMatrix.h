// Matrices in shared memory as wgmma reads them: the 64-bit descriptor and where it puts each element.
//
// The unit is the core matrix, 8 rows of 16 bytes. `mn` counts along M (for A) or N (for B), k along the depth, of which
// one instruction takes 32 bytes. A K-major matrix has its 16-byte chunks along k, an MN-major one along mn. Between core
// matrices lie two strides, of which the layout decides what each is for; with a swizzle, core matrices interleave in rows
// of 32, 64 or 128 bytes.
#pragma once

#include "runtime/vgpu/machine/async/Swizzle.h"

#include <optional>
#include <string>

namespace tile::vgpu {

constexpr uint32_t kMatrixDepthBytes = 32;
/// The part of a matrix that one instruction reads through a descriptor: `rows` along mn and 32 bytes along k, or 64 of a B
/// that meets a sparse A.
struct MatrixExtent {
  uint32_t rows = 0;
  uint32_t elementBytes = 0;
  bool mnMajor = false;
  uint32_t depthBytes = kMatrixDepthBytes;

  constexpr uint32_t depth() const { return depthBytes / elementBytes; }
};

/// A decoded descriptor. Addresses and strides are bytes in the 18-bit window that descriptors have, any multiples of 16: rows
/// that leave their span just go on, and the swizzle is that of the address at which they arrive.
struct SharedMatrix {
  uint32_t start = 0;
  uint32_t leadingBytes = 0, strideBytes = 0; // LBO and SBO
  unsigned log2Chunks = 0;                    // of the swizzle: see swizzled()
  bool mnMajor = false;
  uint32_t baseOffset = 0; // the row of 128 bytes, modulo 8, at which the swizzle's pattern begins

  /// The shared address of element (mn, k), `elementBytes` wide. Elements of a chunk are contiguous.
  constexpr uint32_t address(uint32_t mn, uint32_t k, uint32_t elementBytes) const {
    return swizzled(linearAddress(mn, k, elementBytes), log2Chunks, baseOffset);
  }

  /// True if all chunks surely lie in [begin, end); false says nothing.
  constexpr bool isInside(const MatrixExtent &extent, uint32_t begin, uint32_t end) const {
    // The sum of the most that each term of an address can be; a swizzle stays within an aligned span.
    uint32_t span = kChunkBytes << log2Chunks, depth = extent.depth();
    uint64_t most = 7 * uint64_t{span} + start;
    if (!mnMajor)
      most += uint64_t{(extent.rows - 1) / 8} * strideBytes +
              (log2Chunks ? extent.depthBytes
                          : uint64_t{extent.depthBytes / kChunkBytes - 1} * leadingBytes + span);
    else if (uint32_t chunks = extent.rows * extent.elementBytes / kChunkBytes; log2Chunks)
      most += uint64_t{(chunks - 1) >> log2Chunks} * leadingBytes + (depth - 1) / 8 * strideBytes +
              span;
    else
      most += uint64_t{chunks - 1} * strideBytes + (depth - 1) / 8 * leadingBytes + span;
    return start / span * span >= begin && (most + span - 1) / span * span <= end;
  }

private:
  constexpr uint32_t linearAddress(uint32_t mn, uint32_t k, uint32_t elementBytes) const {
    uint32_t rowBytes = kChunkBytes << log2Chunks;
    if (!mnMajor) {
      uint32_t byte = k * elementBytes, row = start + mn % 8 * rowBytes + mn / 8 * strideBytes;
      if (log2Chunks)
        return row + byte;
      return row + byte / kChunkBytes * leadingBytes + byte % kChunkBytes;
    }
    uint32_t chunk = mn * elementBytes / kChunkBytes,
             row = start + mn * elementBytes % kChunkBytes + k % 8 * rowBytes;
    if (log2Chunks)
      return row + chunk % (1u << log2Chunks) * kChunkBytes + (chunk >> log2Chunks) * leadingBytes +
             k / 8 * strideBytes;
    return row + chunk * strideBytes + k / 8 * leadingBytes;
  }
};

/// Reads a descriptor of sm_90. Nothing if it uses what is not modelled, a swizzle of 32 bytes for 64 bytes of depth; `fault` says
/// what, with values.
std::optional<SharedMatrix> decodeSharedMatrix(uint64_t descriptor, const MatrixExtent &extent,
                                               std::string &fault);

} // namespace tile::vgpu
