// The order of steps from tiles laid out over threads to what LLVM's back end prints as PTX.
#pragma once

#include "llvm/IR/PassManager.h"

#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace tile::codegen {

/// The last step on tiles: a kernel waits for the launches before it.
void buildLaunchWaits(mlir::OpPassManager &module, const std::string &target);

/// From tiles to the scalars of one thread; control flow stays `scf`. Each tensor map becomes a
/// parameter of the function.
void buildScalarPipeline(mlir::OpPassManager &module, const std::string &target);

/// From scalars to the dialects `llvm` and `nvvm`.
void buildLlvmPipeline(mlir::OpPassManager &module);

/// LLVM's own passes over LLVM IR, before the back end.
void buildOptimization(llvm::ModulePassManager &module);

} // namespace tile::codegen
