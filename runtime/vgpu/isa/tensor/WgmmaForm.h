// What a decoded wgmma.mma_async does and where its operands are. Inside the virtual GPU: decoding, issue and products share it.
#pragma once

#include "runtime/vgpu/isa/tensor/Sparsity.h"
#include "runtime/vgpu/isa/tensor/TensorCore.h"
#include "runtime/vgpu/machine/Lanes.h"

namespace tile::vgpu {

constexpr unsigned kWarpsOfGroup = 4, kRowsOfWarp = 16, kRowsOfA = 64, kRegistersOfA = 4;

/// Op::a of a wgmma.
struct WgmmaForm {
  ProductShape product;
  bool aInRegisters = false, transA = false, transB = false;
  bool isBits = false;   // elements of one bit; the product has bytes in their place
  bool isSparse = false; // A has half of its depth
  uint8_t selector = 0;  // of its metadata

  uint32_t pack() const {
    return product.blocks | static_cast<uint32_t>(product.a) << 8 |
           static_cast<uint32_t>(product.b) << 12 | static_cast<uint32_t>(product.sum) << 16 |
           uint32_t{product.negate} << 20 | uint32_t{aInRegisters} << 21 | uint32_t{transA} << 22 |
           uint32_t{transB} << 23 | uint32_t{isBits} << 24 | uint32_t{isSparse} << 25 |
           uint32_t{selector} << 26;
  }
  static WgmmaForm unpack(uint32_t bits) {
    WgmmaForm form;
    form.product.blocks = bits & 0xff;
    form.product.a = static_cast<TensorElement>(bits >> 8 & 15);
    form.product.b = static_cast<TensorElement>(bits >> 12 & 15);
    form.product.sum = static_cast<SumType>(bits >> 16 & 15);
    form.product.negate = bits >> 20 & 1;
    form.product.chunks = kChunksOfMatrix;
    form.aInRegisters = bits >> 21 & 1;
    form.transA = bits >> 22 & 1;
    form.transB = bits >> 23 & 1;
    form.isBits = bits >> 24 & 1;
    form.isSparse = bits >> 25 & 1;
    form.selector = bits >> 26 & 3;
    return form;
  }
  uint32_t elementBytes() const { return 4 / elementsPerWord(product.a); }
  MatrixExtent extentOfA() const { return {kRowsOfA, elementBytes(), transA}; }
  MatrixExtent extentOfB() const {
    return {product.blocks * kBlockColumns, elementBytes(), transB,
            kMatrixDepthBytes * (isSparse ? 2 : 1)};
  }
  Sparsity sparsity() const {
    return {static_cast<Element>(product.a), static_cast<uint8_t>(2 * product.depth()), selector};
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

/// Of a matrix descriptor; stops the block if it cannot be used.
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
