// Products of bits.
#include "runtime/vgpu/isa/tensor/BitProduct.h"

#include <bit>
#include <cstring>

namespace tile::vgpu {

static constexpr unsigned kLaneCount = 32, kRegistersPerBlock = 4, kWordsOfChunk = 4;

void readBitRows(const SharedMatrix &matrix, const SharedBytes &shared, std::span<BitRow> rows) {
  for (uint32_t row = 0; row < rows.size(); ++row)
    for (uint32_t byte = 0; byte < kMatrixDepthBytes; byte += kChunkBytes)
      if (const uint8_t *chunk = shared.chunk(matrix.address(row, byte, 1)))
        std::memcpy(rows[row].data() + byte / 4, chunk, kChunkBytes);
}

void readBitRows(ConstRegisters registers, std::span<BitRow> rows) {
  for (unsigned r = 0; r < kRegistersPerBlock; ++r)
    for (unsigned lane = 0; lane < kLaneCount; ++lane)
      rows[8 * (r % 2) + lane / 4][kWordsOfChunk * (r / 2) + lane % 4] = registers[r][lane];
}

void addCommonBits(std::span<const BitRow> a, std::span<const BitRow> b, bool accumulates,
                   std::span<uint32_t *const> d) {
  for (unsigned r = 0; r < d.size(); ++r) {
    unsigned block = r / kRegistersPerBlock, i = r % kRegistersPerBlock;
    for (unsigned lane = 0; lane < kLaneCount; ++lane) {
      const BitRow &row = a[8 * (i / 2) + lane / 4],
                   &column = b[kBlockColumns * block + lane % 4 * 2 + i % 2];
      uint32_t sum = accumulates ? d[r][lane] : 0;
      for (size_t word = 0; word < row.size(); ++word)
        sum += static_cast<uint32_t>(std::popcount(row[word] & column[word]));
      d[r][lane] = sum;
    }
  }
}

} // namespace tile::vgpu
