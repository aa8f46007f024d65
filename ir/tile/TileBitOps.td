// Operations of the dialect `tile` on the bits of integers.
#ifndef TILE_IR_TILEBITOPS_TD
#define TILE_IR_TILEBITOPS_TD

include "ir/tile/TileOpBase.td"

def Tile_Integer : AnyTypeOf<[I8, I16, I32, I64, RankedTensorOf<[I8, I16, I32, I64], [HasStaticShapePred]>],
                             "integer or tile of integers">;

class Tile_BitOp<string mnemonic> : Tile_Op<mnemonic, [Pure, Elementwise, AllTypesMatch<["input", "result"]>]> {
  let arguments = (ins Tile_Integer:$input);
  let results = (outs Tile_Integer:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

def Tile_PopcountOp : Tile_BitOp<"popcount"> {
  let summary = "Number of bits of an integer that are set";
  let description = [{
    As a number of the integer's own type.

    Example:
    ```mlir
    func.func @example(%x: tensor<16xi32>) -> tensor<16xi32> {
      %r = tile.popcount %x : tensor<16xi32>
      return %r : tensor<16xi32>
    }
    ```
  }];
}

def Tile_ClzOp : Tile_BitOp<"clz"> {
  let summary = "Number of zero bits above the highest set one";
  let description = [{
    As a number of the integer's own type: of 0 it is the type's width.

    Example:
    ```mlir
    func.func @example(%x: tensor<16xi64>) -> tensor<16xi64> {
      %r = tile.clz %x : tensor<16xi64>
      return %r : tensor<16xi64>
    }
    ```
  }];
}

def Tile_ReverseBitsOp : Tile_BitOp<"reverse_bits"> {
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
}

#endif // TILE_IR_TILEBITOPS_TD
