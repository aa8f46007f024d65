// All passes of tilec. Each has a .cpp and a lit file of its name; passes/Pipeline.cpp puts them in
// order.
#ifndef TILE_PASSES_PASSES_TD
#define TILE_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def CombineTileOps : Pass<"tile-combine-tile-ops", "::mlir::func::FuncOp"> {
  let summary = "Fuse products with additions";
  let description = [{
    Guarantees: a sum of a product and a tile is one `tile.dot`. Relies on: nothing. Before
    ExpandDots, which writes a product out in several.
  }];
}

def ScalarizeSplats : Pass<"tile-scalarize-splats", "::mlir::func::FuncOp"> {
  let summary = "Compute on scalars what is the same in all elements";
  let description = [{
    Guarantees: elementwise operations on splats happen before the splat, and changes of a splat's
    shape are splats. Relies on: nothing. Before LowerViews, since fewer tile operations remain.
  }];
}

def ExpandDots : Pass<"tile-expand-dots", "::mlir::func::FuncOp"> {
  let summary = "Write products out as those that the tensor core has";
  let description = [{
    Guarantees: `precision tf32x3` is three tf32 products, `bf16x3` and `bf16x6` three or six
    products of bf16; the correction terms come first, their NaNs zeroed, so that infinities
    survive. Products of fp8 are f16 where the target multiplies no fp8; `tilegpu.variant` says so.
    Before SelectVariants, which sees plain products.
  }];
  let options = [Option<"target", "target", "std::string", "ir::kDefaultTarget", "the GPU, such as sm_80">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::gpu::TileGpuDialect"];
}

def PadDots : Pass<"tile-pad-dots", "::mlir::func::FuncOp"> {
  let summary = "Extend small products to the tensor core's shapes";
  let description = [{
    Guarantees: M, N and K of a product for which the tensor core has an instruction are multiples of
    an instruction's. Operands are extended by zeros, results cut (`tile.resize`). A result whose
    factors of two are too few for all warps (144x72: an odd number of instructions each way) is
    extended where that at least halves what a thread computes. Relies on: ExpandDots.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def WidenIndices : Pass<"tile-widen-indices", "::mlir::func::FuncOp"> {
  let summary = "Let no index of a loop pass the end of its type";
  let description = [{
    Guarantees: the index of a loop plus its step is a number of its type, or of its type without
    sign where the loop compares as unsigned; bounds are in order where that is. What is known of
    extents, numbers of programs and constants decides which loops stay as they are. Relies on:
    steps are positive. Before all that computes with bounds, the canonicalizer first.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PingPongLoops : Pass<"tile-ping-pong-loops", "::mlir::func::FuncOp"> {
  let summary = "Divide the tiles of each nest that asks for it among two teams";
  let description = [{
    Guarantees: no outer loop carries `tile.ping_pong`. Of a nest that did, and that FlattenLoops can make one loop, the kernel
    has two teams, each with every second outer index, which issue their dots in turn, and the inner loop carries the
    attribute for ScheduleLoops; or a remark says why not.

    Before FlattenLoops: which indices a team has is plain while they have a loop of their own.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tile::gpu::TileGpuDialect"];
}

def FlattenLoops : Pass<"tile-flatten-loops", "::mlir::func::FuncOp"> {
  let summary = "Make one loop of each nest that asks for it";
  let description = [{
    Guarantees: no loop carries `tile.flatten`. A loop that did, whose body holds one loop with bounds
    that the outer index does not decide, is one loop over all pairs, with what stood beside the
    inner one in the first or the last step of each; another nest stays, with a remark.

    Relies on: PingPongLoops, whose steps of the ordered barrier move along.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tile::gpu::TileGpuDialect"];
}

def HoistInvariants : Pass<"tile-hoist-invariants", "::mlir::func::FuncOp"> {
  let summary = "Compute before a loop what is the same in all iterations";
  let description = [{
    Guarantees: what an iteration computes without regard to it was taken out of its loop, unless the
    loop carries `tile.no_licm`, which code generation tells LLVM too. Accesses of memory stay.
  }];
}

def UnrollLoops : Pass<"tile-unroll-loops", "::mlir::func::FuncOp"> {
  let summary = "Unroll the loops that ask for it";
  let description = [{
    Guarantees: no loop carries `tile.unroll`. LLVM's own unroller is off: unrolling is the author's
    decision.
  }];
}

def LowerViews : Pass<"tile-lower-views", "::mlir::func::FuncOp"> {
  let summary = "Expand view arguments and attach what is known to each access";
  let description = [{
    Guarantees: the kernel's arguments are pointers, extents, strides and scalars, each with
    `tile.param` saying which; unit strides are constants; every view is a `tile.make_view`; each
    access of a view carries `tilegpu.access`: order of dimensions in memory, vector, bounds. No
    masks exist yet: some variants of copies need none.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::gpu::TileGpuDialect"];
}

def SelectVariants : Pass<"tile-select-variants", "::mlir::func::FuncOp"> {
  let summary = "Choose how each copy and each product is done";
  let description = [{
    Guarantees: each access of memory and each `tile.dot` has `tilegpu.variant`, with the sentences
    of the better variants that did not apply; accesses through tiles of pointers have
    `tilegpu.access`, products `tilegpu.warp_grid`: one grid for products that pass rows on
    (DotChains), and `tilegpu.k_width` if threads load both factors straight into fragments
    (FragmentLoads). Relies on: LowerViews.
  }];
  let options = [Option<"target", "target", "std::string", "ir::kDefaultTarget", "the GPU, such as sm_80">];
  let dependentDialects = ["::tile::gpu::TileGpuDialect"];
}

def AssignLayouts : Pass<"tile-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "Give every tile a register layout";
  let description = [{
    Guarantees: every tile type has a layout: coalesced for global accesses, fragments for products,
    inferred elsewhere; `tilegpu.convert_layout` stands where two meet. Cheap values (constants,
    aranges, splats and what is made of them alone) are computed anew in each layout instead. Relies
    on: SelectVariants.
  }];
  let dependentDialects = ["::tile::gpu::TileGpuDialect"];
}

def PropagateLayouts : Pass<"tile-propagate-layouts", "::mlir::func::FuncOp"> {
  let summary = "Remove, merge and cheapen changes of layout";
  let description = [{
    Guarantees: no change of layout feeds another; one that follows a widening conversion precedes
    it, one that precedes a narrowing conversion follows it; a changed value that a loop does not
    change is changed before the loop.
  }];
  let dependentDialects = ["::tile::gpu::TileGpuDialect"];
}

def PromoteToShared : Pass<"tile-promote-to-shared", "::mlir::func::FuncOp"> {
  let summary = "Stage operands of products in shared memory";
  let description = [{
    Guarantees: operands of products come out of rings of one stage, whose swizzle suits both the
    store and the load. What a loop loads for the products of its body, and may load ahead, comes in
    one ring, filled at the top of the body: by copies where `tilegpu.variant` says `cp_async`. Rings
    are made at the top of the kernel. Products by wgmma are begun and waited for; sums of 8-bit floats
    are added up in f32 every 128 of K, unless they are `fast`. Relies on: AssignLayouts.
  }];
  let dependentDialects = ["::tile::gpu::TileGpuDialect"];
}

def ScheduleLoops : Pass<"tile-schedule-loops", "::mlir::func::FuncOp"> {
  let summary = "Decide how far the loads of each loop run ahead";
  let description = [{
    Guarantees: a loop that has a ring, or asks for stages, carries `tilegpu.schedule`: stages asked,
    stages given, why; whether it is rotated, and whether a warp of its own fills its ring. No ring
    gets more stages than the shared memory of the target has room for. Relies on: PromoteToShared.
  }];
  let options = [Option<"target", "target", "std::string", "\"\"", "for its shared memory; none: unknown">,
                 Option<"mostStages", "most-stages", "int32_t", "kMostStages", "no loop gets more stages than this">];
  let dependentDialects = ["::tile::gpu::TileGpuDialect"];
}

def PlaceTeams : Pass<"tile-place-teams", "::mlir::func::FuncOp"> {
  let summary = "Let teams share a block, or come one after the other";
  let description = [{
    Guarantees: a kernel has `tile.teams` only if a warp of its own fills the ring of one of its loops, for all
    teams; else its body stands in a loop over them, or one team carries out what they would in turn.
    Relies on: ScheduleLoops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SplitRings : Pass<"tile-split-rings", "::mlir::func::FuncOp"> {
  let summary = "Give each part of a rotated body the ring of what it reads";
  let description = [{
    Guarantees: of a loop that `tilegpu.schedule` calls rotated and whose ring the copy engine fills, tiles that different
    parts of the body read come in different rings, each released behind its last reader. Relies on: ScheduleLoops.
  }];
  let dependentDialects = ["::tile::gpu::TileGpuDialect"];
}

def PipelineLoops : Pass<"tile-pipeline-loops", "::mlir::func::FuncOp"> {
  let summary = "Fill rings iterations ahead";
  let description = [{
    Guarantees: each ring of a loop of S stages has S stages; fills 0 to S - 2 are issued before the
    loop, fill i + S - 1 in iteration i, each only if such an iteration follows. Relies on:
    ScheduleLoops, SplitRings.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SkewLoops : Pass<"tile-skew-loops", "::mlir::func::FuncOp"> {
  let summary = "Compute products that take what an iteration computes an iteration behind";
  let description = [{
    Guarantees: in a loop that `tilegpu.schedule` calls rotated, and whose rings are filled ahead, those
    products and what follows from them stand beside the rest of the next iteration; the first rest
    before the loop, the last such products behind it. Groups of warps take turns at products by
    wgmma. Relies on: PipelineLoops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::tile::gpu::TileGpuDialect"];
}

def ReorderDots : Pass<"tile-reorder-dots", "::mlir::func::FuncOp"> {
  let summary = "Wait for products where their results are taken";
  let description = [{
    Guarantees: between a product by wgmma and its wait stands all that neither takes the result nor
    changes what the product reads. Relies on: SkewLoops.
  }];
  let dependentDialects = ["::tile::gpu::TileGpuDialect"];
}

def StoreSubtiles : Pass<"tile-store-subtiles", "::mlir::func::FuncOp"> {
  let summary = "Store wide tiles of products part after part";
  let description = [{
    Guarantees: no `tile.view_store` has the variant `tma`; a tile that goes to a view by the copy engine, or in quads, is
    converted and stored part by part, of which a thread holds few elements. Relies on: PropagateLayouts.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::gpu::TileGpuDialect"];
}

def LowerRings : Pass<"tile-lower-rings", "::mlir::func::FuncOp"> {
  let summary = "Turn rings into shared memory, loads and stores";
  let description = [{
    Guarantees: no ring is left; a put is a store to its stage, a copy an asynchronous one, a get a wait
    for the copies, a barrier, and the stages. A ring of one stage without copies needs neither:
    PlaceBarriers orders its bytes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::gpu::TileGpuDialect"];
}

def ExpandClusterSums : Pass<"tile-expand-cluster-sums", "::mlir::func::FuncOp"> {
  let summary = "Add up the tiles of a cluster's blocks through shared memory";
  let description = [{
    Guarantees: no `tile.cluster_sum` is left; what it did is a store, loads from each block, and barriers of the cluster on
    either side of these. An error where blocks do not see each other's memory, or may not all come to it. Relies on: layouts.
  }];
  let options = [Option<"target", "target", "std::string", "ir::kDefaultTarget", "the GPU, such as sm_80">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::gpu::TileGpuDialect"];
}

def ExpandGridSums : Pass<"tile-expand-grid-sums", "::mlir::func::FuncOp"> {
  let summary = "Add up the tiles of several programs through global memory";
  let description = [{
    Guarantees: no `tile.grid_sum` is left; what it did is a store in the workspace, a step on a counter, and loads in the program
    that comes last. The kernel has two more arguments, the workspace and its counters, and `tilegpu.workspace` says how much
    of each it needs. Relies on: layouts, LowerViews.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tile::gpu::TileGpuDialect",
                           "::tile::ir::TileDialect"];
}

def ExpandScratch : Pass<"tile-expand-scratch", "::mlir::func::FuncOp"> {
  let summary = "Make every exchange through shared memory explicit";
  let description = [{
    Guarantees: a change of layout that stays in `tilegpu.convert_layout` needs no shared memory; a
    reduction's axis is not spread over warps. What went through shared memory is alloc, store and
    load. A change of layout that needs more than `most-bytes`, or more than a block of the target has, is made part after part
    through the same memory, where registers tell the parts apart in both layouts.
  }];
  let dependentDialects = ["::tile::gpu::TileGpuDialect", "::tile::ir::TileDialect"];
  let options = [Option<"target", "target", "std::string", "ir::kDefaultTarget", "the GPU, such as sm_80">,
                 Option<"mostBytes", "most-bytes", "int64_t", "kMostExchangeBytes", "no change of layout takes more where parts do">];
}

def AllocateShared : Pass<"tile-allocate-shared", "::mlir::func::FuncOp"> {
  let summary = "Place allocations in shared memory";
  let description = [{
    Guarantees: every `tilegpu.smem_alloc` has an `offset`; allocations that are alive together do
    not overlap; the function has `tilegpu.shared_bytes`. An error lists who needs what when the
    target's limit is exceeded.
  }];
  let options = [Option<"target", "target", "std::string", "ir::kDefaultTarget", "the GPU, such as sm_80">];
}

def PlaceBarriers : Pass<"tile-place-barriers", "::mlir::func::FuncOp"> {
  let summary = "Insert barriers where threads touch the same bytes";
  let description = [{
    Guarantees: between two accesses of overlapping bytes of shared memory, one of them a write,
    there is a barrier, on every path and round every loop; likewise between accesses of one global
    argument, so that a program's accesses of it behave in program order. Relies on: AllocateShared.
  }];
  let dependentDialects = ["::tile::gpu::TileGpuDialect"];
}

def SpecializeWarps : Pass<"tile-specialize-warps", "::mlir::func::FuncOp"> {
  let summary = "Let a warp of its own fill rings";
  let description = [{
    Guarantees: in a kernel with a loop that `tilegpu.schedule` calls specialized, and whose ring is
    filled ahead, a branch on the number of the warp has the fills in one arm and all else in the
    other; `tilegpu.producer_warps` counts the warps that do not share tiles. No `tile.by_role` is left.
    Relies on: PlaceBarriers.
  }];
  let options = [Option<"target", "target", "std::string", "ir::kDefaultTarget", "the GPU, such as sm_80">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::tile::gpu::TileGpuDialect"];
}

def EstimateRegisters : Pass<"tile-estimate-registers", "::mlir::func::FuncOp"> {
  let summary = "Refuse kernels whose threads need far more registers than they have";
  let description = [{
    Guarantees: the threads that compute need at most a quarter more registers than they can have, by
    the estimate of RegisterEstimate; others are an error, or a remark where the kernel itself says how
    many they may have. A remark where they need more at all. Relies on: SpecializeWarps.
  }];
  let options = [Option<"target", "target", "std::string", "ir::kDefaultTarget", "the GPU, such as sm_80">,
                 Option<"tellAlways", "tell-always", "bool", "false", "a remark with the estimate of each role">];
}

#endif // TILE_PASSES_PASSES_TD
