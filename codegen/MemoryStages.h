// From rings to shared memory, with as many stages as fit beside the changes of layout.
#pragma once

#include "codegen/PassRunner.h"

#include <string>

namespace tile::codegen {

/// Runs the passes that place what a kernel keeps in shared memory. When the block's memory does not suffice, they start
/// again from where they began, with one stage less for the loops that have most; if none has more than one, with changes of
/// layout in parts. The error of the last attempt counts.
mlir::LogicalResult placeInSharedMemory(mlir::ModuleOp module, PassRunner &runner,
                                        const std::string &target);

} // namespace tile::codegen
