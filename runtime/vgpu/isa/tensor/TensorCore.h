// The arithmetic of tensor cores: D = A*B + C for the 16 rows of one warp, as mma.sync and wgmma need it.
//
// Registers hold fragments: rows of 32 lanes. A *word* is a 32-bit register of a lane with e elements of the depth k; four
// words in a row, one of each lane t of a group of four, are a *chunk* of 16 bytes. With g = lane/4:
//   A register 2*chunk + half: row 8*half + g     B register chunk: column g     k = (4*chunk + t)*e + j
//   D and C element 4*block + i: row 8*(i/2) + g, column 8*block + 2t + i%2      (f16: two elements a register)
// The same 16 bytes are a row of a core matrix in shared memory, so both kinds of operand take one way: they are converted
// to f32, in which all products are exact, and laid out for the multiplication.
//
// Sums are chains of fused f32 multiply-adds in order of k: close to, not equal to, the bits of hardware, whose order the
// ISA leaves open; see TensorSum.h for those. Sums of 8-bit integers are exact in f32 and added to C as integers.
#pragma once

#include "runtime/vgpu/isa/tensor/SharedMatrix.h"
#include "runtime/vgpu/isa/tensor/TensorSum.h"

#include <cstddef>
#include <optional>
#include <span>

namespace tile::vgpu {

constexpr unsigned kMaxChunks = 8, kMaxBlocks = 32, kBlockColumns = 8, kMaxWordElements = 4;
/// A matrix in shared memory has the depth of one instruction.
constexpr unsigned kChunksOfMatrix = kMatrixDepthBytes / kChunkBytes;

/// The type of C and D, and so their layout in registers; S32Saturated clamps where S32 wraps.
enum class SumType : uint8_t { F32, F16, S32, S32Saturated };

/// One warp's product.
struct ProductShape {
  TensorElement a = TensorElement::F16, b = TensorElement::F16; // of the same width
  SumType sum = SumType::F32;
  unsigned chunks = 2; // depth in units of 16 bytes
  unsigned blocks = 1; // columns in units of 8
  bool negate = false; // subtract the products

  constexpr unsigned depth() const { return chunks * 4 * elementsPerWord(a); }
};

/// The operands, converted and laid out. Uninitialised until prepared.
struct alignas(64) PreparedA {
  /// [chunk][j][half][lane]
  float values[kMaxChunks * kMaxWordElements * 2 * 32];
};
template <unsigned Blocks> struct alignas(64) PreparedBlocks {
  /// [block][k][column]: the even columns, then the odd ones
  float values[Blocks * kMaxChunks * 4 * kMaxWordElements * kBlockColumns];
};
using PreparedB = PreparedBlocks<kMaxBlocks>;
using PreparedBlock = PreparedBlocks<1>;

/// Registers are given by pointers to their rows of 32 lanes.
using Registers = uint32_t *const *;
using ConstRegisters = const uint32_t *const *;

/// Shared memory as the host has it; `base` is the shared address of its first byte.
struct SharedBytes {
  std::span<const uint8_t> bytes;
  uint32_t base = 0;
  /// The 16 bytes at that address, null if they are not all inside.
  const uint8_t *chunk(uint32_t address) const {
    uint32_t offset = address - base;
    return offset < bytes.size() && bytes.size() - offset >= kChunkBytes ? bytes.data() + offset
                                                                         : nullptr;
  }
};

/// One way to compute: portable, or for an extension of the instruction set. All give the same bits.
struct TensorKernels {
  const char *name;
  /// 32 words become floats: element j of word i goes to values[j * stride + i], with the bits of `flip` inverted.
  void (*convert)(TensorElement element, const uint32_t *words, float *values, size_t stride,
                  uint32_t flip);
  /// For each chunk of a block 32 words, [column][word], become rows.
  void (*convertColumns)(TensorElement element, ConstRegisters chunks, unsigned count, float *rows);
  /// For each k 8 elements of 16 bits, of neighbouring columns, become one row of a block.
  void (*convertRows)(TensorElement element, const uint8_t *const *elements, unsigned depth,
                      float *rows);
  /// `c` null: zeros. `d` may be `c`.
  void (*multiply)(const ProductShape &shape, const float *a, const float *b, ConstRegisters c,
                   Registers d);
};
/// The portable kernels, then those this processor can run, slowest first.
std::span<const TensorKernels *const> tensorKernels();
const TensorKernels &bestTensorKernels();

/// A from registers, 2 a chunk.
void prepareA(const ProductShape &shape, ConstRegisters registers, PreparedA &a,
              const TensorKernels &kernels = bestTensorKernels());
/// A of warp `warp` of four from matrices of 64 rows that follow each other in depth. Returns the address of a chunk that is
/// outside shared memory, if any.
std::optional<uint32_t> prepareA(const ProductShape &shape, std::span<const SharedMatrix> matrices,
                                 const SharedBytes &shared, unsigned warp, PreparedA &a,
                                 const TensorKernels &kernels = bestTensorKernels());
/// B from registers, for each block 1 a chunk.
void prepareB(const ProductShape &shape, ConstRegisters registers, PreparedB &b,
              const TensorKernels &kernels = bestTensorKernels());
/// Prepares B from registers where `shape` has one block.
void prepareB(const ProductShape &shape, ConstRegisters registers, PreparedBlock &b,
              const TensorKernels &kernels = bestTensorKernels());
/// B from matrices of all blocks. Needed once for the four warps of a wgmma.
std::optional<uint32_t> prepareB(const ProductShape &shape, std::span<const SharedMatrix> matrices,
                                 const SharedBytes &shared, PreparedB &b,
                                 const TensorKernels &kernels = bestTensorKernels());

inline std::optional<uint32_t> prepareA(const ProductShape &shape, const SharedMatrix &matrix,
                                        const SharedBytes &shared, unsigned warp, PreparedA &a,
                                        const TensorKernels &kernels = bestTensorKernels()) {
  return prepareA(shape, std::span(&matrix, 1), shared, warp, a, kernels);
}
inline std::optional<uint32_t> prepareB(const ProductShape &shape, const SharedMatrix &matrix,
                                        const SharedBytes &shared, PreparedB &b,
                                        const TensorKernels &kernels = bestTensorKernels()) {
  return prepareB(shape, std::span(&matrix, 1), shared, b, kernels);
}

/// D = A*B + C, or A*B where `c` is null. Registers: 4 a block, of f16 2. `d` may be `c`, otherwise they do not overlap.
void multiply(const ProductShape &shape, const PreparedA &a, const PreparedB &b, ConstRegisters c,
              Registers d, const TensorKernels &kernels = bestTensorKernels());
/// Multiplies with the blocks of B from `firstB` on.
void multiply(const ProductShape &shape, const PreparedA &a, const PreparedB &b, unsigned firstB,
              ConstRegisters c, Registers d, const TensorKernels &kernels = bestTensorKernels());
/// Multiplies where `shape` has one block.
void multiply(const ProductShape &shape, const PreparedA &a, const PreparedBlock &b,
              ConstRegisters c, Registers d, const TensorKernels &kernels = bestTensorKernels());
/// The rule by which hardware of `arch` sums; nothing for 0, and for integers.
std::optional<SumRule> hardwareRule(int arch, const ProductShape &shape, bool isWgmma);
/// Multiplies with the sums of hardware, with the blocks of B from `firstB` on.
void multiplyAs(const SumRule &rule, const ProductShape &shape, const PreparedA &a,
                const PreparedB &b, ConstRegisters c, Registers d, unsigned firstB = 0);
void multiplyAs(const SumRule &rule, const ProductShape &shape, const PreparedA &a,
                const PreparedBlock &b, ConstRegisters c, Registers d);

} // namespace tile::vgpu
