// Operations of the dialect `tile` on the bits of integers, where `math` has none.
#ifndef TILE_IR_TILEBITOPS_TD
#define TILE_IR_TILEBITOPS_TD

include "ir/tile/TileOpBase.td"

def Tile_Integer : AnyTypeOf<[I8, I16, I32, I64, RankedTensorOf<[I8, I16, I32, I64], [HasStaticShapePred]>],
                             "integer or tile of integers">;

def Tile_ReverseBitsOp : Tile_Op<"reverse_bits", [Pure, Elementwise, AllTypesMatch<["input", "result"]>]> {
  let summary = "The bits of an integer in the opposite order";
  let description = [{
    The lowest bit becomes the highest of the integer's own width.

    Example:
    ```mlir
    func.func @example(%x: tensor<16xi32>) -> tensor<16xi32> {
      %r = tile.reverse_bits %x : tensor<16xi32>
      return %r : tensor<16xi32>
    }
    ```
  }];
  let arguments = (ins Tile_Integer:$input);
  let results = (outs Tile_Integer:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

#endif // TILE_IR_TILEBITOPS_TD
