// The bits of the shared-memory matrix descriptor of sm_90.
#include "runtime/vgpu/isa/tensor/SharedMatrix.h"

namespace tile::vgpu {
namespace {

constexpr unsigned kStartBit = 0, kLeadingBit = 16, kStrideBit = 32, kBaseOffsetBit = 49,
                   kSwizzleBit = 62;

// Fields of 14 bits hold bytes without their lowest four.
uint32_t bytesAt(uint64_t descriptor, unsigned bit) {
  return static_cast<uint32_t>(descriptor >> bit & 0x3fff) << 4;
}

} // namespace

std::optional<SharedMatrix> decodeSharedMatrix(uint64_t descriptor, const MatrixExtent &extent,
                                               std::string &fault) {
  // The two highest bits of a descriptor choose the swizzle: none, 128, 64, 32 bytes.
  constexpr unsigned kLog2Chunks[] = {0, 3, 2, 1};
  SharedMatrix matrix;
  matrix.start = bytesAt(descriptor, kStartBit);
  matrix.leadingBytes = bytesAt(descriptor, kLeadingBit);
  matrix.strideBytes = bytesAt(descriptor, kStrideBit);
  matrix.log2Chunks = kLog2Chunks[descriptor >> kSwizzleBit];
  matrix.mnMajor = extent.mnMajor;
  matrix.baseOffset = descriptor >> kBaseOffsetBit & 7;
  uint32_t span = kChunkBytes << matrix.log2Chunks;
  if (matrix.log2Chunks && !matrix.mnMajor && extent.depthBytes > span) {
    fault = "the matrix descriptor has swizzle " + std::to_string(span) + "B, but rows of " +
            std::to_string(extent.depthBytes) +
            " bytes, which B has beside a sparse A; use swizzle 64B or 128B";
    return std::nullopt;
  }
  return matrix;
}

} // namespace tile::vgpu
