// Prefix combination of `tile`: the one operation whose order along an axis matters.
#ifndef TILE_IR_TILESCANOPS_TD
#define TILE_IR_TILESCANOPS_TD

include "ir/tile/TileOpBase.td"

def Tile_ScanOp : Tile_Op<"scan", [Pure, SingleBlock, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getWantedLayout", "getResultLayout", "getOperandLayout"]>]> {
  let summary = "Combine each element with all before it along an axis";
  let description = [{
    Inclusive: `result[i]` combines elements 0 to i, with `reverse` elements n - 1 down to i. All
    operands have one shape. The region combines two tuples of scalars, first all of the earlier
    one, then all of the later one ("earlier" is nearer to where the scan begins); it must be
    associative, but need not be commutative.

    Example:
    ```mlir
    func.func @example(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
      %r = tile.scan %x axis 1 : tensor<8x16xf32> -> tensor<8x16xf32> {
      ^bb0(%earlier: f32, %later: f32):
        %s = arith.addf %earlier, %later : f32
        tile.yield %s : f32
      }
      return %r : tensor<8x16xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_NumberTile>:$inputs, I32Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<Tile_NumberTile>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = [{
    $inputs `axis` $axis (`reverse` $reverse^)? attr-dict `:` type($inputs) `->` type($results) $combine
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // TILE_IR_TILESCANOPS_TD
