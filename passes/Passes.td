// All passes of tilec. Each has a .cpp and a lit file of its name; passes/Pipeline.cpp puts them in
// order.
#ifndef TILE_PASSES_PASSES_TD
#define TILE_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def CombineTileOps : Pass<"tile-combine-tile-ops", "::mlir::func::FuncOp"> {
  let summary = "Fuse dots with additions";
  let description = [{
    Guarantees: the sum of a dot and a tile is one `tile.dot`. Relies on: nothing. Before
    ExpandDots, which expands a dot into several.
  }];
}

def ScalarizeSplats : Pass<"tile-scalarize-splats", "::mlir::func::FuncOp"> {
  let summary = "Replace arithmetic on splats by scalar arithmetic";
  let description = [{
    Guarantees: elementwise operations on splats are computed before the splat, and changes of a
    splat's shape are splats. Relies on: nothing. Before LowerViews, since fewer tile operations
    remain.
  }];
}

def ExpandDots : Pass<"tile-expand-dots", "::mlir::func::FuncOp"> {
  let summary = "Expand dots into those that the tensor core has";
  let description = [{
    Guarantees: `precision tf32x3` is three tf32 dots, `bf16x3` and `bf16x6` three or six bf16 dots;
    the correction terms come first, their NaNs zeroed, so that infinities survive. fp8 dots are f16
    dots if the target has no fp8 MMA; `tilegpu.variant` says so. Before SelectVariants, which sees
    plain dots.
  }];
  let options = [Option<"target", "target", "std::string", "ir::kDefaultTarget", "the GPU, such as sm_80">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::gpu::TileGpuDialect"];
}

def PadDots : Pass<"tile-pad-dots", "::mlir::func::FuncOp"> {
  let summary = "Pad dots to the tensor core's shapes";
  let description = [{
    Guarantees: if the tensor core has an instruction for a dot, M, N and K are multiples of the
    instruction's. Operands are padded with zeros, results cut (`tile.resize`). A result with too
    few factors of two for all warps (144x72: an odd number of instructions each way) is padded if
    that at least halves the work per thread. Relies on: ExpandDots.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def WidenIndices : Pass<"tile-widen-indices", "::mlir::func::FuncOp"> {
  let summary = "Prevent loop indices from overflowing";
  let description = [{
    Guarantees: the index of a loop plus its step does not overflow its type, or the unsigned type
    if the loop compares as unsigned; bounds are in order in that case. Loops that cannot overflow
    by what is known about extents, numbers of programs and constants stay as they are. Relies on:
    steps are positive. Before all that computes with bounds, the canonicalizer first.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PingPongLoops : Pass<"tile-ping-pong-loops", "::mlir::func::FuncOp"> {
  let summary = "Divide the tiles of each nest that asks for it among two teams";
  let description = [{
    Guarantees: no outer loop carries `tile.ping_pong`. If one did, and FlattenLoops can merge its
    nest, the kernel has two teams, each with every second outer index, which issue their dots in a
    fixed order, and the inner loop carries the attribute for ScheduleLoops; else a remark says why
    not.

    Before FlattenLoops: a team's outer indices are easy to choose while they have a loop of their
    own.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tile::gpu::TileGpuDialect"];
}

def FlattenLoops : Pass<"tile-flatten-loops", "::mlir::func::FuncOp"> {
  let summary = "Merge each loop nest that asks for it";
  let description = [{
    Guarantees: no loop carries `tile.flatten`. If a loop did, and its body holds one loop whose
    bounds do not depend on the outer index, the nest is one loop over all pairs of indices, with
    the operations around the inner loop in the first or the last step of each tile; another nest
    stays, with a remark.

    Relies on: PingPongLoops, whose ordered barrier moves along.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tile::gpu::TileGpuDialect"];
}

def HoistInvariants : Pass<"tile-hoist-invariants", "::mlir::func::FuncOp"> {
  let summary = "Move loop-invariant code out of loops";
  let description = [{
    Guarantees: loop-invariant operations are outside of their loop, unless the loop carries
    `tile.no_licm`, which code generation passes on to LLVM. Memory accesses stay.
  }];
}

def UnrollLoops : Pass<"tile-unroll-loops", "::mlir::func::FuncOp"> {
  let summary = "Unroll the loops that ask for it";
  let description = [{
    Guarantees: no loop carries `tile.unroll`. LLVM's own unroller is off: the author decides on
    unrolling.
  }];
}

def LowerViews : Pass<"tile-lower-views", "::mlir::func::FuncOp"> {
  let summary = "Expand view arguments and annotate each access";
  let description = [{
    Guarantees: the kernel's arguments are pointers, extents, strides and scalars, as `tile.param`
    says of each; unit strides are constants; every view is a `tile.make_view`; each access of a
    view carries `tilegpu.access`: order of dimensions in memory, vector, bounds. There are no masks
    yet, since some variants of copies need none.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::gpu::TileGpuDialect"];
}

def SelectVariants : Pass<"tile-select-variants", "::mlir::func::FuncOp"> {
  let summary = "Choose the variant of each copy and each dot";
  let description = [{
    Guarantees: each memory access and each `tile.dot` has `tilegpu.variant`, with the sentences of
    the better variants that did not apply; accesses through tiles of pointers have
    `tilegpu.access`, dots `tilegpu.warp_grid`: one grid for dots that pass rows on (DotChains), and
    `tilegpu.k_width` if threads load both operands straight into fragments (FragmentLoads). Relies
    on: LowerViews.
  }];
  let options = [Option<"target", "target", "std::string", "ir::kDefaultTarget", "the GPU, such as sm_80">];
  let dependentDialects = ["::tile::gpu::TileGpuDialect"];
}

def AssignLayouts : Pass<"tile-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "Give every tile a register layout";
  let description = [{
    Guarantees: every tile type has a layout: coalesced for global accesses, fragments for dots,
    inferred elsewhere; `tilegpu.convert_layout` stands where two of them differ. Cheap values
    (constants, aranges, splats and what is computed from them alone) are computed again in each
    layout instead. Relies on: SelectVariants.
  }];
  let dependentDialects = ["::tile::gpu::TileGpuDialect"];
}

def PropagateLayouts : Pass<"tile-propagate-layouts", "::mlir::func::FuncOp"> {
  let summary = "Remove, merge and cheapen changes of layout";
  let description = [{
    Guarantees: no change of layout feeds another; one after a widening conversion is moved before
    it, one before a narrowing conversion after it; a loop-invariant value changes its layout before
    the loop.
  }];
  let dependentDialects = ["::tile::gpu::TileGpuDialect"];
}

def PromoteToShared : Pass<"tile-promote-to-shared", "::mlir::func::FuncOp"> {
  let summary = "Stage operands of dots in shared memory";
  let description = [{
    Guarantees: operands of dots come out of rings of one stage, whose swizzle suits both the store
    and the load. Everything that a loop loads for the dots of its body, and may load ahead, comes
    in one ring, filled at the top of the body: by copies if `tilegpu.variant` says `cp_async` or
    `tma`. Rings are allocated at the top of the kernel. Each wgmma is issued and waited for;
    accumulators of 8-bit floats are added up in f32 every 128 of K, unless they are `fast`. Relies
    on: AssignLayouts.
  }];
  let dependentDialects = ["::tile::gpu::TileGpuDialect"];
}

def ScheduleLoops : Pass<"tile-schedule-loops", "::mlir::func::FuncOp"> {
  let summary = "Decide how each loop is pipelined";
  let description = [{
    Guarantees: a loop that has a ring, or asks for stages, skew or a producer warp, carries
    `tilegpu.loop_plan`: the stages it asked for and gets, and why; the dots in flight across its
    back edge; whether it is skewed, and whether a producer warp fills its rings; and the order in
    which dots are issued. No ring gets more stages than fit in the target's shared memory. Relies
    on: PromoteToShared.
  }];
  let options = [Option<"target", "target", "std::string", "\"\"", "for its shared memory; none: unknown">,
                 Option<"mostStages", "most-stages", "int32_t", "kMostStages", "no loop gets more stages than this">];
  let dependentDialects = ["::tile::gpu::TileGpuDialect"];
}

def PlaceTeams : Pass<"tile-place-teams", "::mlir::func::FuncOp"> {
  let summary = "Let teams share a block, or execute them one after the other";
  let description = [{
    Guarantees: a kernel has `tile.teams` only if a producer warp fills the ring of one of its
    loops, for all teams; else its body stands in a loop over them, or one team computes the tiles
    that they would alternate. Relies on: ScheduleLoops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SplitRings : Pass<"tile-split-rings", "::mlir::func::FuncOp"> {
  let summary = "Give each part of a skewed loop a ring of its own";
  let description = [{
    Guarantees: if `tilegpu.loop_plan` says that a loop is skewed, and TMA fills its ring, tiles
    that different parts of the body read are in different rings, each released after its last
    reader. Relies on: ScheduleLoops.
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
  let summary = "Let dots that depend on an iteration's results lag one iteration";
  let description = [{
    Guarantees: in a loop that is skewed by its `tilegpu.loop_plan`, and whose rings are filled
    ahead, the lagging part of an iteration stands next to the leading part of the following one;
    the first leading part is before the loop, the last lagging part after it. Warpgroups issue
    their dots in a fixed order if the plan says so. Relies on: PipelineLoops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::tile::gpu::TileGpuDialect"];
}

def ReorderDots : Pass<"tile-reorder-dots", "::mlir::func::FuncOp"> {
  let summary = "Wait for dots where their results are used";
  let description = [{
    Guarantees: everything that neither uses the result of a wgmma nor changes what it reads stands
    before the wait for it. Relies on: SkewLoops.
  }];
  let dependentDialects = ["::tile::gpu::TileGpuDialect"];
}

def StoreSubtiles : Pass<"tile-store-subtiles", "::mlir::func::FuncOp"> {
  let summary = "Store wide tiles of dots in subtiles";
  let description = [{
    Guarantees: no `tile.view_store` has the variant `tma`; a tile that is stored by TMA, or in
    quads, is converted and stored in subtiles, of which a thread holds few elements. Relies on:
    PropagateLayouts.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::gpu::TileGpuDialect"];
}

def LowerRings : Pass<"tile-lower-rings", "::mlir::func::FuncOp"> {
  let summary = "Lower rings to shared memory, copies and waits";
  let description = [{
    Guarantees: no ring is left; a put is a store to its stage, a copy an asynchronous one, a
    consumer_wait a wait for the copies, followed by a barrier unless TMA alone fills the ring. A
    ring of one stage without copies needs neither: PlaceBarriers orders its bytes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::gpu::TileGpuDialect"];
}

def ExpandClusterSums : Pass<"tile-expand-cluster-sums", "::mlir::func::FuncOp"> {
  let summary = "Add the tiles of a cluster's blocks through shared memory";
  let description = [{
    Guarantees: no `tile.cluster_sum` is left; it is a store and loads from each block, between
    barriers of the cluster. An error if blocks cannot access each other's memory, or may not all
    execute it. Relies on: layouts.
  }];
  let options = [Option<"target", "target", "std::string", "ir::kDefaultTarget", "the GPU, such as sm_80">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::gpu::TileGpuDialect"];
}

def ExpandGridSums : Pass<"tile-expand-grid-sums", "::mlir::func::FuncOp"> {
  let summary = "Add the tiles of several programs through global memory";
  let description = [{
    Guarantees: no `tile.grid_sum` is left; it is a store to the workspace, an increment of a
    counter, and loads in the last program to arrive. The kernel has two more arguments, the
    workspace and its counters, and `tilegpu.workspace` says how much of each it needs. Relies on:
    layouts, LowerViews.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tile::gpu::TileGpuDialect",
                           "::tile::ir::TileDialect"];
}

def ExpandScratch : Pass<"tile-expand-scratch", "::mlir::func::FuncOp"> {
  let summary = "Make every exchange through shared memory explicit";
  let description = [{
    Guarantees: a remaining `tilegpu.convert_layout` needs no shared memory; no reduction's axis is
    spread over warps. Exchanges through shared memory are alloc, store and load. A change of layout
    that needs more than `most-bytes`, or more than a block of the target has, is made piece by
    piece through the same memory, if registers tell the pieces apart in both layouts.
  }];
  let dependentDialects = ["::tile::gpu::TileGpuDialect", "::tile::ir::TileDialect"];
  let options = [Option<"target", "target", "std::string", "ir::kDefaultTarget", "the GPU, such as sm_80">,
                 Option<"mostBytes", "most-bytes", "int64_t", "kMostExchangeBytes", "no change of layout takes more where parts do">];
}

def AllocateShared : Pass<"tile-allocate-shared", "::mlir::func::FuncOp"> {
  let summary = "Place allocations in shared memory";
  let description = [{
    Guarantees: every `tilegpu.smem_alloc` has an `offset`; allocations that are alive together do
    not overlap; the function has `tilegpu.shared_bytes`. If the target's limit is exceeded, an
    error lists the allocations and what needs them.
  }];
  let options = [Option<"target", "target", "std::string", "ir::kDefaultTarget", "the GPU, such as sm_80">];
}

def PlaceBarriers : Pass<"tile-place-barriers", "::mlir::func::FuncOp"> {
  let summary = "Insert barriers where threads access the same bytes";
  let description = [{
    Guarantees: between two accesses of overlapping bytes of shared memory, one of them a write,
    there is a barrier, on every path and across iterations of every loop; likewise between accesses
    of one global argument, so that a program's accesses of it happen in program order. Relies on:
    AllocateShared.
  }];
  let dependentDialects = ["::tile::gpu::TileGpuDialect"];
}

def SpecializeWarps : Pass<"tile-specialize-warps", "::mlir::func::FuncOp"> {
  let summary = "Let a producer warp fill rings";
  let description = [{
    Guarantees: if the `tilegpu.loop_plan` of one of its loops has a producer, the kernel is one
    `tilegpu.warp_specialize`, with the fills in the producer's region and all else in the
    consumers'. No `tile.by_role` is left in it. Relies on: PlaceBarriers.
  }];
  let options = [Option<"target", "target", "std::string", "ir::kDefaultTarget", "the GPU, such as sm_80">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::tile::gpu::TileGpuDialect"];
}

def EstimateRegisters : Pass<"tile-estimate-registers", "::mlir::func::FuncOp"> {
  let summary = "Refuse kernels whose threads need far more registers than they have";
  let description = [{
    Guarantees: consumer threads need at most a quarter more registers than they can have, by the
    estimate of RegisterEstimate; more is an error, or a remark if the kernel itself sets the limit.
    A remark if they need more at all. Relies on: SpecializeWarps.
  }];
  let options = [Option<"target", "target", "std::string", "ir::kDefaultTarget", "the GPU, such as sm_80">,
                 Option<"tellAlways", "tell-always", "bool", "false", "a remark with the estimate of each role">];
}

#endif // TILE_PASSES_PASSES_TD
