// Operations of `tile` among the blocks of a cluster, which a program is divided among.
#ifndef TILE_IR_TILECLUSTEROPS_TD
#define TILE_IR_TILECLUSTEROPS_TD

include "ir/tile/TileOpBase.td"

def Tile_ClusterRankOp : Tile_Op<"cluster_rank", [Pure]> {
  let summary = "Number of this block among those that a program is divided among";
  let description = [{
    In [0, n), n as the attribute `tile.cluster` of the kernel says. Each block carries out the whole kernel; the blocks
    of a program follow each other along axis 0 of the launch grid, whose programs are numbered without them.

    Example:
    ```mlir
    %rank = tile.cluster_rank : i32
    ```
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_ClusterSumOp : Tile_Op<"cluster_sum", [MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getLayoutSources", "getWantedLayout", "takesAnyLayout"]>]> {
  let summary = "The sum of the tiles that the blocks of a cluster have";
  let description = [{
    Of each element, in the order of the blocks' ranks, so that all blocks have equal bits. With `scatter` a block gets
    the part of the sum along dimension 0 that has its rank. All blocks carry it out, and meet at it.

    Example:
    ```mlir
    func.func @example(%x: tensor<64x32xf32>) attributes {tile.warps = 4 : i32, tile.cluster = 2 : i32} {
      %all = tile.cluster_sum %x : tensor<64x32xf32> -> tensor<64x32xf32>
      %part = tile.cluster_sum %x scatter : tensor<64x32xf32> -> tensor<32x32xf32>
      return
    }
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, F64, I32, I64], [HasStaticShapePred]>:$input, UnitAttr:$scatter);
  let results = (outs RankedTensorOf<[F32, F64, I32, I64], [HasStaticShapePred]>:$result);
  let assemblyFormat = "$input (`scatter` $scatter^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

#endif // TILE_IR_TILECLUSTEROPS_TD
