// A file that shows a fault of the compiler again: the IR before the step that failed, and what to run on it.
#pragma once

#include "codegen/CompileOptions.h"

namespace mlir {
class Operation;
class Pass;
} // namespace mlir

namespace tile::codegen {

/// Replaces the file `options.reproducer` by the module around `op` and the pass that is about to run on `op`, in the
/// form `tile-opt --run-reproducer` reads. No pass: the step from the LLVM dialect to PTX, with a line that says how to
/// repeat it. A file that cannot be written is left out: its reader finds none and says so.
void writeReproducer(const CompileOptions &options, mlir::Operation *op, mlir::Pass *pass);

/// A new name for a reproducer in the folder for temporary files; empty if none can be made.
std::string newReproducerPath();

/// How to see the fault again, for a message: "tile-opt --run-reproducer FILE". Empty if the file does not exist.
std::string howToReproduce(const std::string &path);

} // namespace tile::codegen
