// Operations of `tile` among the programs of a launch.
#ifndef TILE_IR_TILEGRIDOPS_TD
#define TILE_IR_TILEGRIDOPS_TD

include "ir/tile/TileOpBase.td"

def Tile_GridSumOp : Tile_Op<"grid_sum", [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["input", "sum"]>,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getResultLayout", "getOperandLayout"]>]> {
  let summary = "The sum of the tiles that several programs have, in the one that comes last";
  let description = [{
    Programs are numbered along axis 0 of the launch grid first, then along axes 1 and 2; `of` n takes n that follow each
    other, from a multiple of n on. `last` is true in one of them, which has the sum of each element in the order of the
    programs' numbers. In the others `last` is false and `sum` is undefined. All programs carry it out, once.

    Example:
    ```mlir
    func.func @example(%v: f32) attributes {tile.kernel} {
      %x = tile.splat %v : f32 -> tensor<64x32xf32>
      %sum, %last = tile.grid_sum %x of 2 : tensor<64x32xf32>
      scf.if %last {
        tile.print "last" unsigned []
      }
      return
    }
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, F64, I32, I64], [HasStaticShapePred]>:$input, I32Attr:$programs);
  let results = (outs RankedTensorOf<[F32, F64, I32, I64], [HasStaticShapePred]>:$sum, I1:$last);
  let assemblyFormat = "$input `of` $programs attr-dict `:` type($input)";
  let hasVerifier = 1;
}

#endif // TILE_IR_TILEGRIDOPS_TD
