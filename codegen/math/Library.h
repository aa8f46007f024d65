// The library of device math functions: those that PTX has no instruction for, in full accuracy.
//
// They are libclc's (LLVM's OpenCL C library), as bitcode inside libtile. A kernel that calls none pays nothing.
#pragma once

#include "base/Refusal.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"
#include "llvm/IR/Module.h"

namespace tile::codegen {

/// A call of the library's function of that name ("exp"), for the operands' type, f32 or f64.
mlir::Value callLibrary(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
                        mlir::ValueRange operands);

/// Whether a module calls the library.
bool callsLibrary(const llvm::Module &module);

/// Gives a module the functions that it calls, to be inlined unless one is called many times. Refuses if the
/// library does not fit the module.
Refusal linkLibrary(llvm::Module &module);

} // namespace tile::codegen
