// Tensor core fragments as layouts, and the mma instructions of a dot in terms of their registers.
//
// All mma.sync shapes follow one rule. With e elements per 32-bit register (1 for 64-bit types),
// lane bits t = lane & 3, g = lane >> 2, register r and element j within it:
//
//   A  row = g + 8 (r & 1)    k = e t + j + 4 e (r >> 1)     (8-row shapes: row = g, k = e t + j)
//   B  n = g                  k = e t + j + 4 e r
//   C  row = g + 8 (i >> 1)   n = 2 t + (i & 1)              (i counts elements)
//
// K may be renumbered, as long as A and B agree. With a K width of w elements (a multiple of e) a
// lane has w neighbours along K: what it holds of instructions that follow one another. A lane then
// loads them in one access; t moves by w, and the register and instruction bits of k fill the
// places below.
//
// Each is linear over GF(2), so a fragment is the instruction's layout with the tile's remaining
// bits above it: repetitions in registers, then warps, each warp owning one contiguous block of the
// tile. One instruction's registers are therefore consecutive, aligned, and in the instruction's
// own order. Odd factors repeat the whole pattern outermost, as in every layout. A warp grid larger
// than the tile replicates over the warps left over.
#pragma once

#include "ir/layout/Layout.h"

#include <vector>

namespace tile::layout {

/// An instruction: mMxNxK on operands of `bits` bits per element.
struct MmaShape {
  int m, n, k;
  int bits;

  /// The largest m16n8 shape of an element size: k16 for 16, k8 for 32 (tf32), k32 for 8 bits;
  /// m8n8k4 for 64.
  static std::optional<MmaShape> forElementBits(int bits);
  /// Elements of one thread in one instruction.
  [[nodiscard]] int elementsA() const { return m * k / kLanesPerWarp; }
  [[nodiscard]] int elementsB() const { return k * n / kLanesPerWarp; }
  [[nodiscard]] int elementsC() const { return m * n / kLanesPerWarp; }
};

/// Warps along the rows and columns of the result and along its batch: warp w works on block row
/// w % m, block column w / m % n and, of the batch, w / (m n) % b. Powers of two.
struct WarpGrid {
  int m = 1, n = 1, b = 1;
};

/// Layout of the accumulator, an M x N tile. Refused (with a sentence in *why) if the power-of-two
/// part of a dimension is smaller than the instruction's.
std::optional<Layout> accumulatorLayout(const MmaShape &mma, int64_t m, int64_t n, WarpGrid warps,
                                        Refusal *why = nullptr);
/// Layout of the left operand, an M x K tile; warps that differ only in their column hold the same.
/// A `kWidth`, a power of two, is 0 for what the instruction's registers have.
std::optional<Layout> operandALayout(const MmaShape &mma, int64_t m, int64_t k, WarpGrid warps,
                                     Refusal *why = nullptr, int64_t kWidth = 0);
/// Layout of the right operand, a K x N tile; warps that differ only in their row hold the same.
std::optional<Layout> operandBLayout(const MmaShape &mma, int64_t k, int64_t n, WarpGrid warps,
                                     Refusal *why = nullptr, int64_t kWidth = 0);

/// Accumulator of wgmma m64nN: each group of 4 warps owns 64 rows, 16 per warp, its registers in
/// the instruction's order; further groups along M, then along N as `groups` says.
std::optional<Layout> wgmmaAccumulatorLayout(int64_t m, int64_t n, WarpGrid groups,
                                             Refusal *why = nullptr);
/// Left operand of wgmma in registers, elements of `bits` bits.
std::optional<Layout> wgmmaOperandALayout(int bits, int64_t m, int64_t k, WarpGrid groups,
                                          Refusal *why = nullptr);

/// First coordinates along `dim` of the instructions of warp 0, in ascending order, each of so many
/// elements along it.
std::vector<int32_t> instructionStarts(const Layout &layout, int dim, int64_t instructionSize);

/// The layout of a batch of matrices, dimension 0, each laid out as `matrix`: `warps` warps (a
/// power of two) share the batch, above those of the matrix; what is left repeats in registers.
Layout batched(const Layout &matrix, int64_t batch, int64_t warps);

/// One mma instruction of a warp: the first element register of each operand; the instruction uses
/// mma.elementsX() consecutive ones from there. The others are the coordinates of the first in warp
/// 0.
struct MmaStep {
  int32_t a, b, c;
  int32_t row, column, k, batch = 0;
};

/// The instructions of C[M,N] += A[M,K] B[K,N] on one warp, k outermost in each matrix so that
/// neighbouring instructions are independent; the same list serves every warp. The layouts must be
/// the three above for the same shapes and warp grid, or batches of them; nothing if they do not
/// fit together.
std::optional<std::vector<MmaStep>> mmaSteps(const MmaShape &mma, const Layout &a, const Layout &b,
                                             const Layout &c);

} // namespace tile::layout
