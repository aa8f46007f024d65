// Operations of `tile` that pair up, pick apart or mirror elements.
#ifndef TILE_IR_TILEPAIROPS_TD
#define TILE_IR_TILEPAIROPS_TD

include "ir/tile/TileOpBase.td"

def Tile_ItemOp : Tile_Op<"item", [Pure]> {
  let summary = "The only element of a tile, as a scalar";
  let description = [{
    Example:
    ```mlir
    func.func @example(%x: tensor<1x1xf32>) -> f32 {
      %r = tile.item %x : tensor<1x1xf32> -> f32
      return %r : f32
    }
    ```
  }];
  let arguments = (ins Tile_Tile:$input);
  let results = (outs AnyTypeOf<[Tile_Scalar, Tile_PtrType]>:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_JoinOp : Tile_Op<"join", [Pure, AllTypesMatch<["a", "b"]>,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getResultLayout", "getOperandLayout"]>]> {
  let summary = "Two tiles side by side along a new last dimension of extent 2";
  let description = [{
    `result[..., 0]` is `a[...]` and `result[..., 1]` is `b[...]`.

    Example:
    ```mlir
    func.func @example(%a: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<16x2xf32> {
      %r = tile.join %a, %b : tensor<16xf32> -> tensor<16x2xf32>
      return %r : tensor<16x2xf32>
    }
    ```
  }];
  let arguments = (ins Tile_Tile:$a, Tile_Tile:$b);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_HalfOp : Tile_Op<"half", [Pure,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getResultLayout", "getOperandLayout"]>]> {
  let summary = "One of the two halves of a tile whose last dimension has extent 2";
  let description = [{
    `result[...]` is `input[..., index]`: the inverse of `tile.join`, one half at a time.

    Example:
    ```mlir
    func.func @example(%x: tensor<16x2xf32>) -> tensor<16xf32> {
      %r = tile.half %x, 1 : tensor<16x2xf32> -> tensor<16xf32>
      return %r : tensor<16xf32>
    }
    ```
  }];
  let arguments = (ins Tile_Tile:$input, I32Attr:$index);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$input `,` $index attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_FlipOp : Tile_Op<"flip", [Pure, AllTypesMatch<["input", "result"]>,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getWantedLayout", "getResultLayout", "getOperandLayout"]>]> {
  let summary = "A tile read backwards along an axis";
  let description = [{
    With extent n along the axis, `result[..., i, ...]` is `input[..., n - 1 - i, ...]`.

    Example:
    ```mlir
    func.func @example(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
      %r = tile.flip %x axis 1 : tensor<4x16xf32>
      return %r : tensor<4x16xf32>
    }
    ```
  }];
  let arguments = (ins Tile_Tile:$input, I32Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` type($input)";
  let hasVerifier = 1;
}

#endif // TILE_IR_TILEPAIROPS_TD
