// THE pipeline, one line and one sentence a step. The order is the architecture: each step may rely on what those above it
// guarantee (see Passes.td).
#include "passes/Pipeline.h"

#include "passes/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tile::passes {

void buildPipeline(OpPassManager &module, const PipelineOptions &options) {
  module.addPass(createInlinerPass()); // callables disappear into the kernel
  OpPassManager &kernel = module.nest<func::FuncOp>();

  // What the kernel means: still tiles, no threads.
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCSEPass());
  kernel.addPass(createCombineTileOps());             // dot + add is one dot, splats move outwards
  kernel.addPass(createExpandDots({options.target})); // multi-term products become single ones
  kernel.addPass(createPadDots());      // small products fill the tensor core's instructions
  kernel.addPass(createFlattenLoops()); // nests that ask for it are one loop
  kernel.addPass(
      createUnrollLoops()); // before views, so that offsets in unrolled bodies are analysed
  kernel.addPass(
      createLowerViews()); // arguments become pointers and extents; accesses know their vectors
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCSEPass());
  kernel.addPass(createHoistInvariants()); // what all iterations share is computed once
  kernel.addPass(createSelectVariants(
      {options.target})); // how each copy and product is done, and why not better

  // How threads do it: layouts, then shared memory.
  kernel.addPass(createAssignLayouts()); // every tile has a layout
  kernel.addPass(createCSEPass());       // values made in several places in one layout become one
  kernel.addPass(createPropagateLayouts()); // changes of layout where they are cheap
  kernel.addPass(createPromoteToShared());  // operands of products are staged in rings
  kernel.addPass(createLowerRings());       // rings are shared memory, stores and loads
  kernel.addPass(createExpandScratch());    // every exchange through shared memory is visible
  kernel.addPass(createCSEPass());
  kernel.addPass(
      createAllocateShared({options.target})); // offsets by liveness, or a table of who needs what
  kernel.addPass(createPlaceBarriers());       // last: it must see every byte touched
}

namespace {
struct TargetOption : PassPipelineOptions<TargetOption> {
  Option<std::string> target{*this, "target", llvm::cl::desc("the GPU, such as sm_80"),
                             llvm::cl::init("sm_80")};
};
} // namespace

void registerPipeline() {
  PassPipelineRegistration<TargetOption>("tile-pipeline", "all passes from tile to tilegpu",
                                         [](OpPassManager &manager, const TargetOption &options) {
                                           buildPipeline(manager, {options.target});
                                         });
}

} // namespace tile::passes
