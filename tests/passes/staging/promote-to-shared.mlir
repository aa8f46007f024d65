// RUN: tile-opt %s -pass-pipeline='builtin.module(func.func(tile-lower-views,canonicalize,cse,tile-select-variants,tile-assign-layouts,cse,tile-promote-to-shared))' | FileCheck %s

// Both operands come in one ring, made at the top, whose fills the iterations number; loads come before puts. %b is stored
// as it lies in memory, column by column: reading it row by row is the load's business, no transpose is made.
// CHECK-DAG: #[[LA:layout.*]] = #tilegpu.layout<register = {{.*}}>
// CHECK-LABEL: func.func @operands
// CHECK: %[[R:.*]] = tilegpu.ring_alloc : <1 x !tilegpu.smem<64x32xf16, #[[SA:.*]]>, !tilegpu.smem<32x64xf16, #[[SB:.*]]>>
// CHECK: scf.for %[[I:.*]] = {{.*}} step %[[STEP:.*]] iter_args
// CHECK-NEXT: %[[FILL:.*]] = arith.divui %[[I]], %[[STEP]]
// CHECK-NEXT: tilegpu.producer_acquire %[[R]][%[[FILL]]]
// CHECK-NEXT: %[[X:.*]] = tile.view_load {{.*}} -> tensor<64x32xf16
// CHECK-NEXT: %[[Y:.*]] = tile.view_load {{.*}}#tilegpu.access<order = [0, 1]{{.*}} -> tensor<32x64xf16
// CHECK-NEXT: tilegpu.ring_put %[[X]], %[[R]][%[[FILL]]] operand 0
// CHECK-NEXT: tilegpu.ring_put %[[Y]], %[[R]][%[[FILL]]] operand 1
// CHECK-NEXT: tilegpu.producer_commit %[[R]][%[[FILL]]]
// CHECK-NEXT: %[[G:.*]]:2 = tilegpu.consumer_wait %[[R]][%[[FILL]]]
// CHECK: %[[FA:.*]] = tilegpu.smem_load %[[G]]#0
// CHECK: %[[FB:.*]] = tilegpu.smem_load %[[G]]#1
// CHECK-NOT: tile.permute
// CHECK: tile.dot %[[FA]], %[[FB]]
// CHECK-NEXT: tilegpu.consumer_release %[[R]][%[[FILL]]]
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

// Products by multiply-add read the rings themselves. %x does not change in the loop: it is put before and released behind.
// CHECK-LABEL: func.func @multiply_add
// CHECK: tilegpu.ring_put
// CHECK: %[[A:.*]] = tilegpu.consumer_wait
// CHECK: scf.for
// CHECK: tilegpu.ring_copy
// CHECK: %[[B:.*]] = tilegpu.consumer_wait
// CHECK: tilegpu.smem_dot %[[A]], %[[B]], %{{.*}} {{.*}}#tilegpu.dot<fma,
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

// Aligned operands are copied without passing through registers. A reshape that drops a dimension of extent 1 is part of
// the copy; a tile that is computed from a load is put, but the load itself runs with the copies.
// CHECK-LABEL: func.func @copies
// CHECK: %[[R:.*]] = tilegpu.ring_alloc : <1 x !tilegpu.smem<64x32xf16, #{{[a-z0-9]*}}>, !tilegpu.smem<32x64xf16, #{{[a-z0-9]*}}>>
// CHECK: scf.for
// CHECK: tilegpu.ring_copy {{.*}} operand 0 shape [1, 64, 32] {{.*}}#tilegpu.load<cp_async>
// CHECK: tilegpu.ring_copy {{.*}} operand 1 shape [32, 64] {{.*}}#tilegpu.load<cp_async>
// CHECK-NOT: tile.view_load
// CHECK: %[[G:.*]]:2 = tilegpu.consumer_wait %[[R]]
// CHECK: %[[B:.*]] = tilegpu.smem_load %[[G]]#1
// CHECK: arith.addf %[[B]], %[[B]]
// CHECK: tilegpu.ring_put
func.func @copies(%a: !tile.view<3xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 2>, tile.stride_bytes_divisible = array<i64: 16, 16, 2>},
                  %b: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 1, 8>},
                  %c: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> tensor<64x64xf32> : i32 {
    %k = arith.muli %i, %c32 : i32
    %x3 = tile.view_load %a[%c0, %c0, %k] unchecked : !tile.view<3xf16> -> tensor<1x64x32xf16>
    %x = tile.reshape %x3 : tensor<1x64x32xf16> -> tensor<64x32xf16>
    %y = tile.view_load %b[%k, %c0] : !tile.view<2xf16> -> tensor<32x64xf16>
    %y2 = arith.addf %y, %y : tensor<32x64xf16>
    %t = tile.dot %x, %y2, %s : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  tile.view_store %r, %c[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}

// What must not be loaded ahead stays where it is, each operand in a ring of its own.
// CHECK-LABEL: func.func @stored_in_the_loop
// CHECK: scf.for
// CHECK: tile.view_load {{.*}}cp_async refused: the loop stores to what may be the same memory
// CHECK: tilegpu.ring_put
// CHECK: tile.dot
// CHECK: tile.view_store
func.func @stored_in_the_loop(%a: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>}, %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  scf.for %i = %c0 to %n step %c32 : i32 {
    %x = tile.view_load %a[%i, %c0] unchecked : !tile.view<2xf16> -> tensor<32x32xf16>
    %t = tile.dot %x, %x, %zero : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    %h = tile.convert %t : tensor<32x32xf32> -> tensor<32x32xf16>
    tile.view_store %h, %a[%i, %c0] unchecked : tensor<32x32xf16>, !tile.view<2xf16>
  }
  return
}
