// How many registers a thread of a kernel can have, and whether the assembler is told to give it
// all of them.
#pragma once

#include "ir/target/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::passes {

/// Blocks a multiprocessor that the assembler is told to make room for; 0: it weighs registers
/// against occupancy itself.
int64_t blocksToFit(mlir::func::FuncOp kernel);

/// Does the kernel itself say how many registers a thread may have, or how many blocks must fit?
bool saysRegisters(mlir::func::FuncOp kernel);

/// The most registers of a thread, as they are at the launch: what an instruction can name, what a
/// multiprocessor has for the threads of the blocks that must fit, what the kernel says.
int64_t mostRegistersOf(mlir::func::FuncOp kernel, const ir::Target &target);

} // namespace tile::passes
