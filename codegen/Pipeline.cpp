// The second page of the pipeline: one line a step, above it the sentence that says why it stands
// here. The first page is passes/Pipeline.cpp. Compile.cpp runs both: layouts, then memory (with
// fewer stages as long as it does not suffice, MemoryStages.cpp), launch waits, checks, scalars,
// LLVM. EmitPtx.cpp runs LLVM's passes and the back end.
#include "codegen/Pipeline.h"

#include "codegen/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace mlir;

namespace tile::codegen {

void buildLaunchWaits(OpPassManager &module, const std::string &target) {
  // Roles have branches of their own by now, each of which waits by itself, and no access moves any
  // more.
  module.addNestedPass<func::FuncOp>(createWaitForLaunches({target}));
}

void buildScalarPipeline(OpPassManager &module, const std::string &target) {
  // Layouts, offsets and barriers are final, so each operation is lowered by itself, without a look
  // at its neighbours.
  module.addPass(createLowerToScalars({target}));

  // What a tile begins and ends with leaves the branches of its loop: ptxas follows wgmma through
  // loops only. Branches still are `scf`, and what they return is the scalars that one thread
  // holds.
  module.addPass(createNestLoops());
}

void buildLlvmPipeline(OpPassManager &module) {
  // Conversions of MLIR know scalars alone, and structured loops are needed no longer.
  module.addPass(createScalarsToLlvm());

  // Lines for reports and profilers, once functions are LLVM's. More than directives would put
  // `debug` on `.target`, which ruins the code.
  module.addPass(LLVM::createDIScopeForLLVMFuncOpPass({LLVM::DIEmissionKind::DebugDirectivesOnly}));
}

// The kernels are straight lines and loops without allocas: -O3's vectorisers and unrollers have
// nothing to do in them.
void buildOptimization(llvm::ModulePassManager &module) {
  // Calls of the library of math functions disappear, so that what follows sees one function.
  module.addPass(llvm::AlwaysInlinerPass());

  llvm::FunctionPassManager function;
  // Fewer blocks, so that equal values come to stand in one of them.
  function.addPass(llvm::SimplifyCFGPass());

  // Lowered one by one, operations compute the same addresses again and again.
  function.addPass(llvm::EarlyCSEPass(true));

  // Arithmetic gets one form, by which the next two find what is invariant and what is equal.
  function.addPass(llvm::InstCombinePass());

  // The lowering leaves the arithmetic of addresses in loops; `.no_licm()` keeps it there.
  function.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                         /*UseMemorySSA=*/true));

  // Equal values of different blocks become one.
  function.addPass(llvm::GVNPass());

  // What GVN made equal folds, and branches on it go.
  function.addPass(llvm::InstCombinePass());
  function.addPass(llvm::SimplifyCFGPass());
  module.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(function)));
}

} // namespace tile::codegen
