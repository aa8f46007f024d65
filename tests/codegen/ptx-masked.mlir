// Nothing is known of extents and strides: each element has its own check, and what lies outside is NaN.
// RUN: %to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry masked(
// CHECK: mov.b32 %[[NAN:r[0-9]+]], 2143289344;
// CHECK: @%p{{[0-9]+}} ld.global.b32 %r{{[0-9]+}}, [%rd{{[0-9]+}}+0];
// CHECK: @%p{{[0-9]+}} ld.global.b32 %r{{[0-9]+}}, [%rd{{[0-9]+}}+0];
// CHECK-NOT: ld.global
// CHECK-COUNT-2: @%p{{[0-9]+}} st.global.b32
// CHECK-NOT: st.global
func.func @masked(%x: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %y: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %i: i32)
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %a = tile.view_load %x[%i, %i] pad nan : !tile.view<2xf32> -> tensor<2x32xf32>
  tile.view_store %a, %y[%i, %i] : tensor<2x32xf32>, !tile.view<2xf32>
  return
}

// The program promises that the tile is inside: no predicates, and the compiler may merge what it likes.
// CHECK-LABEL: .entry unchecked(
// CHECK-NOT: @%p
// CHECK: ret;
func.func @unchecked(%x: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>},
                     %y: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %a = tile.view_load %x[%c0] unchecked : !tile.view<1xf32> -> tensor<128xf32>
  tile.view_store %a, %y[%c0] unchecked : tensor<128xf32>, !tile.view<1xf32>
  return
}

// Tiles of pointers: a mask that is constant over four elements guards vectors of four; eight bits wide values travel
// in words too.
// CHECK-LABEL: .entry pointers(
// CHECK: @%p{{[0-9]+}} ld.global.v4.b32
// CHECK: @%p{{[0-9]+}} st.global.b32
func.func @pointers(%p: !tile.ptr<f32> {tile.alignment = 16 : i32}, %q: !tile.ptr<i8> {tile.alignment = 16 : i32})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %r = tile.arange 0, 128 : tensor<128xi32>
  %n = arith.constant dense<100> : tensor<128xi32>
  %m = arith.cmpi slt, %r, %n : tensor<128xi32>
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %pp = tile.addptr %ps, %r : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %x = tile.load %pp mask %m other %zero : tensor<128x!tile.ptr<f32>>, tensor<128xi1>, tensor<128xf32> -> tensor<128xf32>
  %b = tile.convert %x : tensor<128xf32> -> tensor<128xi8>
  %qs = tile.splat %q : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>>
  %qq = tile.addptr %qs, %r : tensor<128x!tile.ptr<i8>>, tensor<128xi32>
  tile.store %b, %qq mask %m : tensor<128xi8>, tensor<128x!tile.ptr<i8>>, tensor<128xi1>
  return
}
