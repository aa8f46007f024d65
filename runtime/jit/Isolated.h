// Compiling in worker processes (tile/Compiling.h): what a compile does wrong ends its worker, and this process gets an error.
#pragma once

#include "codegen/CompileOptions.h"

#include <tile/Error.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mlir {
class ModuleOp;
}

namespace tile::jit {

/// Whether a compile is to go to a worker. One that asks for more than code, which tools do in a process of their own, is not.
bool isIsolated(const codegen::CompileOptions &options = {});

/// Compiles a module in the tile dialect. Throws what a compile in this process would; else, at `where`, InternalCompilerError for a
/// compiler that crashed, Timeout, OutOfMemory, and what WorkerPool.h says.
codegen::CompiledKernel compileIsolated(mlir::ModuleOp module, const std::string &name, Loc where,
                                        const codegen::CompileOptions &options);

/// As assembleForDevice; `kernel` is for messages.
std::vector<std::byte> assembleIsolated(std::string_view ptx, const std::string &target, int arch,
                                        const std::string &kernel);

} // namespace tile::jit
