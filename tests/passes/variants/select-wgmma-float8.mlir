// 8-bit floats by wgmma on sm_90a: both factors with their neighbours in memory along K, in any combination of the two
// formats. Sums that are promoted take registers of their own; f16 sums, and the other order, are left to mma_sync.
// RUN: tile-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tile-expand-dots{target=sm_90a},tile-lower-views,canonicalize,cse,tile-select-variants{target=sm_90a}))' | FileCheck %s

// CHECK-LABEL: func.func @taken
// CHECK-COUNT-3: tile.view_load {{.*}}tilegpu.variant = #tilegpu.load<tma>
// CHECK: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<wgmma>
// CHECK: tile.dot {{.*}} fast {{.*}}tilegpu.variant = #tilegpu.dot<wgmma>
func.func @taken(%a: !tile.view<2xf8E4M3FN> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 1>, tile.extent_divisible = array<i64: 1, 128>}, %b: !tile.view<2xf8E5M2> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 1>, tile.extent_divisible = array<i64: 1, 128>}, %n: i32, %o: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>})
    attributes {tile.kernel, tile.warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %s = arith.constant dense<0.0> : tensor<128x128xf32>
  %c128 = arith.constant 128 : i32
  %t = tile.permute_view %b, [1, 0] : !tile.view<2xf8E5M2>
  %u = tile.permute_view %a, [1, 0] : !tile.view<2xf8E4M3FN>
  %r = scf.for %i = %c0 to %n step %c128 iter_args(%acc = %s) -> tensor<128x128xf32> : i32 {
    %x = tile.view_load %a[%c0, %i] : !tile.view<2xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
    %y = tile.view_load %t[%i, %c0] : !tile.view<2xf8E5M2> -> tensor<128x128xf8E5M2>
    %z = tile.view_load %u[%i, %c0] : !tile.view<2xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
    %0 = tile.dot %x, %y, %acc : tensor<128x128xf8E4M3FN>, tensor<128x128xf8E5M2>, tensor<128x128xf32>
    %1 = tile.dot %x, %z, %0 fast : tensor<128x128xf8E4M3FN>, tensor<128x128xf8E4M3FN>, tensor<128x128xf32>
    scf.yield %1 : tensor<128x128xf32>
  }
  tile.view_store %r, %o[%c0, %c0] : tensor<128x128xf32>, !tile.view<2xf32>
  return
}

// -----

// CHECK-LABEL: func.func @refused
// CHECK: tile.dot {{.*}}#tilegpu.dot<mma_sync, refused = [{{.*}}wgmma refused: neighbours of B in memory lie along N; for operands of 8 bits they must lie along K
// CHECK: tile.dot {{.*}}#tilegpu.dot<mma_sync, refused = [{{.*}}wgmma refused: neighbours of A in memory lie along M; for operands of 8 bits they must lie along K
// CHECK: tile.dot {{.*}}#tilegpu.dot<mma_sync, refused = [{{.*}}wgmma refused: accumulators take 256 registers of a thread, with the sums of 8-bit floats that are promoted; at most 192 leave room for the rest; use more warps, or fast_accumulation
// CHECK: tile.dot {{.*}} fast {{.*}}#tilegpu.dot<wgmma>
// CHECK: tile.dot {{.*}}#tilegpu.dot<mma_sync, refused = [{{.*}}mma_sync of fp8 refused: its sums are f32; operands are widened to f16{{.*}}wgmma refused: no instruction for these types
func.func @refused(%a: !tile.view<2xf8E4M3FN> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 1>, tile.extent_divisible = array<i64: 1, 128>}, %o: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>}, %half: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %s = arith.constant dense<0.0> : tensor<64x64xf32>
  %w = arith.constant dense<0.0> : tensor<64x256xf32>
  %h = arith.constant dense<0.0> : tensor<64x64xf16>
  %t = tile.permute_view %a, [1, 0] : !tile.view<2xf8E4M3FN>
  %x = tile.view_load %a[%c0, %c0] : !tile.view<2xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
  %y = tile.view_load %t[%c0, %c0] : !tile.view<2xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
  %z = tile.view_load %t[%c0, %c0] : !tile.view<2xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
  %0 = tile.dot %x, %x, %s : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>
  %1 = tile.dot %y, %y, %0 : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32>
  %2 = tile.dot %x, %z, %w : tensor<64x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<64x256xf32>
  %3 = tile.dot %x, %z, %2 fast : tensor<64x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<64x256xf32>
  %4 = tile.dot %x, %y, %h fast : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf16>
  tile.view_store %1, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  tile.view_store %3, %o[%c0, %c0] : tensor<64x256xf32>, !tile.view<2xf32>
  tile.view_store %4, %half[%c0, %c0] : tensor<64x64xf16>, !tile.view<2xf16>
  return
}
