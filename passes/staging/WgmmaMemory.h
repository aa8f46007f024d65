// Where the operands of a product by wgmma lie in shared memory. Who chooses the variant and who
// stages the operands ask the same function, so that what was promised is what is built.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/instructions/Wgmma.h"
#include "ir/layout/Shared.h"

#include <optional>
#include <string>

namespace tile::passes {

/// The instructions for a product's element types, if there are any.
std::optional<ir::WgmmaInstruction> wgmmaFor(ir::DotOp dot);

/// Columns of the instructions of a product whose groups of four warps share its rows first, then
/// its columns; 0 if they make up no whole instructions. M is a multiple of 64, the kernel's warps
/// of 4.
int64_t wgmmaColumnsOf(ir::DotOp dot, const ir::WgmmaInstruction &wgmma);

/// Does a product by wgmma take its A from registers, as threads hold it: is it computed where the
/// product stands, and not from another product's result with rows for columns, which has to go
/// through shared memory anyway? What is computed before a loop is put there once. Decided once, as
/// isKMajorOperand.
bool staysInRegisters(mlir::OpOperand &a);

/// Is such an operand K-major in shared memory: do neighbours along K lie side by side? It is
/// ordered as its view if it is loaded, so that copies find neighbours on both sides; what is
/// computed, as threads hold it. Decided once, while the load that the operand comes from is still
/// to be seen (gpu::setKMajor).
bool isKMajorOperand(mlir::OpOperand &operand);

/// The memory of an operand of such a product. Nothing, with a sentence in *why, if it is an A that
/// stays in registers, or the instructions cannot read it in that order.
std::optional<layout::SharedLayout> wgmmaMemory(mlir::OpOperand &operand, std::string *why);

/// The same as the type of a staged tile; null if there is none.
gpu::SmemType wgmmaStagingType(mlir::OpOperand &operand);

} // namespace tile::passes
