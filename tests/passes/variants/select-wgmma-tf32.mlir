// tf32 by wgmma on sm_90a: the copy engine, which rounds f32, must bring both factors for this product alone, with their
// neighbours in memory along K. Other precisions are not for it.
// RUN: tile-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tile-lower-views,canonicalize,cse,tile-select-variants{target=sm_90a}))' | FileCheck %s

// CHECK-LABEL: func.func @taken
// CHECK: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<wgmma>
func.func @taken(%a: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>, tile.extent_divisible = array<i64: 1, 4>}, %n: i32, %o: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>}) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %s = arith.constant dense<0.0> : tensor<64x64xf32>
  %c32 = arith.constant 32 : i32
  %t = tile.permute_view %a, [1, 0] : !tile.view<2xf32>
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %s) -> tensor<64x64xf32> : i32 {
    %x = tile.view_load %a[%c0, %i] : !tile.view<2xf32> -> tensor<64x32xf32>
    %y = tile.view_load %t[%i, %c0] : !tile.view<2xf32> -> tensor<32x64xf32>
    %0 = tile.dot %x, %y, %acc precision tf32 : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    scf.yield %0 : tensor<64x64xf32>
  }
  tile.view_store %r, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}

// -----

// CHECK-LABEL: func.func @refused
// CHECK: tile.dot {{.*}}wgmma refused: no instruction for these types
// CHECK: tile.dot {{.*}}wgmma refused: neighbours of B in memory lie along N; for operands of 32 bits they must lie along K
// CHECK: tile.dot {{.*}}wgmma refused: A is used elsewhere, too, where it may not be rounded to tf32
// CHECK: tile.dot {{.*}}wgmma refused: B is not loaded by TMA in the dot's loop, which would round it to tf32
// CHECK: tile.dot {{.*}}wgmma refused: A is computed, not loaded
// CHECK: tile.dot {{.*}}wgmma refused: A is not loaded by TMA in the dot's loop, which would round it to tf32
func.func @refused(%a: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>, tile.extent_divisible = array<i64: 1, 4>}, %b: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %n: i32, %o: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %s = arith.constant dense<0.0> : tensor<64x64xf32>
  %c32 = arith.constant 32 : i32
  %t = tile.permute_view %a, [1, 0] : !tile.view<2xf32>
  %u = tile.permute_view %b, [1, 0] : !tile.view<2xf32>
  %before = tile.view_load %a[%c0, %c0] : !tile.view<2xf32> -> tensor<64x32xf32>
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %s) -> tensor<64x64xf32> : i32 {
    %x = tile.view_load %a[%c0, %i] : !tile.view<2xf32> -> tensor<64x32xf32>
    %y = tile.view_load %t[%i, %c0] : !tile.view<2xf32> -> tensor<32x64xf32>
    %z = tile.view_load %a[%i, %c0] : !tile.view<2xf32> -> tensor<32x64xf32>
    %v = tile.view_load %u[%i, %c0] : !tile.view<2xf32> -> tensor<32x64xf32>
    %w = tile.view_load %a[%i, %c32] : !tile.view<2xf32> -> tensor<64x32xf32>
    %alone = tile.view_load %a[%c32, %i] : !tile.view<2xf32> -> tensor<64x32xf32>
    %xx = arith.addf %x, %x : tensor<64x32xf32>
    %0 = tile.dot %x, %y, %acc precision ieee : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    %1 = tile.dot %alone, %z, %0 precision tf32 : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    %2 = tile.dot %x, %y, %1 precision tf32 : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    %3 = tile.dot %w, %v, %2 precision tf32 : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    %4 = tile.dot %xx, %y, %3 precision tf32 : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    %5 = tile.dot %before, %y, %4 precision tf32 : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    scf.yield %5 : tensor<64x64xf32>
  }
  tile.view_store %r, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}
