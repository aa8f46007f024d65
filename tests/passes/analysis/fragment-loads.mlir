// Factors that threads load, of products whose warps have matrices of their own, go straight into fragments: lanes have 16 bytes
// along K of them. What several threads take, or something else as well, goes through shared memory.
// RUN: tile-opt %s -tile-lower-views -tile-select-variants -split-input-file | FileCheck %s
// RUN: tile-opt %s -tile-lower-views -tile-select-variants -tile-assign-layouts -cse -tile-propagate-layouts -tile-promote-to-shared \
// RUN:   -split-input-file | FileCheck %s --check-prefix=STAGED

// A matrix carried from one iteration to the next and one of the same.
// CHECK-LABEL: func.func @each_warp_its_own
// CHECK: tile.dot {{.*}}tilegpu.k_width = 8 : i32
// STAGED-LABEL: func.func @each_warp_its_own
// STAGED-NOT: tilegpu.ring
// STAGED: return
func.func @each_warp_its_own(%a: !tile.view<2xbf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 16, 64>},
                             %b: !tile.view<2xbf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.stride_bytes_divisible = array<i64: 2, 16>, tile.extent_divisible = array<i64: 64, 1>},
                             %steps: i32, %out: !tile.view<3xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 2>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant dense<0.0> : tensor<4x16x8xf32>
  %first = tile.view_load %a[%c0, %c0] : <2xbf16> -> tensor<16x256xbf16>
  %end:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%now = %first, %acc = %zero) -> (tensor<16x256xbf16>, tensor<4x16x8xf32>) : i32 {
    %j = arith.addi %i, %c1 : i32
    %k = arith.muli %i, %c256 : i32
    %l = arith.muli %j, %c256 : i32
    %next = tile.view_load %a[%c0, %l] : <2xbf16> -> tensor<16x256xbf16>
    %r = tile.reshape %now : tensor<16x256xbf16> -> tensor<16x4x64xbf16>
    %p = tile.permute %r, [1, 0, 2] : tensor<16x4x64xbf16> -> tensor<4x16x64xbf16>
    %x = tile.view_load %b[%k, %c0] {tile.variant = 2 : i32} : <2xbf16> -> tensor<256x8xbf16>
    %y = tile.reshape %x : tensor<256x8xbf16> -> tensor<4x64x8xbf16>
    %d = tile.dot %p, %y, %acc : tensor<4x16x64xbf16>, tensor<4x64x8xbf16>, tensor<4x16x8xf32>
    scf.yield %next, %d : tensor<16x256xbf16>, tensor<4x16x8xf32>
  }
  tile.view_store %end#1, %out[%c0, %c0, %c0] : tensor<4x16x8xf32>, <3xf32>
  return
}

// -----

// Of tf32 16 bytes are four elements.
// CHECK-LABEL: func.func @words
// CHECK: tile.dot {{.*}}tilegpu.k_width = 4 : i32
// STAGED-LABEL: func.func @words
// STAGED-NOT: tilegpu.ring
// STAGED: return
func.func @words(%a: !tile.view<3xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 2>, tile.stride_bytes_divisible = array<i64: 16, 16, 4>, tile.extent_divisible = array<i64: 1, 16, 64>},
                 %b: !tile.view<3xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4, 16>, tile.extent_divisible = array<i64: 1, 64, 1>}, %out: !tile.view<3xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 2>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<4x16x8xf32>
  %x = tile.view_load %a[%c0, %c0, %c0] : <3xf32> -> tensor<4x16x32xf32>
  %y = tile.view_load %b[%c0, %c0, %c0] : <3xf32> -> tensor<4x32x8xf32>
  %d = tile.dot %x, %y, %zero precision tf32 : tensor<4x16x32xf32>, tensor<4x32x8xf32>, tensor<4x16x8xf32>
  tile.view_store %d, %out[%c0, %c0, %c0] : tensor<4x16x8xf32>, <3xf32>
  return
}

// -----

// Two warps a matrix take the same columns of it.
// CHECK-LABEL: func.func @shared_by_warps
// CHECK-NOT: k_width
// CHECK: return
// STAGED-LABEL: func.func @shared_by_warps
// STAGED: tilegpu.ring_put
func.func @shared_by_warps(%a: !tile.view<3xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 2>, tile.stride_bytes_divisible = array<i64: 16, 16, 2>, tile.extent_divisible = array<i64: 1, 32, 64>},
                           %b: !tile.view<3xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2, 16>, tile.extent_divisible = array<i64: 1, 64, 1>}, %out: !tile.view<3xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 2>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<2x32x8xf32>
  %x = tile.view_load %a[%c0, %c0, %c0] : <3xf16> -> tensor<2x32x64xf16>
  %y = tile.view_load %b[%c0, %c0, %c0] : <3xf16> -> tensor<2x64x8xf16>
  %d = tile.dot %x, %y, %zero : tensor<2x32x64xf16>, tensor<2x64x8xf16>, tensor<2x32x8xf32>
  tile.view_store %d, %out[%c0, %c0, %c0] : tensor<2x32x8xf32>, <3xf32>
  return
}

// -----

// Neighbours in memory are rows of K, of which a lane takes one element.
// CHECK-LABEL: func.func @along_columns
// CHECK-NOT: k_width
// CHECK: return
func.func @along_columns(%a: !tile.view<3xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 2>, tile.stride_bytes_divisible = array<i64: 16, 16, 2>, tile.extent_divisible = array<i64: 1, 16, 64>},
                         %b: !tile.view<3xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 2>, tile.stride_bytes_divisible = array<i64: 16, 16, 2>, tile.extent_divisible = array<i64: 1, 64, 8>}, %out: !tile.view<3xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 2>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<4x16x8xf32>
  %x = tile.view_load %a[%c0, %c0, %c0] : <3xf16> -> tensor<4x16x64xf16>
  %y = tile.view_load %b[%c0, %c0, %c0] : <3xf16> -> tensor<4x64x8xf16>
  %d = tile.dot %x, %y, %zero : tensor<4x16x64xf16>, tensor<4x64x8xf16>, tensor<4x16x8xf32>
  tile.view_store %d, %out[%c0, %c0, %c0] : tensor<4x16x8xf32>, <3xf32>
  return
}

// -----

// Something else takes a factor, as it lies in its own layout.
// CHECK-LABEL: func.func @taken_elsewhere
// CHECK-NOT: k_width
// CHECK: return
func.func @taken_elsewhere(%a: !tile.view<3xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 2>, tile.stride_bytes_divisible = array<i64: 16, 16, 2>, tile.extent_divisible = array<i64: 1, 16, 64>},
                           %b: !tile.view<3xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2, 16>, tile.extent_divisible = array<i64: 1, 64, 1>},
                           %c: !tile.view<3xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 2>, tile.stride_bytes_divisible = array<i64: 16, 16, 2>, tile.extent_divisible = array<i64: 1, 16, 64>}, %out: !tile.view<3xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 2>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<4x16x8xf32>
  %x = tile.view_load %a[%c0, %c0, %c0] : <3xf16> -> tensor<4x16x64xf16>
  %y = tile.view_load %b[%c0, %c0, %c0] : <3xf16> -> tensor<4x64x8xf16>
  tile.view_store %x, %c[%c0, %c0, %c0] : tensor<4x16x64xf16>, <3xf16>
  %d = tile.dot %x, %y, %zero : tensor<4x16x64xf16>, tensor<4x64x8xf16>, tensor<4x16x8xf32>
  tile.view_store %d, %out[%c0, %c0, %c0] : tensor<4x16x8xf32>, <3xf32>
  return
}
