// Shapes, types and numbers of warps that nobody tunes for go all the way to machine code too.
// RUN: %to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// Fifteen elements: no power of two but 1, all in the registers of every thread.
// CHECK-LABEL: .entry odd_bytes(
// CHECK: .reqntid 32
// CHECK: ld.global
// CHECK: st.global
// CHECK: ret;
func.func @odd_bytes(%v: !tile.view<2xi8>, %w: !tile.view<2xi8> {tile.unit_stride = array<i32: 1>})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %x = tile.view_load %v[%c0, %c0] : !tile.view<2xi8> -> tensor<3x5xi8>
  %y = arith.addi %x, %x : tensor<3x5xi8>
  tile.view_store %y, %w[%c0, %c0] : tensor<3x5xi8>, !tile.view<2xi8>
  return
}

// A bit takes a byte in memory.
// CHECK-LABEL: .entry bits(
// CHECK: .reqntid 128
// CHECK: ld.global
// CHECK: st.global
// CHECK: ret;
func.func @bits(%v: !tile.view<1xi1>, %w: !tile.view<1xi1> {tile.unit_stride = array<i32: 0>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %x = tile.view_load %v[%c0] : !tile.view<1xi1> -> tensor<33xi1>
  %y = arith.addi %x, %x : tensor<33xi1>
  tile.view_store %y, %w[%c0] : tensor<33xi1>, !tile.view<1xi1>
  return
}

// 1024 threads hold one element; one of them stores it.
// CHECK-LABEL: .entry one_element(
// CHECK: .reqntid 1024
// CHECK: ld.global
// CHECK: st.global
// CHECK: ret;
func.func @one_element(%v: !tile.view<2xf64>, %w: !tile.view<2xf64> {tile.unit_stride = array<i32: 1>})
    attributes {tile.kernel, tile.warps = 32 : i32} {
  %c0 = arith.constant 0 : i32
  %x = tile.view_load %v[%c0, %c0] : !tile.view<2xf64> -> tensor<1x1xf64>
  %y = arith.addf %x, %x : tensor<1x1xf64>
  tile.view_store %y, %w[%c0, %c0] : tensor<1x1xf64>, !tile.view<2xf64>
  return
}

// The highest rank there is.
// CHECK-LABEL: .entry rank_eight(
// CHECK: .reqntid 256
// CHECK: ld.global
// CHECK: st.global
// CHECK: ret;
func.func @rank_eight(%v: !tile.view<8xbf16>, %w: !tile.view<8xbf16> {tile.unit_stride = array<i32: 7>})
    attributes {tile.kernel, tile.warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %x = tile.view_load %v[%c0, %c0, %c0, %c0, %c0, %c0, %c0, %c0] : !tile.view<8xbf16> -> tensor<2x2x2x2x2x2x2x2xbf16>
  %y = arith.addf %x, %x : tensor<2x2x2x2x2x2x2x2xbf16>
  tile.view_store %y, %w[%c0, %c0, %c0, %c0, %c0, %c0, %c0, %c0] : tensor<2x2x2x2x2x2x2x2xbf16>, !tile.view<8xbf16>
  return
}

// Odd factors in both dimensions.
// CHECK-LABEL: .entry three_tiles(
// CHECK: .reqntid 64
// CHECK: ld.global
// CHECK: st.global
// CHECK: ret;
func.func @three_tiles(%v: !tile.view<2xi64>, %w: !tile.view<2xi64> {tile.unit_stride = array<i32: 1>})
    attributes {tile.kernel, tile.warps = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %x = tile.view_load %v[%c0, %c0] : !tile.view<2xi64> -> tensor<96x3xi64>
  %y = arith.addi %x, %x : tensor<96x3xi64>
  tile.view_store %y, %w[%c0, %c0] : tensor<96x3xi64>, !tile.view<2xi64>
  return
}

// A reduction whose axis has an odd factor, over more warps than elements.
// CHECK-LABEL: .entry odd_reduction(
// CHECK: .reqntid 1024
// CHECK: st.global
func.func @odd_reduction(%v: !tile.view<2xf16>, %w: !tile.view<1xf16>) attributes {tile.kernel, tile.warps = 32 : i32} {
  %c0 = arith.constant 0 : i32
  %x = tile.view_load %v[%c0, %c0] : !tile.view<2xf16> -> tensor<10x6xf16>
  %r = tile.reduce %x axis 0 : tensor<10x6xf16> -> tensor<6xf16> {
  ^bb0(%a: f16, %b: f16):
    %s = arith.addf %a, %b : f16
    tile.yield %s : f16
  }
  tile.view_store %r, %w[%c0] : tensor<6xf16>, !tile.view<1xf16>
  return
}

// CHECK-LABEL: .entry odd_product(
// CHECK-COUNT-2: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
// CHECK-NOT: mma
// CHECK: ret;
func.func @odd_product(%a: !tile.view<2xf64>, %b: !tile.view<2xf64>, %c: !tile.view<2xf64>)
    attributes {tile.kernel, tile.warps = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %x = tile.view_load %a[%c0, %c0] : !tile.view<2xf64> -> tensor<3x7xf64>
  %y = tile.view_load %b[%c0, %c0] : !tile.view<2xf64> -> tensor<7x5xf64>
  %z = tile.view_load %c[%c0, %c0] : !tile.view<2xf64> -> tensor<3x5xf64>
  %t = tile.dot %x, %y, %z : tensor<3x7xf64>, tensor<7x5xf64>, tensor<3x5xf64>
  tile.view_store %t, %c[%c0, %c0] : tensor<3x5xf64>, !tile.view<2xf64>
  return
}

// Loops with tiles that go round, a branch, and a tile that starts below zero.
// CHECK-LABEL: .entry control(
// CHECK: bra
// CHECK: ret;
func.func @control(%v: !tile.view<1xi32>, %n: i32, %c: i1) attributes {tile.kernel, tile.warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = tile.arange -5, 7 : tensor<12xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<12xi32> : i32 {
    %t = scf.if %c -> tensor<12xi32> {
      %y = tile.view_load %v[%i] : !tile.view<1xi32> -> tensor<12xi32>
      scf.yield %y : tensor<12xi32>
    } else {
      %y = arith.addi %s, %x : tensor<12xi32>
      scf.yield %y : tensor<12xi32>
    }
    scf.yield %t : tensor<12xi32>
  }
  tile.view_store %r, %v[%c0] : tensor<12xi32>, !tile.view<1xi32>
  return
}
