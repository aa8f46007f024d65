// The bits of the shared-memory matrix descriptor of sm_90.
#include "runtime/vgpu/SharedMatrix.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

constexpr unsigned kStartBit = 0, kLeadingBit = 16, kStrideBit = 32, kBaseOffsetBit = 49,
                   kSwizzleBit = 62;

// Fields of 14 bits hold bytes without their lowest four.
uint32_t bytesAt(uint64_t descriptor, unsigned bit) {
  return static_cast<uint32_t>(descriptor >> bit & 0x3fff) << 4;
}

// Rows that begin in the middle of the pattern, or groups of eight of them that are not a whole number of patterns apart,
// mean a pattern that is not aligned: what the base offset is for.
std::string alignmentFault(const SharedMatrix &matrix, const MatrixExtent &extent) {
  uint32_t span = kChunkBytes << matrix.log2Chunks,
           pattern = swizzlePatternBytes(matrix.log2Chunks);
  uint32_t mnBytes = extent.rows * extent.elementBytes,
           rowBytes = extent.mnMajor ? std::min(mnBytes, span) : extent.depthBytes;
  bool usesLeading = extent.mnMajor && mnBytes > span,
       usesStride = extent.mnMajor ? extent.depth() > 8 : extent.rows > 8;
  bool startsAmiss = matrix.start % pattern >= span,
       endsAmiss = matrix.start % span + rowBytes > span,
       leadsAmiss = usesLeading && matrix.leadingBytes % pattern,
       stridesAmiss = usesStride && matrix.strideBytes % pattern;
  if (!startsAmiss && !endsAmiss && !leadsAmiss && !stridesAmiss)
    return "";
  std::string swizzle = "the matrix descriptor has swizzle " + std::to_string(span) + "B";
  if (startsAmiss)
    return swizzle + " and start address " + std::to_string(matrix.start) +
           ", which is not in the first row of an aligned pattern of " + std::to_string(pattern) +
           " bytes";
  if (endsAmiss)
    return swizzle + " and start address " + std::to_string(matrix.start) + ", from which " +
           std::to_string(rowBytes) + " bytes of a row do not fit into the span";
  return swizzle + " and " + (leadsAmiss ? "leading" : "stride") + " byte offset " +
         std::to_string(leadsAmiss ? matrix.leadingBytes : matrix.strideBytes) +
         ", which is not a multiple of the pattern's " + std::to_string(pattern) + " bytes";
}

} // namespace

std::optional<SharedMatrix> decodeSharedMatrix(uint64_t descriptor, const MatrixExtent &extent,
                                               std::string &fault) {
  // By the two highest bits: none, 128, 64, 32 bytes.
  constexpr unsigned kLog2Chunks[] = {0, 3, 2, 1};
  SharedMatrix matrix;
  matrix.start = bytesAt(descriptor, kStartBit);
  matrix.leadingBytes = bytesAt(descriptor, kLeadingBit);
  matrix.strideBytes = bytesAt(descriptor, kStrideBit);
  matrix.log2Chunks = kLog2Chunks[descriptor >> kSwizzleBit];
  matrix.mnMajor = extent.mnMajor;
  auto baseOffset = static_cast<unsigned>(descriptor >> kBaseOffsetBit & 7);
  if (baseOffset)
    fault = "the matrix descriptor has base offset " + std::to_string(baseOffset) +
            "; only 0 is modelled, for swizzle patterns that are aligned";
  else if (matrix.log2Chunks)
    fault = alignmentFault(matrix, extent);
  if (!fault.empty())
    return std::nullopt;
  return matrix;
}

} // namespace tile::vgpu
