// Matrix products.
#ifndef TILE_IR_TILEDOTOPS_TD
#define TILE_IR_TILEDOTOPS_TD

include "ir/tile/TileOpBase.td"

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getLayoutSources", "getWantedLayout", "getOperandLayout", "takesAnyLayout"]>]> {
  let summary = "Matrix product plus accumulator";
  let description = [{
    `a` is MxK, `b` is KxN, `acc` is MxN, each with a batch dimension before them or none without.
    Element types: f16 x f16 to f32 or f16, bf16 x bf16 to f32, f32 x f32 to f32, f64 x f64 to f64,
    i8 x i8 to i32 (`unsigned` says that both operands are), fp8 x fp8 (e4m3 or e5m2, also mixed) to
    f32 or f16. i32 sums wrap. Of fp8 the tensor core of sm_90a keeps 13 bits of a
    sum, which is added up in f32 after every 128 of K; `fast` leaves all of K to the tensor core.

    For f32, `precision` says how: `ieee` by fused multiply-add in f32; the others use the tensor
    core. `tf32` rounds both operands to 10 bits of mantissa; `tf32x3` splits each operand into two
    tf32 parts and adds two correction products; `bf16x3` and `bf16x6` split into two or three bf16
    parts and add two or five correction products. A correction that is NaN counts as zero, so that
    infinities survive.

    Example:
    ```mlir
    func.func @example(%a: tensor<64x32xf16>, %b: tensor<32x16xf16>, %c: tensor<64x16xf32>,
                       %x: tensor<4x64x32xi8>, %y: tensor<4x32x16xi8>, %z: tensor<4x64x16xi32>)
        -> (tensor<64x16xf32>, tensor<4x64x16xi32>) {
      %r = tile.dot %a, %b, %c : tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32>
      %s = tile.dot %x, %y, %z unsigned : tensor<4x64x32xi8>, tensor<4x32x16xi8>, tensor<4x64x16xi32>
      return %r, %s : tensor<64x16xf32>, tensor<4x64x16xi32>
    }
    ```
  }];
  let arguments = (ins Tile_NumberTile:$a, Tile_NumberTile:$b, Tile_NumberTile:$acc,
                       DefaultValuedAttr<Tile_Precision, "::tile::ir::Precision::Ieee">:$precision,
                       UnitAttr:$operands_unsigned, UnitAttr:$fast_accumulation);
  let results = (outs Tile_NumberTile:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`precision` $precision^)? (`unsigned` $operands_unsigned^)?
    (`fast` $fast_accumulation^)? attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The sizes of a product; `batch` is 1 without a batch dimension.
    struct Sizes { int64_t batch, m, n, k; };
    Sizes getSizes();
    bool isBatched();
  }];
}

#endif // TILE_IR_TILEDOTOPS_TD
