// Where the operands of a product by wgmma lie in shared memory. Who chooses the variant and who stages the operands ask the
// same function, so that what was promised is what is built.
#pragma once

#include "ir/Wgmma.h"
#include "ir/gpu/TileGpuDialect.h"
#include "ir/layout/Shared.h"

#include <optional>
#include <string>

namespace tile::passes {

/// The instructions for a product's element types, if there are any.
std::optional<ir::WgmmaInstruction> wgmmaFor(ir::DotOp dot);

/// Columns of the instructions of a product whose groups of four warps share its rows first, then its columns; 0 if they
/// make up no whole instructions. M is a multiple of 64, the kernel's warps of 4.
int64_t wgmmaColumnsOf(ir::DotOp dot, const ir::WgmmaInstruction &wgmma);

/// Is an operand computed where the product stands, so that it would be put to shared memory for this product alone? What
/// is computed before a loop is put there once.
bool isComputedBeside(mlir::OpOperand &operand);

/// The memory of an operand of such a product: ordered as its view if it is loaded, so that copies find neighbours on both
/// sides. Nothing, with a sentence in *why, if it is computed beside the product, or the instructions cannot read it in
/// that order.
std::optional<layout::SharedLayout> wgmmaMemory(mlir::OpOperand &operand, std::string *why);

/// The same as the type of a staged tile; null if there is none.
gpu::SmemType wgmmaStagingType(mlir::OpOperand &operand);

} // namespace tile::passes
