// RUN: tile-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tile-lower-views,canonicalize,cse,tile-select-variants{target=sm_90a},tile-assign-layouts,cse,tile-promote-to-shared))' | FileCheck %s
// RUN: tile-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tile-lower-views,canonicalize,cse,tile-select-variants{target=sm_80},tile-assign-layouts,cse,tile-promote-to-shared))' | FileCheck %s --check-prefix=THREADS
//
// Products that take a tile with rows for columns read the memory of the tile as it is.

// Loaded twice, the second time from the transposed view: it comes once. Instructions have descriptors for either order; threads
// read the elements of their fragments, whose registers get other names.
// CHECK-LABEL: func.func @loaded_twice
// CHECK: tilegpu.ring_alloc : <1 x !tilegpu.smem<64x32xf16, #{{[a-z0-9]*}}>>
// CHECK-COUNT-1: tilegpu.ring_copy
// CHECK-NOT: tilegpu.ring_copy
// CHECK: %[[X:.*]] = tilegpu.consumer_wait
// CHECK: tilegpu.dot_async %{{.*}}, %[[X]], %{{.*}}
// CHECK: tilegpu.dot_async %{{.*}}, %[[X]] transposed, %{{.*}}
// THREADS-LABEL: func.func @loaded_twice
// THREADS: tilegpu.ring_alloc : <1 x !tilegpu.smem<64x32xf16, #{{[a-z0-9]*}}>>
// THREADS-COUNT-1: tilegpu.ring_copy
// THREADS-NOT: tilegpu.ring_copy
// THREADS: %[[X:.*]] = tilegpu.consumer_wait
// THREADS: %[[F:.*]] = tilegpu.smem_load %[[X]] : <64x32xf16
// THREADS: tile.dot %{{.*}}, %[[F]],
// THREADS: %[[G:.*]] = tilegpu.smem_load %[[X]] : <64x32xf16
// THREADS: %[[T:.*]] = tile.permute %[[G]], [1, 0]
// THREADS: tile.dot %{{.*}}, %[[T]],
func.func @loaded_twice(%q: !tile.view<2xf16> {tile.unit_stride = array<i32: 1>},
                        %x: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 1, 8>},
                        %y: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %n: i32) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %none = arith.constant dense<0.0> : tensor<64x32xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %left = tile.view_load %q[%c0, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
  %transposed = tile.permute_view %x, [1, 0] : !tile.view<2xf16>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> tensor<64x64xf32> : i32 {
    %k = arith.muli %i, %c32 : i32
    %columns = tile.view_load %transposed[%c0, %k] unchecked : !tile.view<2xf16> -> tensor<64x32xf16>
    %scores = tile.dot %left, %columns, %none : tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32>
    %narrow = arith.truncf %scores : tensor<64x32xf32> to tensor<64x32xf16>
    %rows = tile.view_load %x[%k, %c0] unchecked : !tile.view<2xf16> -> tensor<32x64xf16>
    %t = tile.dot %narrow, %rows, %s : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  tile.view_store %r, %y[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}

// -----

// Another place, another padding, and one that a sum takes besides: each comes by itself.
// CHECK-LABEL: func.func @apart
// CHECK: tilegpu.ring_alloc : <1 x !tilegpu.smem<64x64xf16, #{{[a-z0-9]*}}>, !tilegpu.smem<64x64xf16, #{{[a-z0-9]*}}>, !tilegpu.smem<64x64xf16, #{{[a-z0-9]*}}>, !tilegpu.smem<64x64xf16, #{{[a-z0-9]*}}>>
// THREADS-LABEL: func.func @apart
// THREADS: tilegpu.ring_alloc : <1 x !tilegpu.smem<64x64xf16, #{{[a-z0-9]*}}>, !tilegpu.smem<64x64xf16, #{{[a-z0-9]*}}>, !tilegpu.smem<64x64xf16, #{{[a-z0-9]*}}>, !tilegpu.smem<64x64xf16, #{{[a-z0-9]*}}>>
func.func @apart(%x: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 1, 8>},
                 %y: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %n: i32) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %transposed = tile.permute_view %x, [1, 0] : !tile.view<2xf16>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> tensor<64x64xf32> : i32 {
    %k = arith.muli %i, %c64 : i32
    %rows = tile.view_load %x[%k, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
    %elsewhere = tile.view_load %transposed[%c64, %k] : !tile.view<2xf16> -> tensor<64x64xf16>
    %padded = tile.view_load %transposed[%c0, %k] pad nan : !tile.view<2xf16> -> tensor<64x64xf16>
    %summed = tile.view_load %transposed[%c0, %k] : !tile.view<2xf16> -> tensor<64x64xf16>
    %0 = tile.dot %elsewhere, %rows, %s : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %1 = tile.dot %padded, %rows, %0 : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %2 = tile.dot %summed, %rows, %1 : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %wide = arith.extf %summed : tensor<64x64xf16> to tensor<64x64xf32>
    %t = arith.addf %2, %wide : tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  tile.view_store %r, %y[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}

// -----

// Transposed by the program: both operands are the same stage.
// CHECK-LABEL: func.func @transposed_by_the_program
// CHECK: %[[X:.*]] = tilegpu.consumer_wait
// CHECK: tilegpu.dot_async %[[X]] transposed, %[[X]], %{{.*}}
// CHECK-NOT: tile.permute
// THREADS-LABEL: func.func @transposed_by_the_program
// THREADS: %[[X:.*]] = tilegpu.consumer_wait
// THREADS: %[[G:.*]] = tilegpu.smem_load %[[X]] : <64x64xf16
// THREADS: %[[A:.*]] = tile.permute %[[G]], [1, 0]
// THREADS: %[[B:.*]] = tilegpu.smem_load %[[X]] : <64x64xf16
// THREADS: tile.dot %[[A]], %[[B]],
func.func @transposed_by_the_program(%x: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 1, 8>},
                                     %y: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %n: i32) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> : i32 {
    %b = tile.view_load %x[%i, %c0] unchecked : !tile.view<2xf16> -> tensor<64x64xf16>
    %a = tile.permute %b, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %t = tile.dot %a, %b, %s : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  tile.view_store %r, %y[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}

// -----

// What comes from before a loop is put once for products that take it either way. What a product has computed is put in the
// loop for the next one.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-3: tilegpu.ring_alloc
// CHECK-NOT: tilegpu.ring_alloc
// CHECK: tilegpu.ring_put
// CHECK: %[[W:.*]] = tilegpu.consumer_wait
// CHECK: scf.for
// CHECK: tilegpu.dot_async %[[W]], %{{.*}}, %{{.*}}
// CHECK: tilegpu.ring_put
// CHECK: %[[B:.*]] = tilegpu.consumer_wait
// CHECK: tilegpu.dot_async %[[W]] transposed, %[[B]], %{{.*}}
func.func @kept(%w: !tile.view<2xf16> {tile.unit_stride = array<i32: 1>},
                %x: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 1, 8>},
                %y: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %n: i32) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %none = arith.constant dense<0.0> : tensor<64x32xf32>
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %kept = tile.view_load %w[%c0, %c0] : !tile.view<2xf16> -> tensor<64x128xf16>
  %back = tile.permute %kept, [1, 0] : tensor<64x128xf16> -> tensor<128x64xf16>
  scf.for %i = %c0 to %n step %c32 : i32 {
    %b = tile.view_load %x[%c0, %i] unchecked : !tile.view<2xf16> -> tensor<128x32xf16>
    %there = tile.dot %kept, %b, %none : tensor<64x128xf16>, tensor<128x32xf16>, tensor<64x32xf32>
    %narrow = arith.truncf %there : tensor<64x32xf32> to tensor<64x32xf16>
    %t = tile.dot %back, %narrow, %zero : tensor<128x64xf16>, tensor<64x32xf16>, tensor<128x32xf32>
    tile.view_store %t, %y[%c0, %i] : tensor<128x32xf32>, !tile.view<2xf32>
  }
  return
}
