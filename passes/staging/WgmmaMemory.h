// The shared memory of a wgmma's operands. The pass that chooses the variant and the pass that
// stages the operands ask the same function, so that what the one assumed is what the other builds.
#pragma once

#include "base/Refusal.h"
#include "ir/gpu/TileGpuDialect.h"
#include "ir/instructions/Wgmma.h"
#include "ir/layout/Shared.h"

#include <optional>

namespace tile::passes {

/// The instruction for a dot's element types, if there is one.
std::optional<ir::WgmmaInstruction> wgmmaFor(ir::DotOp dot);

/// N of the instructions of a dot whose warpgroups divide its rows first and then its columns; 0 if
/// that leaves no whole instructions. M is a multiple of 64, the kernel's warps of 4.
int64_t wgmmaColumnsOf(ir::DotOp dot, const ir::WgmmaInstruction &wgmma);

/// Does a wgmma take A from registers? It does if A is computed next to the dot, but not from
/// another dot's transposed result, which has to go through shared memory anyway. What is computed
/// before a loop is put to shared memory once. Decided once, like isKMajorOperand.
bool staysInRegisters(mlir::OpOperand &a);

/// Is an operand K-major in shared memory? A loaded one is ordered as its view, so that copies find
/// contiguous elements on both sides; a computed one as threads hold it. Decided once, while the
/// load is still there (gpu::setKMajor).
bool isKMajorOperand(mlir::OpOperand &operand);

/// The memory of an operand of a wgmma. Nothing, with a sentence in *why, if it is an A that stays
/// in registers, or if the instructions cannot read it in that order.
std::optional<layout::SharedLayout> wgmmaMemory(mlir::OpOperand &operand, Refusal *why = nullptr);

/// The same as the type of a staged tile; null if there is none.
gpu::SmemType wgmmaStagingType(mlir::OpOperand &operand);

} // namespace tile::passes
