// Sums of 8-bit floats by wgmma: every 128 of K are summed from zero and added in f32, two such runs under way at a time.
// With `fast` the tensor core adds to the sums themselves.
// RUN: tile-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tile-lower-views,canonicalize,cse,tile-select-variants{target=sm_90a},tile-assign-layouts,cse,tile-propagate-layouts,tile-promote-to-shared))' | FileCheck %s

// CHECK-LABEL: func.func @one_run
// CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = {{.*}}) -> (tensor<64x64xf32
// CHECK: %[[Z:.*]] = arith.constant dense<0.0{{.*}}> : tensor<64x64xf32
// CHECK: %[[P:.*]] = tilegpu.dot_async %{{.*}}, %{{.*}}, %[[Z]] {
// CHECK: %[[W:.*]] = tilegpu.dot_wait %[[P]] pending 0
// CHECK: %[[T:.*]] = arith.addf %[[S]], %[[W]]
// CHECK: scf.yield %[[T]]
func.func @one_run(%a: !tile.view<2xf8E4M3FN> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 1>, tile.extent_divisible = array<i64: 1, 128>}, %n: i32, %o: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>}) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %t = tile.permute_view %a, [1, 0] : !tile.view<2xf8E4M3FN>
  %r = scf.for %i = %c0 to %n step %c128 iter_args(%s = %zero) -> tensor<64x64xf32> : i32 {
    %x = tile.view_load %a[%c0, %i] : !tile.view<2xf8E4M3FN> -> tensor<64x128xf8E4M3FN>
    %y = tile.view_load %t[%i, %c0] : !tile.view<2xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
    %d = tile.dot %x, %y, %s : tensor<64x128xf8E4M3FN>, tensor<128x64xf8E4M3FN>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.view_store %r, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}

// -----

// CHECK-LABEL: func.func @three_runs
// CHECK: %[[P:.*]] = tilegpu.dot_async {{.*}} over [0, 128]
// CHECK: %[[Q:.*]] = tilegpu.dot_async {{.*}} over [128, 256]
// CHECK: %[[V:.*]] = tilegpu.dot_wait %[[P]] pending 1
// CHECK: %[[S:.*]] = arith.addf %{{.*}}, %[[V]]
// CHECK: %[[R:.*]] = tilegpu.dot_async {{.*}} over [256, 320]
// CHECK: %[[W:.*]] = tilegpu.dot_wait %[[Q]] pending 1
// CHECK: %[[T:.*]] = arith.addf %[[S]], %[[W]]
// CHECK: %[[X:.*]] = tilegpu.dot_wait %[[R]] pending 0
// CHECK: arith.addf %[[T]], %[[X]]
func.func @three_runs(%a: !tile.view<2xf8E4M3FN> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 1>, tile.extent_divisible = array<i64: 1, 128>}, %o: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>}) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %s = arith.constant dense<1.0> : tensor<64x64xf32>
  %t = tile.permute_view %a, [1, 0] : !tile.view<2xf8E4M3FN>
  %x = tile.view_load %a[%c0, %c0] : !tile.view<2xf8E4M3FN> -> tensor<64x320xf8E4M3FN>
  %y = tile.view_load %t[%c0, %c0] : !tile.view<2xf8E4M3FN> -> tensor<320x64xf8E4M3FN>
  %d = tile.dot %x, %y, %s : tensor<64x320xf8E4M3FN>, tensor<320x64xf8E4M3FN>, tensor<64x64xf32>
  tile.view_store %d, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}

// -----

// CHECK-LABEL: func.func @fast
// CHECK: tilegpu.dot_async
// CHECK-NOT: tilegpu.dot_async
// CHECK-NOT: arith.addf
func.func @fast(%a: !tile.view<2xf8E4M3FN> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 1>, tile.extent_divisible = array<i64: 1, 128>}, %o: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>}) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %s = arith.constant dense<1.0> : tensor<64x64xf32>
  %t = tile.permute_view %a, [1, 0] : !tile.view<2xf8E4M3FN>
  %x = tile.view_load %a[%c0, %c0] : !tile.view<2xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
  %y = tile.view_load %t[%c0, %c0] : !tile.view<2xf8E4M3FN> -> tensor<256x64xf8E4M3FN>
  %d = tile.dot %x, %y, %s fast : tensor<64x256xf8E4M3FN>, tensor<256x64xf8E4M3FN>, tensor<64x64xf32>
  tile.view_store %d, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}
