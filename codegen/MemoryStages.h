// From rings to shared memory, with as many stages as fit.
#pragma once

#include "codegen/PassRunner.h"

#include <string>

namespace tile::codegen {

/// Runs the passes that place what a kernel keeps in shared memory. When the block's memory does not suffice, they start
/// again from where they began, with one stage less for the loops that have most, until it does or none has more than
/// one; the error then is that of the last attempt.
mlir::LogicalResult placeInSharedMemory(mlir::ModuleOp module, PassRunner &runner,
                                        const std::string &target);

} // namespace tile::codegen
