// The two steps of a scan whose axis is spread over warps.
#ifndef TILE_IR_TILEGPUSCANOPS_TD
#define TILE_IR_TILEGPUSCANOPS_TD

include "ir/gpu/TileGpuDialect.td"

def TileGpu_ScanPartialOp : Op<TileGpuDialect, "scan_partial", [Pure, SingleBlock]> {
  let summary = "Scan along an axis the contiguous elements of each warp";
  let description = [{
    Along the axis a tile of extent n lies in `n / (2^k * r)` pieces of consecutive elements, one
    per warp and odd digit. The first results are the scans within the pieces, the others the
    combination of each whole piece, with one element per piece along the axis. `tilegpu.scan_carry`
    is the second step.

    Example:
    ```mlir
    #a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
    #b = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1], [2]]>
    func.func @example(%x: tensor<128xf32, #a>) -> tensor<4xf32, #b> {
      %y:2 = tilegpu.scan_partial %x axis 0 : tensor<128xf32, #a> -> tensor<128xf32, #a>, tensor<4xf32, #b> {
      ^bb0(%l: f32, %r: f32):
        %s = arith.addf %l, %r : f32
        tilegpu.yield %s : f32
      }
      return %y#1 : tensor<4xf32, #b>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I32Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = [{
    $inputs `axis` $axis (`reverse` $reverse^)? attr-dict `:` type($inputs) `->` type($results) $combine
  }];
  let hasVerifier = 1;
}

def TileGpu_ScanCarryOp : Op<TileGpuDialect, "scan_carry", [Pure, SingleBlock]> {
  let summary = "Combine each piece of a scan with all pieces before it";
  let description = [{
    The operands are the results of `tilegpu.scan_partial`, the totals in a layout in which each
    thread holds all of them along the axis.

    Example:
    ```mlir
    #a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
    #b = #tilegpu.layout<register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = [[0]]>
    func.func @example(%x: tensor<64xi32, #a>, %t: tensor<2xi32, #b>) -> tensor<64xi32, #a> {
      %y = tilegpu.scan_carry %x, %t axis 0 reverse : tensor<64xi32, #a>, tensor<2xi32, #b> -> tensor<64xi32, #a> {
      ^bb0(%l: i32, %r: i32):
        %s = arith.maxsi %l, %r : i32
        tilegpu.yield %s : i32
      }
      return %y : tensor<64xi32, #a>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I32Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = [{
    $inputs `axis` $axis (`reverse` $reverse^)? attr-dict `:` type($inputs) `->` type($results) $combine
  }];
  let hasVerifier = 1;
}

#endif // TILE_IR_TILEGPUSCANOPS_TD
