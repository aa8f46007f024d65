// RUN: tile-opt %s -pass-pipeline='builtin.module(func.func(tile-lower-views,canonicalize,cse,tile-select-variants,tile-assign-layouts,cse,tile-propagate-layouts,tile-promote-to-shared))' | FileCheck %s
//
// Operands that are computed from what a loop loads.

// Cheap operations are carried out by the threads that multiply: the tile as it is loaded is copied asynchronously
// and read as fragments. Constants take the layout too. No second ring is needed.
// CHECK-LABEL: func.func @cheap
// CHECK: %[[R:.*]] = tilegpu.ring_alloc : <1 x !tilegpu.smem<64x32xf32,
// CHECK-NOT: tilegpu.ring_alloc
// CHECK: scf.for
// CHECK: tilegpu.ring_copy {{.*}} operand 0
// CHECK: %[[G:.*]]:2 = tilegpu.consumer_wait %[[R]]
// CHECK: %[[X:.*]] = tilegpu.smem_load %[[G]]#0 {{.*}} -> tensor<64x32xf32, #[[A:.*]]>
// CHECK: %[[D:.*]] = arith.mulf %[[X]], %{{.*}} : tensor<64x32xf32, #[[A]]>
// CHECK: %[[H:.*]] = arith.truncf %[[D]] : tensor<64x32xf32, #[[A]]> to tensor<64x32xf16, #[[A]]>
// CHECK: tile.dot %[[H]],
// CHECK-NOT: tilegpu.convert_layout
// CHECK: tilegpu.consumer_release
func.func @cheap(%a: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>},
                 %b: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>},
                 %c: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x32xf32>
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> tensor<64x64xf32> : i32 {
    %x = tile.view_load %a[%c0, %i] : !tile.view<2xf32> -> tensor<64x32xf32>
    %y = tile.view_load %b[%i, %c0] : !tile.view<2xf16> -> tensor<32x64xf16>
    %d = arith.mulf %x, %half : tensor<64x32xf32>
    %h = arith.truncf %d : tensor<64x32xf32> to tensor<64x32xf16>
    %t = tile.dot %h, %y, %s : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  tile.view_store %r, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}

// An exponential is computed once and staged again: threads that hold the same elements would all compute it.
// CHECK-LABEL: func.func @dear
// CHECK-COUNT-2: tilegpu.ring_alloc
// CHECK: scf.for
// CHECK: math.exp2
// CHECK: arith.truncf
// CHECK: tilegpu.ring_put
// CHECK: tile.dot
func.func @dear(%a: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>},
                %b: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>},
                %c: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> tensor<64x64xf32> : i32 {
    %x = tile.view_load %a[%c0, %i] : !tile.view<2xf32> -> tensor<64x32xf32>
    %y = tile.view_load %b[%i, %c0] : !tile.view<2xf16> -> tensor<32x64xf16>
    %d = math.exp2 %x : tensor<64x32xf32>
    %h = arith.truncf %d : tensor<64x32xf32> to tensor<64x32xf16>
    %t = tile.dot %h, %y, %s : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  tile.view_store %r, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}
