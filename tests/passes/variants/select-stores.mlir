// How tiles of products are stored: by the copy engine, in quads, by vectors; and why not otherwise.
// RUN: tile-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tile-lower-views,canonicalize,cse,tile-select-variants{target=sm_90a}))' | FileCheck %s

// Places that follow from numbers of programs, loops from 0 and extents are never negative.
// CHECK-LABEL: func.func @by_engine
// CHECK: tile.view_store {{.*}}tilegpu.variant = #tilegpu.store<tma>
func.func @by_engine(%a: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>},
                     %c: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %n = tile.dim %a, 1 : !tile.view<2xf16> -> i32
  %p = tile.program_id 0 : i32
  %q = arith.divui %p, %n : i32
  %row = arith.muli %q, %c64 : i32
  scf.for %j = %c0 to %n step %c64 iter_args(%next = %c0) -> (i32) : i32 {
    %s = scf.for %i = %c0 to %n step %c64 iter_args(%t = %zero) -> tensor<64x64xf32> : i32 {
      %x = tile.view_load %a[%row, %i] : !tile.view<2xf16> -> tensor<64x64xf16>
      %y = tile.view_load %a[%i, %j] : !tile.view<2xf16> -> tensor<64x64xf16>
      %d = tile.dot %x, %y, %t : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %r = tile.convert %s : tensor<64x64xf32> -> tensor<64x64xf16>
    tile.view_store %r, %c[%row, %next] : tensor<64x64xf16>, !tile.view<2xf16>
    %after = arith.addi %next, %c64 : i32
    scf.yield %after : i32
  }
  return
}

// -----

// CHECK-LABEL: func.func @refused
// CHECK: tile.view_store {{.*}}<quad, refused = ["tma refused: the tile may begin before the view, where it stores nothing"]>
// CHECK: tile.view_store {{.*}}<quad, refused = ["tma refused: the store asks for a cache mode or is volatile, which it does not take"]>
// CHECK: tile.view_store {{.*}}<vector, refused = ["tma refused: its elements have no 16 bits; of others threads store whole sectors", "quad refused: its elements have no 16 bits; of others threads store whole sectors"]>
// CHECK: tile.view_store {{.*}}<vector, refused = ["tma refused: no product by wgmma gives the tile", "quad refused: no product by wgmma gives the tile"]>
// CHECK: tile.view_store {{.*}}<vector, refused = ["tma refused: the stride of dimension 0 is not known to be a multiple of 16 bytes", "quad refused: only 2 elements are known to be neighbours at an address aligned for them; it takes 8"]>
// CHECK: tile.view_store {{.*}}<quad, refused = ["tma refused: the kernel has other accesses of what may be the same memory"]>
func.func @refused(%a: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>},
                   %before: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>},
                   %hinted: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>},
                   %wide: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>, tile.extent_divisible = array<i64: 64, 64>},
                   %plain: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>},
                   %narrow: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 4, 2>, tile.extent_divisible = array<i64: 64, 64>},
                   %twice: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>},
                   %where: i32 {tile.divisibility = 8 : i32}) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %empty = arith.constant dense<0.0> : tensor<64x64xf16>
  %s = scf.for %i = %c0 to %c64 step %c64 iter_args(%t = %zero) -> tensor<64x64xf32> : i32 {
    %x = tile.view_load %a[%c0, %i] : !tile.view<2xf16> -> tensor<64x64xf16>
    %y = tile.view_load %a[%i, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
    %d = tile.dot %x, %y, %t : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %r = tile.convert %s : tensor<64x64xf32> -> tensor<64x64xf16>
  tile.view_store %r, %before[%where, %c0] : tensor<64x64xf16>, !tile.view<2xf16>
  tile.view_store %r, %hinted[%c0, %c0] cache cs : tensor<64x64xf16>, !tile.view<2xf16>
  tile.view_store %s, %wide[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  tile.view_store %empty, %plain[%c0, %c0] : tensor<64x64xf16>, !tile.view<2xf16>
  tile.view_store %r, %narrow[%c0, %c0] : tensor<64x64xf16>, !tile.view<2xf16>
  tile.view_store %r, %twice[%c0, %c0] : tensor<64x64xf16>, !tile.view<2xf16>
  %o = tile.view_load %twice[%c0, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
  tile.view_store %o, %plain[%c64, %c0] : tensor<64x64xf16>, !tile.view<2xf16>
  return
}

// -----

// Of two arms that come once, one alone stores.
// CHECK-LABEL: func.func @one_or_the_other
// CHECK: tile.view_store {{.*}}tilegpu.variant = #tilegpu.store<tma>
// CHECK: tile.view_store {{.*}}<scalar, refused
func.func @one_or_the_other(%a: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>},
                            %c: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>},
                            %which: i1) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %empty = arith.constant dense<0.0> : tensor<64x64xf16>
  scf.if %which {
    %s = scf.for %i = %c0 to %c64 step %c64 iter_args(%t = %zero) -> tensor<64x64xf32> : i32 {
      %x = tile.view_load %a[%c0, %i] : !tile.view<2xf16> -> tensor<64x64xf16>
      %y = tile.view_load %a[%i, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
      %d = tile.dot %x, %y, %t : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %r = tile.convert %s : tensor<64x64xf32> -> tensor<64x64xf16>
    tile.view_store %r, %c[%c0, %c0] : tensor<64x64xf16>, !tile.view<2xf16>
  } else {
    tile.view_store %empty, %c[%c0, %c0] : tensor<64x64xf16>, !tile.view<2xf16>
  }
  return
}
