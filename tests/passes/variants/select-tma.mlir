// Which loads the copy engine of sm_90a takes, and why it does not take others.
// RUN: tile-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tile-lower-views,tile-select-variants{target=sm_90a}))' | FileCheck %s

// Rows that lie at multiples of 16 bytes, however far the view reaches.
// CHECK-LABEL: func.func @taken
// CHECK: tile.view_load {{.*}}tilegpu.variant = #tilegpu.load<tma>
// CHECK: tile.view_load {{.*}}tilegpu.variant = #tilegpu.load<tma>
func.func @taken(%a: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>}, %n: i32)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %c32 = arith.constant 32 : i32
  %s = scf.for %i = %c0 to %n step %c32 iter_args(%t = %zero) -> tensor<32x32xf32> : i32 {
    %x = tile.view_load %a[%c0, %i] : !tile.view<2xf16> -> tensor<32x32xf16>
    %y = tile.view_load %a[%i, %c0] : !tile.view<2xf16> -> tensor<32x32xf16>
    %d = tile.dot %x, %y, %t : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func @refused
// CHECK: tma refused: the view's address is not known to be a multiple of 16 bytes
// CHECK: tma refused: no dimension of the view is known to be contiguous
// CHECK: tma refused: the stride of dimension 0 is not known to be a multiple of 16 bytes
// CHECK: tma refused: the tile's place along the contiguous dimension is not known to be a multiple of 16 bytes
// CHECK: tma refused: what is outside the view must read as NaN; it fills with zeros alone
// CHECK: tma refused: the load asks for a cache mode, which it does not take
func.func @refused(%address: !tile.view<2xf16> {tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>},
                   %strided: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.stride_bytes_divisible = array<i64: 16, 16>},
                   %pitch: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>},
                   %good: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>},
                   %n: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %c32 = arith.constant 32 : i32
  %s = scf.for %i = %c0 to %n step %c32 iter_args(%t = %zero) -> tensor<32x32xf32> : i32 {
    %a = tile.view_load %address[%c0, %i] : !tile.view<2xf16> -> tensor<32x32xf16>
    %b = tile.view_load %strided[%c0, %i] : !tile.view<2xf16> -> tensor<32x32xf16>
    %c = tile.view_load %pitch[%c0, %i] : !tile.view<2xf16> -> tensor<32x32xf16>
    %d = tile.view_load %good[%c0, %n] : !tile.view<2xf16> -> tensor<32x32xf16>
    %e = tile.view_load %good[%c0, %i] pad nan : !tile.view<2xf16> -> tensor<32x32xf16>
    %f = tile.view_load %good[%c0, %i] {cache = 2 : i32} : !tile.view<2xf16> -> tensor<32x32xf16>
    %0 = tile.dot %a, %b, %t : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    %1 = tile.dot %c, %d, %0 : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    %2 = tile.dot %e, %f, %1 : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    scf.yield %2 : tensor<32x32xf32>
  }
  return
}
