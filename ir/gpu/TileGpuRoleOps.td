// Warps of a block that do different things.
#ifndef TILE_IR_TILEGPUROLEOPS_TD
#define TILE_IR_TILEGPUROLEOPS_TD

include "ir/gpu/TileGpuOpBase.td"

def TileGpu_WarpIdOp : TileGpu_Op<"warp_id", [Pure]> {
  let summary = "The number of the warp";
  let description = [{
    The same in all threads of a warp, which the assembler knows.

    Example:
    ```mlir
    %w = tilegpu.warp_id : i32
    ```
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TileGpu_SetMaxRegistersOp : TileGpu_Op<"set_max_registers", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "A group of four warps changes how many registers its threads may have";
  let description = [{
    To `count`: it gives registers back, or, with `more`, waits until the block has so many left. All
    warps of the group execute it.

    Example:
    ```mlir
    tilegpu.set_max_registers 24
    tilegpu.set_max_registers more 240
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<24>, IntMaxValue<256>]>:$count, UnitAttr:$more);
  let assemblyFormat = "(`more` $more^)? $count attr-dict";
  let hasVerifier = 1;
}

#endif // TILE_IR_TILEGPUROLEOPS_TD
