// The product of wgmma on single bits: D += popc(row of A & column of B), 256 bits deep.
#pragma once

#include "runtime/vgpu/isa/tensor/TensorCore.h"

#include <array>

namespace tile::vgpu {

/// The bits of one row of A, or column of B, in order of k.
using BitRow = std::array<uint32_t, kMatrixDepthBytes / 4>;

/// Rows from a K-major matrix in shared memory, which holds all of them.
void readBitRows(const SharedMatrix &matrix, const SharedBytes &shared, std::span<BitRow> rows);
/// The 16 rows of a warp from A's four registers: register 2*half + r has row 8r + g, word 4*half + t.
void readBitRows(ConstRegisters registers, std::span<BitRow> rows);

/// D of one warp: 4 registers for 8 columns.
void addCommonBits(std::span<const BitRow> a, std::span<const BitRow> b, bool accumulates,
                   std::span<uint32_t *const> d);

} // namespace tile::vgpu
