// Matrices A with half of each row left out: which half, the metadata of mma.sp and wgmma.mma_async.sp say.
//
// A row is a sequence of chunks, of each of which half is kept, in 4 bits of metadata:
//   f16, bf16, 8 bits   2 of 4 elements        the two positions, 2 bits each, the first kept element's below
//   tf32                1 of 2 elements        0b0100: the first, 0b1110: the second
//   4 bits              2 of 4 pairs           the two pairs' positions
// A register of metadata holds 8 chunks. With elements of 16 bits and more these are four chunks of row g of the lane's
// group and, above, of row g+8; with narrower ones all eight are of one row. Which lanes of the group have which chunks:
// see place(). The figures of PTX ISA (mma.sp, metadata layouts) show it, but that of m16n8k128, where libraries that run
// on hardware do otherwise.
#pragma once

#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/isa/tensor/MmaElement.h"
#include "runtime/vgpu/isa/tensor/TensorCore.h"

namespace tile::vgpu {

/// The metadata of 16 rows in the registers of a warp.
struct Sparsity {
  Element element = Element::F16;
  uint8_t depth = 32;   // of the rows, before anything is left out; at most 128
  uint8_t selector = 0; // of the lanes that have the metadata
  bool isOrdered = false;

  struct Place {
    unsigned lane, shift;
  };

  unsigned chunkElements() const { return elementBits() == 32 ? 2 : elementBits() == 4 ? 8 : 4; }
  unsigned keptOfChunk() const { return chunkElements() / 2; }
  unsigned chunks() const { return depth / chunkElements(); }
  unsigned kept() const { return depth / 2u; }
  /// The number of selectors: lanes of a group that an instruction does not need hold the metadata of others.
  unsigned selectors() const { return 16 / chunks(); }
  Place place(unsigned row, unsigned chunk) const;
  /// Whether PTX says what these 4 bits mean.
  bool isMeaningful(unsigned code) const;
  /// The position in its chunk of the kept element `i`.
  unsigned position(unsigned code, unsigned i) const;

private:
  unsigned elementBits() const { return 32 / elementsPerRegister(element); }
};

constexpr unsigned kSparseRows = 16, kMaxKept = 64;

/// The kept elements of 16 rows of A, and the positions that they had in their rows.
struct KeptRows {
  float values[kSparseRows][kMaxKept];
  uint8_t positions[kSparseRows][kMaxKept];
  uint32_t meaningless = 0; // lanes with metadata that PTX leaves undefined
};

/// Element j of a word as a float, which holds all of them exactly.
float elementValue(Element element, uint32_t word, unsigned j);

/// The values of fragments: register r has row g + 8(r&1), elements (r>>1)*4e + t*e on of what is kept.
void readKept(const Sparsity &sparsity, ConstRegisters fragments, KeptRows &rows);
/// The positions.
void readMetadata(const Sparsity &sparsity, const uint32_t *metadata, KeptRows &rows);

/// The lanes that have the metadata.
uint32_t metadataLanes(const Sparsity &sparsity);
/// Reports the lanes whose metadata, in that row, are initialised and mean nothing.
void reportMetadata(Warp &warp, const Op &op, const Sparsity &sparsity, const KeptRows &rows,
                    uint32_t metadataRow);

/// `sp` or `sp::ordered_metadata`.
bool isSparseVariant(std::string_view modifier);
/// The sparsity selector: a constant, of as many as there are for this shape.
uint8_t takeSelector(Decoder &decoder, const Operand &operand, const Sparsity &sparsity);

/// The product that multiplyKept makes.
struct KeptProduct {
  Element b = Element::F16;
  SumType sum = SumType::F32;
  unsigned blocks = 1;         // of 8 columns
  std::optional<SumRule> rule; // nothing: chains of fused multiply-adds of f32, in order of k
};

/// D = A*B + C, sums of what is kept: `b` has depth x columns numbers. `c` null: zeros; `d` may be `c`.
void multiplyKept(const Sparsity &sparsity, const KeptRows &a, const float *b,
                  const KeptProduct &product, ConstRegisters c, Registers d);
/// The rule by which hardware of `arch` sums kept elements; nothing for 0, and for integers.
std::optional<SumRule> keptRule(int arch, const Sparsity &sparsity, SumType sum, bool isWgmma);

} // namespace tile::vgpu
