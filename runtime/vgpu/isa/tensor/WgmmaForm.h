// The operand form of wgmma.mma_async, and the rows of its operands. Decoding, issue and products share it.
#pragma once

#include "runtime/vgpu/isa/tensor/Sparsity.h"
#include "runtime/vgpu/isa/tensor/TensorCore.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/OpForm.h"

namespace tile::vgpu {

constexpr unsigned kWarpsOfGroup = 4, kRowsOfWarp = 16, kRowsOfA = 64, kRegistersOfA = 4;

/// As an operation keeps it; a wgmma has a depth of kChunksOfMatrix, so the product needs no field for it.
struct WgmmaForm {
  TensorElement a = TensorElement::F16, b = TensorElement::F16; // of the same width
  SumType sum = SumType::F32;
  uint8_t blocks = 1;       // columns in units of 8
  bool negates : 1 = false; // subtracts the products
  bool aInRegisters : 1 = false, transA : 1 = false, transB : 1 = false;
  bool isBits : 1 = false;   // elements of one bit; the product has bytes in their place
  bool isSparse : 1 = false; // A has half of its depth
  uint8_t selector : 2 = 0;  // of its metadata

  bool operator==(const WgmmaForm &) const = default;

  ProductShape product() const { return {a, b, sum, kChunksOfMatrix, blocks, negates}; }
  uint32_t elementBytes() const { return 4 / elementsPerWord(a); }
  MatrixExtent extentOfA() const { return {kRowsOfA, elementBytes(), transA}; }
  MatrixExtent extentOfB() const {
    return {blocks * kBlockColumns, elementBytes(), transB, kMatrixDepthBytes * (isSparse ? 2 : 1)};
  }
  Sparsity sparsity() const {
    return {static_cast<Element>(a), static_cast<uint8_t>(2 * product().depth()), selector};
  }
};

// Rows of a wgmma: D, then {A's registers or descriptor}, {a sparse A's metadata}, B's descriptor, the predicate scale-d.
inline const uint32_t *rowsOfA(const Op &op) { return op.rows + op.targets; }
inline uint32_t rowOfMetadata(const Op &op) { return op.rows[op.targets + op.sources - 3u]; }
inline uint32_t rowOfB(const Op &op) { return op.rows[op.targets + op.sources - 2u]; }
inline uint32_t rowOfScale(const Op &op) { return op.rows[op.targets + op.sources - 1u]; }

/// The handlers.
void runWgmma(Warp &warp, const Op &op);
void runWgmmaFence(Warp &warp, const Op &op);
void runWgmmaCommit(Warp &warp, const Op &op);
void runWgmmaWait(Warp &warp, const Op &op);

/// Decodes a matrix descriptor; stops the block if it cannot be used.
SharedMatrix wgmmaMatrix(Warp &warp, const Op &op, uint64_t descriptor, const MatrixExtent &extent);
/// One of the four warps of a group.
Warp &memberOf(Cta &cta, const Warpgroup &group, unsigned position);
/// Takes the metadata of the four warps for an issue, and checks them.
void readSparsity(Cta &cta, Warpgroup &group, const Op &op, Warpgroup::Issue &issue);
/// Computes one product with a sparse A.
void computeSparse(Cta &cta, Warpgroup &group, const Warpgroup::Issue &issue);
/// Computes what has been issued in groups up to `time` and not been computed.
void computeUpTo(Cta &cta, Warpgroup &group, uint32_t time);

} // namespace tile::vgpu
