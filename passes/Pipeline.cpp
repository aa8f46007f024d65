// THE pipeline: one line a step, above it the sentence that says why it stands here. The order is
// the architecture: each step may rely on what those above it guarantee (see Passes.td).
#include "passes/Pipeline.h"

#include "passes/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tile::passes {

// What the kernel means: still tiles, no threads.
static void addTileSteps(OpPassManager &kernel, const std::string &target) {
  // Steps beyond this one compute with bounds and indices of loops; already how often a loop of
  // constant bounds runs.
  kernel.addPass(createWidenIndices());

  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCSEPass());

  // A sum of a product is still two operations here; later, layouts would keep them apart.
  kernel.addPass(createCombineTileOps());

  // A thread would compute what all elements share once a register; what is a scalar already has no
  // layout to find.
  kernel.addPass(createScalarizeSplats());

  // Products in several terms become plain ones before padding and variants, which know plain ones
  // alone.
  kernel.addPass(createExpandDots({target}));

  // Operands are extended before layouts exist, so that an accumulator is carried extended through
  // a loop.
  kernel.addPass(createPadDots());

  // Teams share the outer indices of a nest, which has a loop of its own as long as it is one.
  kernel.addPass(createPingPongLoops());

  // A nest becomes one loop before unrolling, which then copies the body of the loop that is left.
  kernel.addPass(createFlattenLoops());

  // Bodies are copied before accesses are analysed: the offsets of each copy differ.
  kernel.addPass(createUnrollLoops());

  // Arguments become pointers and extents; the analysis of accesses needs bodies in their final
  // number.
  kernel.addPass(createLowerViews());

  // Extents and strides that LowerViews made constants fold; equal ones become one value.
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCSEPass());

  // What is the same in all iterations leaves its loop while it is one operation on tiles, not one
  // a layout.
  kernel.addPass(createHoistInvariants());

  // Variants are chosen last: each predicate sees the operation as it will be carried out.
  kernel.addPass(createSelectVariants({target}));
}

// How threads hold tiles: layouts, and rings for what products read.
static void addLayoutSteps(OpPassManager &kernel) {
  // The chosen variants of copies and products claim layouts; all other tiles follow them.
  kernel.addPass(createAssignLayouts());

  // Values made on demand for several users in one layout become one.
  kernel.addPass(createCSEPass());

  // Changes of layout move to where they are cheap before any of them becomes an exchange through
  // memory.
  kernel.addPass(createPropagateLayouts());

  // Operands of products are staged in rings, which replaces their changes of layout.
  kernel.addPass(createPromoteToShared());
}

// Loops that fill their rings ahead of the products; with fewer stages, if memory does not suffice
// for the first attempt.
static void addPipeliningSteps(OpPassManager &kernel, const PipelineOptions &options) {
  // What one loop needs at once is known only when its ring exists; the decision is written down
  // before it is acted on.
  kernel.addPass(createScheduleLoops({options.target, options.mostStages}));

  // Whether a warp loads for all teams is known; what follows places the memory and the barriers of
  // each.
  kernel.addPass(createPlaceTeams());

  // Which part of a skewed loop reads what is plain while all stands in one body; each ring is
  // filled ahead by itself.
  kernel.addPass(createSplitRings());

  // Rings are filled ahead while they are rings: their protocol can be verified, bytes and barriers
  // could not.
  kernel.addPass(createPipelineLoops());

  // The loads of a product that is to run ahead must run further ahead already.
  kernel.addPass(createSkewLoops());

  // Releases of fills stand where waits must not pass them, and no product moves any more.
  kernel.addPass(createReorderDots());

  // Rings become allocations, copies, stores and loads: what follows knows memory, not rings.
  kernel.addPass(createLowerRings());
}

// Shared memory and its barriers.
static void addMemorySteps(OpPassManager &kernel, const PipelineOptions &options) {
  const std::string &target = options.target;
  // A subtile is computed beside its store, after the waits for dots, which all stand by now.
  kernel.addPass(createStoreSubtiles());

  // Memory that other blocks read is placed with all other.
  kernel.addPass(createExpandClusterSums({target}));

  // What a step on a counter returns reaches all threads by an exchange: it is made before
  // exchanges become visible.
  kernel.addPass(createExpandGridSums());

  // The exchanges that are left become visible allocations before they are placed.
  kernel.addPass(createExpandScratch({target, options.mostExchangeBytes}));
  kernel.addPass(createCSEPass());

  // All allocations exist: they get offsets by liveness, or an error says who needs what.
  kernel.addPass(createAllocateShared({target}));

  // Barriers follow from the bytes touched, so offsets must be final and nothing may move
  // afterwards.
  kernel.addPass(createPlaceBarriers());
}

// The end of pipelining, for which memory and barriers must be placed: the warp that loads gets a
// program of its own.
static void addRoleSteps(OpPassManager &kernel, const std::string &target) {
  // Each role gets the barriers that it meets at, so all must stand.
  kernel.addPass(createSpecializeWarps({target}));
}

// What is refused once it is known how the kernel is carried out.
static void addChecks(OpPassManager &kernel, const std::string &target) {
  // Roles and stages decide what is alive together. Apart from the steps that are tried again with
  // fewer stages: those take shared memory, not registers.
  kernel.addPass(createEstimateRegisters({target}));
}

void buildLayoutPipeline(OpPassManager &module, const PipelineOptions &options) {
  // Helper functions disappear into the kernel; callables stay functions, which run through the
  // same steps. What they become there is canonicalized below, not by the inliner's own pipeline.
  module.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  OpPassManager &kernel = module.nest<func::FuncOp>();
  addTileSteps(kernel, options.target);
  addLayoutSteps(kernel);
}

void buildMemoryPipeline(OpPassManager &module, const PipelineOptions &options) {
  OpPassManager &kernel = module.nest<func::FuncOp>();
  addPipeliningSteps(kernel, options);
  addMemorySteps(kernel, options);
  addRoleSteps(kernel, options.target);
}

void buildChecks(OpPassManager &module, const PipelineOptions &options) {
  addChecks(module.nest<func::FuncOp>(), options.target);
}

void buildPipeline(OpPassManager &module, const PipelineOptions &options) {
  buildLayoutPipeline(module, options);
  buildMemoryPipeline(module, options);
  buildChecks(module, options);
}

namespace {
struct TargetOption : PassPipelineOptions<TargetOption> {
  Option<std::string> target{*this, "target", llvm::cl::desc("the GPU, such as sm_80"),
                             llvm::cl::init(ir::kDefaultTarget)};
};
} // namespace

void registerPipeline() {
  PassPipelineRegistration<TargetOption>("tile-pipeline", "all passes from tile to tilegpu",
                                         [](OpPassManager &manager, const TargetOption &options) {
                                           buildPipeline(manager, {options.target});
                                         });
}

} // namespace tile::passes
