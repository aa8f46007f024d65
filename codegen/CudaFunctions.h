// The CUDA C++ functions that a kernel calls: their names in PTX, and the list of what is to be compiled.
#pragma once

#include "codegen/compiled/CompiledKernel.h"
#include "ir/tile/TileDialect.h"

namespace tile::codegen {

/// The symbol under which PTX calls the function of an operation; the same for the same source, entry and signature.
std::string cudaSymbolOf(ir::InlineCudaOp op);

/// What a module calls, each function once.
std::vector<CudaFunction> cudaFunctionsOf(mlir::ModuleOp module);

} // namespace tile::codegen
