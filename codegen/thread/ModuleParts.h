// What a lowering adds beside the code of its operation: declarations, texts, local memory,
// parameters.
//
// Guarantees: what is asked for twice is there once, and no name of the module is taken again.
#pragma once

#include "codegen/thread/Threads.h"
#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace tile::codegen {

class ModuleParts {
public:
  /// `function` is the one over scalars, which gets the parameters.
  ModuleParts(ThreadValues &values, Threads &threads, mlir::func::FuncOp function)
      : values_(values), threads_(threads), function_(function) {}

  /// The module itself.
  mlir::ModuleOp op() const;
  /// A function that is defined elsewhere, declared once; a conflicting declaration is null.
  mlir::LLVM::LLVMFuncOp externalFunction(llvm::StringRef name, mlir::LLVM::LLVMFunctionType type);
  /// The generic address of a text in global memory, ended by a NUL.
  mlir::Value textAddress(llvm::StringRef text);
  /// Space in local memory, as a generic pointer, made once at the top of the kernel.
  mlir::Value localBuffer(int64_t bytes);
  /// The address of a tensor map that the launch passes: a parameter of the function, one for each
  /// map.
  mlir::Value tensorMap(gpu::TensorMapAttr map);

private:
  ThreadValues &values_;
  Threads &threads_;
  mlir::func::FuncOp function_;
  int numTexts_ = 0;
  llvm::StringMap<mlir::LLVM::GlobalOp> texts_;
};

} // namespace tile::codegen
