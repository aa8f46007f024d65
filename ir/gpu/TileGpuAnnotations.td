// The attributes by which passes inform later ones; ir/annotations attaches and reads them.
#ifndef TILE_IR_TILEGPUANNOTATIONS_TD
#define TILE_IR_TILEGPUANNOTATIONS_TD

include "ir/gpu/TileGpuDialect.td"
include "mlir/IR/EnumAttr.td"

def TileGpu_Bounds : I32Enum<"Bounds", "how positions along a dimension of a tile are checked against the view's extent", [
    I32EnumCase<"None", 0, "none">, I32EnumCase<"WholeTile", 1, "tile">, I32EnumCase<"EachElement", 2, "element">]> {
  let cppNamespace = "::tile::gpu";
}

def TileGpu_AccessAttr : TileGpu_Attr<"Access", "access"> {
  let summary = "What is known about a load, store or prefetch of a tile";
  let description = [{
    `order` lists the tile's dimensions from the fastest varying in memory, `vector` is the number
    of adjacent elements that one access may take. Accesses of views have `bounds`, one per
    dimension: `none` needs no check, `tile` is inside or outside as a whole, `element` is checked
    element by element.

    `#tilegpu.access<order = [1, 0], vector = 8, bounds = [tile, element]>`, or without bounds through
    pointers.
  }];
  let parameters = (ins ArrayRefParameter<"int32_t">:$order, "int32_t":$vector,
                        OptionalArrayRefParameter<"::tile::gpu::Bounds">:$bounds);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

// The numbers are those of the language's CopyBy and Mma.
def TileGpu_LoadVariant : I32Enum<"LoadVariant", "which instructions load a tile", [
    I32EnumCase<"Undecided", 0, "undecided">, I32EnumCase<"CpAsync", 1, "cp_async">, I32EnumCase<"Vector", 2, "vector">,
    I32EnumCase<"Scalar", 3, "scalar">, I32EnumCase<"Tma", 7, "tma">]> {
  let cppNamespace = "::tile::gpu";
}

def TileGpu_StoreVariant : I32Enum<"StoreVariant", "which instructions store a tile", [
    I32EnumCase<"Undecided", 0, "undecided">, I32EnumCase<"Vector", 2, "vector">, I32EnumCase<"Scalar", 3, "scalar">,
    I32EnumCase<"Tma", 7, "tma">, I32EnumCase<"Quad", 8, "quad">]> {
  let cppNamespace = "::tile::gpu";
}

def TileGpu_DotVariant : I32Enum<"DotVariant", "which instructions compute a dot", [
    I32EnumCase<"Undecided", 0, "undecided">, I32EnumCase<"MmaSync", 4, "mma_sync">, I32EnumCase<"Fma", 5, "fma">,
    I32EnumCase<"Wgmma", 6, "wgmma">]> {
  let cppNamespace = "::tile::gpu";
}

class TileGpu_VariantAttr<EnumInfo kinds, string name, string attrMnemonic> : TileGpu_Attr<name, attrMnemonic> {
  let parameters = (ins EnumParameter<kinds>:$kind, OptionalParameter<"::mlir::ArrayAttr">:$refused);
  let assemblyFormat = "`<` $kind (`,` `refused` `=` $refused^)? `>`";
  let genVerifyDecl = 1;
}

def TileGpu_LoadVariantAttr : TileGpu_VariantAttr<TileGpu_LoadVariant, "LoadVariant", "load"> {
  let summary = "The chosen variant of a load, and why better ones were refused";
  let description = [{
    A pass that rules a variant out before one is chosen leaves `undecided` with its sentence.

    `#tilegpu.load<vector, refused = ["cp_async refused: no product of its body depends on it"]>`
  }];
}

def TileGpu_StoreVariantAttr : TileGpu_VariantAttr<TileGpu_StoreVariant, "StoreVariant", "store"> {
  let summary = "The chosen variant of a store, and why better ones were refused";
  let description = [{
    With `quad` four lanes exchange elements, so that each stores 16 bytes.

    `#tilegpu.store<quad>`
  }];
}

def TileGpu_DotVariantAttr : TileGpu_VariantAttr<TileGpu_DotVariant, "DotVariant", "dot"> {
  let summary = "The chosen variant of a dot, and why better ones were refused";
  let description = [{
    `#tilegpu.dot<fma, refused = ["mma_sync refused: M is 8, not a multiple of 16"]>`
  }];
}

def TileGpu_WarpGridAttr : TileGpu_Attr<"WarpGrid", "warp_grid"> {
  let summary = "How the warps of a kernel divide the result of a dot";
  let description = [{
    The number of warps along the rows and columns of the result, and along the batch if there is
    one; powers of two.

    `#tilegpu.warp_grid<rows = 2, columns = 2>`
  }];
  let parameters = (ins "int32_t":$rows, "int32_t":$columns, DefaultValuedParameter<"int32_t", "1">:$batch);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def TileGpu_Order : I32Enum<"Order", "who issues dots in a fixed order", [
    I32EnumCase<"None", 0, "none">, I32EnumCase<"Warpgroups", 1, "warpgroups">, I32EnumCase<"PingPong", 2, "ping_pong">]> {
  let cppNamespace = "::tile::gpu";
}

def TileGpu_LoopPlanAttr : TileGpu_Attr<"LoopPlan", "loop_plan"> {
  let summary = "How a loop is pipelined";
  let description = [{
    Only ScheduleLoops writes it; the passes that implement it, reports and estimates read it.

    - The loop's rings have `stages`; the program `asked` for that many, or 0 if it did not say;
      `reason` says why the number is as it is.
    - `dots_in_flight` dots are not waited for in their own iteration, but in the next one.
    - In a `skewed` loop the dots that depend on loads alone run an iteration ahead of the rest; if
      the program asked for that in vain, `why_not_skewed` says why.
    - With a `producer` a producer warp fills the rings; if the program asked for one in vain,
      `why_no_producer` says why.
    - `order`: all warpgroups issue their dots in a fixed order (`warpgroups`), or two teams
      alternate tiles (`ping_pong`).

    `#tilegpu.loop_plan<asked = 5, stages = 3, reason = "more do not fit in shared memory">`
  }];
  let parameters = (ins "int32_t":$asked, "int32_t":$stages, "::mlir::StringAttr":$reason,
                        DefaultValuedParameter<"int32_t", "0">:$dots_in_flight,
                        DefaultValuedParameter<"bool", "false">:$skewed,
                        OptionalParameter<"::mlir::StringAttr">:$why_not_skewed,
                        DefaultValuedParameter<"bool", "false">:$producer,
                        OptionalParameter<"::mlir::StringAttr">:$why_no_producer,
                        DefaultValuedParameter<"::tile::gpu::Order", "::tile::gpu::Order::None">:$order);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def TileGpu_TileStep : I32Enum<"TileStep", "a step of a tile of a flattened loop", [
    I32EnumCase<"First", 0, "first">, I32EnumCase<"Last", 1, "last">]> {
  let cppNamespace = "::tile::gpu";
}

def TileGpu_TileStepAttr : EnumAttr<TileGpuDialect, TileGpu_TileStep, "tile_step"> {
  let summary = "The step of each tile in which a branch of a flattened loop executes";
  let description = [{
    On an `scf.if` in the loop's body: it executes in the `first` step of each tile, before the step
    itself, or in the `last`, where it holds everything that follows the steps of a tile.

    `#tilegpu.tile_step<last>`
  }];
  let assemblyFormat = "`<` $value `>`";
}

def TileGpu_ViewOfAttr : TileGpu_Attr<"ViewOf", "view_of"> {
  let summary = "The argument that a view is made of";
  let description = [{
    On `tile.make_view`: its dimension i is dimension `dims[i]` of argument `arg` of the kernel as
    it was written.

    `#tilegpu.view_of<arg = 0, dims = [1, 0]>`
  }];
  let parameters = (ins "int32_t":$arg, ArrayRefParameter<"int32_t">:$dims);
  let assemblyFormat = "`<` `arg` `=` $arg `,` `dims` `=` `[` $dims `]` `>`";
  let genVerifyDecl = 1;
}

def TileGpu_TensorMapAttr : TileGpu_Attr<"TensorMap", "tensor_map"> {
  let summary = "A parameter of a compiled kernel that is a tensor map of TMA";
  let description = [{
    The tensor is argument `arg` of the kernel as it was written. `dims` are its dimensions from the
    fastest varying; `box` is, in the same order, the extents that one TMA instruction copies;
    `swizzle` is the span in bytes of shared memory within which chunks of 16 bytes are permuted: 0,
    32, 64 or 128.

    `#tilegpu.tensor_map<arg = 0, element = bf16, dims = [1, 0], box = [64, 128], swizzle = 128>`
  }];
  let parameters = (ins "int32_t":$arg, "::mlir::Type":$element, ArrayRefParameter<"int32_t">:$dims,
                        ArrayRefParameter<"int32_t">:$box, "int32_t":$swizzle);
  let assemblyFormat = [{
    `<` `arg` `=` $arg `,` `element` `=` $element `,` `dims` `=` `[` $dims `]` `,` `box` `=` `[` $box `]` `,`
    `swizzle` `=` $swizzle `>`
  }];
  let genVerifyDecl = 1;
}

def TileGpu_WorkspaceAttr : TileGpu_Attr<"Workspace", "workspace"> {
  let summary = "The memory of a launch through which its programs exchange data";
  let description = [{
    Per program `bytes`, which are undefined before the launch, and `counters` of 32 bits, which are
    0 before and after it. The number of programs of the launch is a multiple of `programs`.

    `#tilegpu.workspace<bytes = 65536, counters = 1, programs = 2>`
  }];
  let parameters = (ins "int64_t":$bytes, "int32_t":$counters, "int32_t":$programs);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // TILE_IR_TILEGPUANNOTATIONS_TD
