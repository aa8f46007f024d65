// A matrix is checked by the ranges of shared memory that it fills, which are few; chunk by chunk where something is wrong.
#include "runtime/vgpu/isa/tensor/MatrixCheck.h"

#include "runtime/vgpu/machine/Launch.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

// Calls visit(mn, address) for each 16-byte chunk; a chunk holds several mn of an MN-major matrix.
template <class Visit>
void forChunks(const SharedMatrix &matrix, const MatrixExtent &extent, Visit visit) {
  uint32_t perChunk = kChunkBytes / extent.elementBytes, depth = extent.depth();
  uint32_t stepMn = extent.mnMajor ? perChunk : 1, stepK = extent.mnMajor ? 1 : perChunk;
  for (uint32_t mn = 0; mn < extent.rows; mn += stepMn)
    for (uint32_t k = 0; k < depth; k += stepK)
      visit(mn, matrix.address(mn, k, extent.elementBytes));
}

// Calls visit(offset, bytes) for the ranges that the chunks of a row fill, whatever their order.
template <class Visit>
void forRanges(const SharedMatrix &matrix, const MatrixExtent &extent, Visit visit) {
  uint32_t rowBytes = kChunkBytes << matrix.log2Chunks, mnBytes = extent.rows * extent.elementBytes;
  if (!extent.mnMajor) {
    // Two chunks along k at a time, which a swizzle leaves neighbours.
    uint32_t half = kChunkBytes / extent.elementBytes;
    for (uint32_t mn = 0; mn < extent.rows; ++mn)
      for (uint32_t k = 0; k < extent.depth(); k += 2 * half) {
        uint32_t first = matrix.address(mn, k, extent.elementBytes) - kSharedBase,
                 second = matrix.address(mn, k + half, extent.elementBytes) - kSharedBase;
        if ((first ^ second) == kChunkBytes) {
          visit(std::min(first, second), 2 * kChunkBytes);
          continue;
        }
        visit(first, kChunkBytes);
        visit(second, kChunkBytes);
      }
    return;
  }
  // Whole spans, unless one begins within another.
  uint32_t steps = matrix.start | mnBytes | (mnBytes > rowBytes ? matrix.leadingBytes : 0) |
                   (extent.depth() > 8 ? matrix.strideBytes : 0);
  if (matrix.log2Chunks && steps % rowBytes)
    return forChunks(matrix, extent, [&](uint32_t, uint32_t address) {
      visit(address - kSharedBase, kChunkBytes);
    });
  for (uint32_t k = 0; k < extent.depth(); ++k)
    for (uint32_t mn = 0; mn < extent.rows; mn += rowBytes / extent.elementBytes)
      visit(matrix.address(mn, k, extent.elementBytes) / rowBytes * rowBytes - kSharedBase,
            rowBytes);
}

void requireInside(Warp &warp, const Op &op, const SharedMatrix &matrix,
                   const MatrixExtent &extent) {
  uint32_t bytes = warp.cta->launch->sharedBytes();
  if (matrix.isInside(extent, kSharedBase, kSharedBase + bytes))
    return;
  forChunks(matrix, extent, [&](uint32_t, uint32_t address) {
    uint32_t offset = address - kSharedBase;
    if (offset >= bytes || bytes - offset < kChunkBytes)
      warp.stop(op, FindingKind::OutOfBounds, 0,
                "the matrix descriptor reaches shared address " + std::to_string(address) +
                    ", outside the block's " + std::to_string(bytes) + " bytes");
  });
}

// A mask of the rows that are not all initialised; empty if all are.
std::vector<bool> badRowsOf(const Cta &cta, const SharedMatrix &matrix, const MatrixExtent &extent,
                            std::span<const ShadowRange> ranges) {
  if (std::ranges::all_of(ranges, [&](const ShadowRange &range) {
        return cta.sharedValid.holdsRange(range.offset, range.bytes);
      }))
    return {};
  std::vector<bool> bad(extent.rows);
  forChunks(matrix, extent, [&](uint32_t mn, uint32_t address) {
    if (cta.sharedValid.get(address - kSharedBase, kChunkBytes) == 0xffff)
      return;
    for (uint32_t i = 0; i < (extent.mnMajor ? kChunkBytes / extent.elementBytes : 1); ++i)
      bad[mn + i] = true;
  });
  return bad;
}

} // namespace

std::vector<bool> checkMatrix(Warp &warp, const Op &op, const SharedMatrix &matrix,
                              const MatrixExtent &extent, unsigned actor, uint32_t time) {
  Cta &cta = *warp.cta;
  requireInside(warp, op, matrix, extent);
  static thread_local std::vector<ShadowRange> ranges; // keeps its memory
  ranges.clear();
  if (cta.races || warp.shadow)
    forRanges(matrix, extent, [&](uint32_t offset, uint32_t bytes) {
      ranges.push_back({offset, bytes});
    });
  if (cta.races) {
    Accessor accessor = accessorOf(warp, op, 0, AccessKind::ProxyRead);
    accessor.record.actor = actor;
    accessor.record.clock = time;
    accessor.proxy = true;
    accessor.proxiedTime = warp.clock.proxiedTime();
    accessor.ordersOwnAccess = false;
    cta.races->readRanges(accessor, ranges);
  }
  return warp.shadow ? badRowsOf(cta, matrix, extent, ranges) : std::vector<bool>();
}

} // namespace tile::vgpu
