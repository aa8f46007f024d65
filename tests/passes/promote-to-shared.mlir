// RUN: tile-opt %s -pass-pipeline='builtin.module(func.func(tile-lower-views,canonicalize,cse,tile-select-variants,tile-assign-layouts,cse,tile-promote-to-shared))' | FileCheck %s

// Both operands go through rings made at the top; both puts come before both loads. %b is stored as it lies in memory,
// column by column: reading it row by row is the load's business, no transpose is made.
// CHECK-DAG: #[[LA:layout.*]] = #tilegpu.layout<register = {{.*}}>
// CHECK-LABEL: func.func @operands
// CHECK-DAG: %[[RA:.*]] = tilegpu.ring_alloc : <1 x !tilegpu.smem<64x32xf16, #[[SA:.*]]>>
// CHECK-DAG: %[[RB:.*]] = tilegpu.ring_alloc : <1 x !tilegpu.smem<32x64xf16, #[[SB:.*]]>>
// CHECK: scf.for
// CHECK: %[[X:.*]] = tile.view_load {{.*}} -> tensor<64x32xf16
// CHECK: %[[Y:.*]] = tile.view_load {{.*}}#tilegpu.access<order = [0, 1]{{.*}} -> tensor<32x64xf16
// CHECK: tilegpu.ring_put %[[X]], %[[RA]]
// CHECK: tilegpu.ring_put %[[Y]], %[[RB]]
// CHECK: %[[GA:.*]] = tilegpu.ring_get %[[RA]]
// CHECK: %[[FA:.*]] = tilegpu.smem_load %[[GA]]
// CHECK: tilegpu.ring_release %[[RA]]
// CHECK: %[[GB:.*]] = tilegpu.ring_get %[[RB]]
// CHECK: %[[FB:.*]] = tilegpu.smem_load %[[GB]]
// CHECK: tilegpu.ring_release %[[RB]]
// CHECK-NOT: tile.permute
// CHECK: tile.dot %[[FA]], %[[FB]]
func.func @operands(%a: !tile.view<2xf16> {tile.unit_stride = array<i32: 1>},
                    %b: !tile.view<2xf16> {tile.unit_stride = array<i32: 0>},
                    %c: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> tensor<64x64xf32> : i32 {
    %x = tile.view_load %a[%c0, %i] : !tile.view<2xf16> -> tensor<64x32xf16>
    %y = tile.view_load %b[%i, %c0] : !tile.view<2xf16> -> tensor<32x64xf16>
    %t = tile.dot %x, %y, %s : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  tile.view_store %r, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}

// Changes of layout that feed no product stay.
// CHECK-LABEL: func.func @no_product
// CHECK: tilegpu.convert_layout
// CHECK-NOT: ring
// CHECK: return
func.func @no_product(%v: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 512>},
                      %w: !tile.view<1xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %x = tile.view_load %v[%c0] : !tile.view<1xf32> -> tensor<512xf32>
  %y = tile.view_load %w[%c0] : !tile.view<1xf32> -> tensor<512xf32>
  %z = arith.addf %x, %y : tensor<512xf32>
  tile.view_store %z, %v[%c0] : tensor<512xf32>, !tile.view<1xf32>
  return
}

// One tile as both operands is put once and read twice.
// CHECK-LABEL: func.func @same_tile_twice
// CHECK: tilegpu.ring_put
// CHECK-NOT: tilegpu.ring_put
// CHECK: %[[A:.*]] = tilegpu.smem_load
// CHECK: %[[B:.*]] = tilegpu.smem_load
// CHECK: tile.dot %[[A]], %[[B]]
func.func @same_tile_twice(%a: !tile.view<2xf16> {tile.unit_stride = array<i32: 1>},
                           %c: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %x = tile.view_load %a[%c0, %c0] : !tile.view<2xf16> -> tensor<32x32xf16>
  %t = tile.dot %x, %x, %zero : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
  tile.view_store %t, %c[%c0, %c0] : tensor<32x32xf32>, !tile.view<2xf32>
  return
}

// Products by multiply-add read the rings themselves. %x does not change in the loop and is put before it.
// CHECK-LABEL: func.func @multiply_add
// CHECK: tilegpu.ring_put
// CHECK: scf.for
// CHECK: tilegpu.ring_put
// CHECK: %[[A:.*]] = tilegpu.ring_get
// CHECK: %[[B:.*]] = tilegpu.ring_get
// CHECK: tilegpu.smem_dot %[[A]], %[[B]], %{{.*}} {{.*}}#tilegpu.variant<fma,
// CHECK-NOT: tile.dot
func.func @multiply_add(%a: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %b: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>},
                        %c: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %x = tile.view_load %a[%c0, %c0] : !tile.view<2xf32> -> tensor<32x32xf32>
  %r = scf.for %i = %c0 to %n step %c32 iter_args(%s = %zero) -> tensor<32x32xf32> : i32 {
    %y = tile.view_load %b[%i, %c0] : !tile.view<2xf32> -> tensor<32x32xf32>
    %t = tile.dot %x, %y, %s : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
    scf.yield %t : tensor<32x32xf32>
  }
  tile.view_store %r, %c[%c0, %c0] : tensor<32x32xf32>, !tile.view<2xf32>
  return
}
