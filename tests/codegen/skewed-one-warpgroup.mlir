// Keys and values have rings of their own. One group of warps that loads for itself meets once an iteration, before both are filled
// again, and once behind the making of both rings' barriers.
// RUN: tile-opt -tile-pipeline=target=sm_90a %s | FileCheck %s

// CHECK-LABEL: func.func @chain
// CHECK: tilegpu.barrier {reason = "the mbarriers of the stages are initialized"}
// CHECK-NOT: tilegpu.barrier
// CHECK: scf.for
// CHECK-NOT: tilegpu.barrier
// CHECK: tilegpu.dot_async
// CHECK: tilegpu.dot_async
// CHECK: tilegpu.barrier {reason = "what all threads have read may be overwritten"}
// CHECK: tilegpu.tensor_copy
// CHECK-NOT: tilegpu.barrier
// CHECK: tilegpu.tensor_copy
// CHECK-NOT: tilegpu.barrier
// CHECK: scf.yield
func.func @chain(%q: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 1, 64>},
                 %k: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.stride_bytes_divisible = array<i64: 2, 16>, tile.extent_divisible = array<i64: 64, 64>},
                 %v: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>},
                 %o: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>, tile.extent_divisible = array<i64: 1, 64>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %p = tile.program_id 0 : i32
  %m = arith.muli %p, %c128 : i32
  %n = tile.dim %v, 0 : !tile.view<2xf16> -> i32
  %queries = tile.view_load %q[%m, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
  %acc = scf.for %j = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> : i32 {
    %keys = tile.view_load %k[%c0, %j] : !tile.view<2xf16> -> tensor<64x64xf16>
    %scores = tile.dot %queries, %keys, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %sum = tile.reduce %scores axis 1 : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%x: f32, %y: f32):
      %most = arith.maxnumf %x, %y : f32
      tile.yield %most : f32
    }
    %column = tile.expand_dims %sum, 1 : tensor<64xf32> -> tensor<64x1xf32>
    %rows = tile.broadcast %column : tensor<64x1xf32> -> tensor<64x64xf32>
    %low = arith.subf %scores, %rows : tensor<64x64xf32>
    %weights = tile.convert %low : tensor<64x64xf32> -> tensor<64x64xf16>
    %values = tile.view_load %v[%j, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
    %t = tile.dot %weights, %values, %s : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  } {tile.stages = 3 : i32, tile.overlap_dots}
  tile.view_store %acc, %o[%m, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}
