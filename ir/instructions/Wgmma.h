// The tensor core's instructions `wgmma.mma_async` as a table: which types there are, and which
// widths.
#pragma once

#include "ir/target/Target.h"
#include "ir/tile/TileDialect.h"

#include <optional>
#include <string>

namespace tile::ir {

/// The instructions m64nNkK of one pair of operand types; types are spelt as in PTX. Source: PTX
/// ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions", tables of shapes.
struct WgmmaInstruction {
  llvm::StringLiteral a, b, acc;
  int k;
  int bits;          ///< of an operand's element
  bool takesMnMajor; ///< operands may have neighbours along M or N, not only along K
  int sumBits = 0;   ///< that a sum keeps, of those who keep fewer than f32 has; else 0

  /// "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16"
  [[nodiscard]] std::string name(int64_t n) const;
  /// Is there an instruction of this width?
  [[nodiscard]] bool hasWidth(int64_t n) const;
};

/// Rows of every instruction, and the most columns.
inline constexpr int64_t kWgmmaRows = 64, kWgmmaMostColumns = 256;
/// The most dots that a wait leaves in flight (`wgmma.wait_group`).
inline constexpr uint32_t kMostWgmmaPending = 7;
/// Warps that carry one instruction out together.
inline constexpr int64_t kWarpsPerWarpgroup = 4;
/// Products along K that are summed in fewer bits than f32 has before these are added to sums in
/// f32: four instructions of 8-bit floats, 128 bytes of a row.
inline constexpr int64_t kPromotedDepth = 128;

/// The instructions for operands and accumulators of these element types; none if there are none.
std::optional<WgmmaInstruction> findWgmma(mlir::Type a, mlir::Type b, mlir::Type acc,
                                          bool areUnsigned);

/// Columns of the widest instruction for an accumulator of N columns that `groups` groups of warps
/// share; 0 if there is none.
int64_t wgmmaColumns(const WgmmaInstruction &wgmma, int64_t n, int64_t groups);

} // namespace tile::ir
