// Operations of `tile` that make tiles, change their shape or element type, and combine their
// elements.
#ifndef TILE_IR_TILESHAPEOPS_TD
#define TILE_IR_TILESHAPEOPS_TD

include "ir/tile/TileOpBase.td"

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "A tile with one value everywhere";
  let description = [{
    Example:
    ```mlir
    func.func @example(%x: f32) -> tensor<64xf32> {
      %t = tile.splat %x : f32 -> tensor<64xf32>
      return %t : tensor<64xf32>
    }
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_Scalar, Tile_PtrType]>:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ArangeOp : Tile_Op<"arange", [Pure]> {
  let summary = "The integers start, start + 1, ..., end - 1";
  let description = [{
    Example:
    ```mlir
    %r = tile.arange 0, 64 : tensor<64xi32>
    ```
  }];
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs RankedTensorOf<[I32], [HasStaticShapePred]>:$result);
  let assemblyFormat = "$start `,` $end attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "int32_t":$start, "int32_t":$end), [{
    build($_builder, $_state, ::mlir::RankedTensorType::get({int64_t(end) - start}, $_builder.getI32Type()), start, end);
  }]>];
  let hasVerifier = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getResultLayout", "getOperandLayout"]>]> {
  let summary = "The same elements in row-major order under another shape";
  let description = [{
    Example:
    ```mlir
    func.func @example(%x: tensor<8x16xf32>) -> tensor<128xf32> {
      %r = tile.reshape %x : tensor<8x16xf32> -> tensor<128xf32>
      return %r : tensor<128xf32>
    }
    ```
  }];
  let arguments = (ins Tile_Tile:$input);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_PermuteOp : Tile_Op<"permute", [Pure,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getResultLayout", "getOperandLayout"]>]> {
  let summary = "Reorder the dimensions of a tile";
  let description = [{
    Dimension i of the result is dimension `order[i]` of the operand.

    Example:
    ```mlir
    func.func @example(%x: tensor<8x16xf32>) -> tensor<16x8xf32> {
      %r = tile.permute %x, [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
      return %r : tensor<16x8xf32>
    }
    ```
  }];
  let arguments = (ins Tile_Tile:$input, DenseI32ArrayAttr:$order);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$input `,` $order attr-dict `:` type($input) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int32_t>":$order)>];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ExpandDimsOp : Tile_Op<"expand_dims", [Pure,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getLayoutSources", "getOperandLayout"]>]> {
  let summary = "Insert a dimension of extent 1";
  let description = [{
    Example:
    ```mlir
    func.func @example(%x: tensor<16xf32>) -> tensor<1x16xf32> {
      %r = tile.expand_dims %x, 0 : tensor<16xf32> -> tensor<1x16xf32>
      return %r : tensor<1x16xf32>
    }
    ```
  }];
  let arguments = (ins Tile_Tile:$input, I32Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$input `,` $axis attr-dict `:` type($input) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "int32_t":$axis)>];
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getLayoutSources", "getOperandLayout"]>]> {
  let summary = "Repeat a tile along its dimensions of extent 1";
  let description = [{
    Ranks are equal; a dimension of extent 1 may grow, the others stay.

    Example:
    ```mlir
    func.func @example(%x: tensor<1x16xf32>) -> tensor<8x16xf32> {
      %r = tile.broadcast %x : tensor<1x16xf32> -> tensor<8x16xf32>
      return %r : tensor<8x16xf32>
    }
    ```
  }];
  let arguments = (ins Tile_Tile:$input);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ConvertOp : Tile_Op<"convert", [Pure, Elementwise]> {
  let summary = "Convert the element type";
  let description = [{
    - float to narrower float rounds to nearest even, or toward zero with `rtz`; NaN stays NaN. f16
      and bf16 overflow to infinity (`rtz`: to the largest number); f8E4M3FN and f8E5M2 saturate:
      whatever is beyond the largest number, infinities included, becomes it;
    - float to int truncates toward zero and saturates, NaN becomes 0;
    - int to float rounds to nearest even; int to narrower int drops high bits, to wider int
      extends;
    - anything to i1 is `x != 0` (NaN is true); i1 counts as unsigned.
    `source_unsigned` and `result_unsigned` say how integers are read.

    Example:
    ```mlir
    func.func @example(%x: tensor<16xf32>) -> tensor<16xf8E4M3FN> {
      %h = tile.convert %x rounding rtz : tensor<16xf32> -> tensor<16xf16>
      %r = tile.convert %h : tensor<16xf16> -> tensor<16xf8E4M3FN>
      return %r : tensor<16xf8E4M3FN>
    }
    ```
  }];
  let arguments = (ins Tile_Number:$input, UnitAttr:$source_unsigned, UnitAttr:$result_unsigned,
                       DefaultValuedAttr<Tile_Rounding, "Rounding::NearestEven">:$rounding);
  let results = (outs Tile_Number:$result);
  let assemblyFormat = [{
    $input (`source_unsigned` $source_unsigned^)? (`result_unsigned` $result_unsigned^)?
    (`rounding` $rounding^)? attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_MulHiOp : Tile_Op<"mulhi", [Pure, Elementwise, Commutative, AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "Upper half of the product of two integers";
  let description = [{
    The product has twice the operands' width, 32 or 64 bits; its upper half is the result.
    `unsigned` says how the operands are read.

    Example:
    ```mlir
    func.func @example(%x: tensor<16xi32>) -> tensor<16xi32> {
      %r = tile.mulhi %x, %x unsigned : tensor<16xi32>
      return %r : tensor<16xi32>
    }
    ```
  }];
  let arguments = (ins Tile_Offset:$lhs, Tile_Offset:$rhs, UnitAttr:$is_unsigned);
  let results = (outs Tile_Offset:$result);
  let assemblyFormat = "$lhs `,` $rhs (`unsigned` $is_unsigned^)? attr-dict `:` type($result)";
}

def Tile_GatherOp : Tile_Op<"gather", [Pure,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getLayoutSources", "getWantedLayout", "getResultLayout", "getOperandLayout", "takesAnyLayout"]>]> {
  let summary = "Elements of a tile picked by an index along one axis";
  let description = [{
    result[i, j, ...] is source[i, j, ...] with the coordinate along `axis` replaced by indices[i,
    j, ...]. The result has the indices' shape; the other extents are the source's. An index outside
    the axis gives an element that is open.

    Example:
    ```mlir
    func.func @example(%x: tensor<4x32xf32>, %i: tensor<4x8xi32>) -> tensor<4x8xf32> {
      %r = tile.gather %x[%i] axis 1 : tensor<4x32xf32>, tensor<4x8xi32> -> tensor<4x8xf32>
      return %r : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Tile_NumberTile:$source, RankedTensorOf<[I32], [HasStaticShapePred]>:$indices, I32Attr:$axis);
  let results = (outs Tile_NumberTile:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` `axis` $axis attr-dict `:` type($source) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_HistogramOp : Tile_Op<"histogram", [Pure,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getLayoutSources", "getWantedLayout"]>]> {
  let summary = "How often each number from 0 occurs in a tile";
  let description = [{
    Element k of the result counts the elements equal to k where `mask` holds. Negative elements and
    those not below the result's extent are ignored.

    Example:
    ```mlir
    func.func @example(%x: tensor<256xi32>, %m: tensor<256xi1>) {
      %a = tile.histogram %x : tensor<256xi32> -> tensor<16xi32>
      %b = tile.histogram %x mask %m : tensor<256xi32>, tensor<256xi1> -> tensor<16xi32>
      return
    }
    ```
  }];
  let arguments = (ins RankedTensorOf<[I32], [HasStaticShapePred]>:$input,
                       Optional<RankedTensorOf<[I1], [HasStaticShapePred]>>:$mask);
  let results = (outs RankedTensorOf<[I32], [HasStaticShapePred]>:$result);
  let assemblyFormat = [{
    $input (`mask` $mask^)? attr-dict `:` type($input) (`,` type($mask)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ResizeOp : Tile_Op<"resize", [Pure,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getLayoutSources", "takesAnyLayout"]>]> {
  let summary = "The leading part of a tile, or the tile with zeros behind it";
  let description = [{
    Each extent is cut or extended to the result's; elements that the operand does not have are
    zero.

    Example:
    ```mlir
    func.func @example(%x: tensor<5x16xf16>) -> tensor<16x16xf16> {
      %y = tile.resize %x : tensor<5x16xf16> -> tensor<16x16xf16>
      return %y : tensor<16x16xf16>
    }
    ```
  }];
  let arguments = (ins Tile_NumberTile:$input);
  let results = (outs Tile_NumberTile:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure, SingleBlock, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<TileGpu_LayoutOp, ["getWantedLayout", "getResultLayout"]>]> {
  let summary = "Combine the elements along an axis";
  let description = [{
    All operands have one shape. The region combines two tuples of scalars (first all of the left
    one, then all of the right one) and must be associative and commutative; the order of
    combination is open, but fixed for a compiled kernel. The axis disappears; reducing a rank-1
    tile gives a scalar.

    Example:
    ```mlir
    func.func @example(%x: tensor<8x16xf32>) -> tensor<8xf32> {
      %r = tile.reduce %x axis 1 : tensor<8x16xf32> -> tensor<8xf32> {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        tile.yield %s : f32
      }
      return %r : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_NumberTile>:$inputs, I32Attr:$axis);
  let results = (outs Variadic<Tile_Number>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = "$inputs `axis` $axis attr-dict `:` type($inputs) `->` type($results) $combine";
  let extraClassDeclaration = [{
    /// The layout in which the reduction takes tiles that are laid out as `source`.
    ::tile::gpu::LayoutAttr getReducibleLayout(::tile::gpu::LayoutAttr source);
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["ReduceOp", "ScanOp"]>]> {
  let summary = "Result of a combine region";
  let description = [{
    Example: see `tile.reduce`.
    ```mlir
    func.func @example(%x: tensor<16xi32>) -> i32 {
      %r = tile.reduce %x axis 0 : tensor<16xi32> -> i32 {
      ^bb0(%a: i32, %b: i32):
        %s = arith.maxsi %a, %b : i32
        tile.yield %s : i32
      }
      return %r : i32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Scalar>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // TILE_IR_TILESHAPEOPS_TD
