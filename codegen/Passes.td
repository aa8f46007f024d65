// The passes of code generation, which follow those of passes/; codegen/Pipeline.cpp has their
// order.
#ifndef TILE_CODEGEN_PASSES_TD
#define TILE_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def WaitForLaunches : Pass<"tile-wait-for-launches", "::mlir::func::FuncOp"> {
  let summary = "Let a kernel wait itself for the launches before it";
  let description = [{
    Guarantees: in a kernel with `tile.dependent`, on a target that can, each thread executes one
    `nvvm.griddepcontrol wait` on every path, before it may touch global memory, and
    `launch_dependents` first of all. Relies on: the whole of the tile pipeline; nothing moves afterwards.
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"sm_80\"",
                        "the machine that is compiled for">];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def LowerToScalars : Pass<"tile-lower-to-scalars", "::mlir::ModuleOp"> {
  let summary = "One thread's view: each tile becomes the values in a thread's registers";
  let description = [{
    Guarantees: no tile and no operation of `tile` or `tilegpu` is left. A tile is one SSA value an
    element the thread holds, never an aggregate; control flow is still `scf`. Relies on: the whole
    of the tile pipeline.
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"sm_80\"",
                        "the machine that is compiled for">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def NestLoops : Pass<"tile-nest-loops", "::mlir::ModuleOp"> {
  let summary = "Restore the loop nest that FlattenLoops merged";
  let description = [{
    Guarantees: what executes in the last step of a tile (`tilegpu.tile_step`) stands after an inner loop, not in a branch of the
    loop, and what executes in the first step before that.
    Relies on: LowerToScalars.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def ScalarsToLlvm : Pass<"tile-scalars-to-llvm", "::mlir::ModuleOp"> {
  let summary = "What is left becomes the LLVM dialect";
  let description = [{
    Guarantees: only `llvm` and `nvvm` operations are left; kernels carry `nvvm.kernel` and their
    block size. Arithmetic uses upstream conversions, math functions the forms PTX has. Relies on: NestLoops.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // TILE_CODEGEN_PASSES_TD
