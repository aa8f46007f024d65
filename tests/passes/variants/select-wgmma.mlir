// Which products wgmma takes on sm_90a, and why it does not take others. Its grid counts warps: each group of four has 64 rows.
// RUN: tile-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tile-select-variants{target=sm_90a}))' | FileCheck %s

// CHECK-LABEL: func.func @taken
// CHECK: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<wgmma>, tilegpu.warp_grid = #tilegpu.warp_grid<rows = 8, columns = 1>
// CHECK: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<wgmma>, tilegpu.warp_grid = #tilegpu.warp_grid<rows = 4, columns = 2>
func.func @taken(%v: !tile.view<2xbf16>, %o: i32, %c: tensor<128x128xf32>, %d: tensor<64x128xf32>) attributes {tile.warps = 8 : i32} {
  %a = tile.view_load %v[%o, %o] : !tile.view<2xbf16> -> tensor<128x64xbf16>
  %b = tile.view_load %v[%o, %o] : !tile.view<2xbf16> -> tensor<64x128xbf16>
  %e = tile.view_load %v[%o, %o] : !tile.view<2xbf16> -> tensor<64x64xbf16>
  %0 = tile.dot %a, %b, %c : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
  %1 = tile.dot %e, %b, %d : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32>
  return
}

// -----

// CHECK-LABEL: func.func @refused
// CHECK: wgmma refused: no instruction for these types
// CHECK: wgmma refused: M is 32, not a multiple of 64
// CHECK: wgmma refused: K is 8, not a multiple of 16
// CHECK: wgmma refused: N is 4, which 4 warps cannot share in whole instructions
// CHECK: wgmma refused: rows of B in memory are 16 bytes, not a multiple of 32
// CHECK: wgmma refused: neighbours of B in memory lie along N; for operands of 8 bits they must lie along K
// CHECK: wgmma refused: accumulators take 256 registers of a thread; at most 192 leave room for the rest; use more warps
func.func @refused(%v: !tile.view<2xf16>, %w: !tile.view<2xi8>, %o: i32, %c: tensor<64x64xf32>, %h: tensor<64x64xf16>,
                   %m: tensor<32x64xf32>, %n: tensor<64x4xf32>, %p: tensor<64x8xf32>, %i: tensor<64x64xi32>, %big: tensor<128x256xf32>)
    attributes {tile.warps = 4 : i32} {
  %a = tile.view_load %v[%o, %o] : !tile.view<2xf16> -> tensor<64x64xf16>
  %1 = tile.dot %a, %a, %h : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>
  %small = tile.view_load %v[%o, %o] : !tile.view<2xf16> -> tensor<32x64xf16>
  %2 = tile.dot %small, %a, %m : tensor<32x64xf16>, tensor<64x64xf16>, tensor<32x64xf32>
  %ka = tile.view_load %v[%o, %o] : !tile.view<2xf16> -> tensor<64x8xf16>
  %kb = tile.view_load %v[%o, %o] : !tile.view<2xf16> -> tensor<8x64xf16>
  %3 = tile.dot %ka, %kb, %c : tensor<64x8xf16>, tensor<8x64xf16>, tensor<64x64xf32>
  %nb = tile.view_load %v[%o, %o] : !tile.view<2xf16> -> tensor<64x4xf16>
  %4 = tile.dot %a, %nb, %n : tensor<64x64xf16>, tensor<64x4xf16>, tensor<64x4xf32>
  %pb = tile.view_load %v[%o, %o] : !tile.view<2xf16> -> tensor<64x8xf16>
  %5 = tile.dot %a, %pb, %p : tensor<64x64xf16>, tensor<64x8xf16>, tensor<64x8xf32>
  %ia = tile.view_load %w[%o, %o] : !tile.view<2xi8> -> tensor<64x64xi8>
  %6 = tile.dot %ia, %ia, %i : tensor<64x64xi8>, tensor<64x64xi8>, tensor<64x64xi32>
  %ba = tile.view_load %v[%o, %o] : !tile.view<2xf16> -> tensor<128x64xf16>
  %bb = tile.view_load %v[%o, %o] : !tile.view<2xf16> -> tensor<64x256xf16>
  %7 = tile.dot %ba, %bb, %big : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
  return
}

// -----

// CHECK-LABEL: func.func @asserts
// CHECK: wgmma refused: the kernel prints or asserts, which would make it wait after every instruction
func.func @asserts(%v: !tile.view<2xf16>, %o: i32, %c: tensor<64x64xf32>, %p: i1) attributes {tile.warps = 4 : i32} {
  %a = tile.view_load %v[%o, %o] : !tile.view<2xf16> -> tensor<64x64xf16>
  %0 = tile.dot %a, %a, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  tile.assert %p, "no" : i1
  return
}

// -----

// An instruction of 160 columns would begin in the middle of a row of 128 bytes.
// CHECK-LABEL: func.func @between_spans
// CHECK: wgmma refused: no descriptor reaches the elements where they lie in shared memory
func.func @between_spans(%v: !tile.view<2xf16>, %o: i32, %c: tensor<64x320xf32>) attributes {tile.warps = 4 : i32} {
  %a = tile.view_load %v[%o, %o] : !tile.view<2xf16> -> tensor<64x16xf16>
  %b = tile.view_load %v[%o, %o] : !tile.view<2xf16> -> tensor<16x320xf16>
  %0 = tile.dot %a, %b, %c : tensor<64x16xf16>, tensor<16x320xf16>, tensor<64x320xf32>
  return
}

// -----

// What is computed beside the product is taken as A from registers, as B through shared memory, another product's result too;
// but not by a product of another kind.
// CHECK-LABEL: func.func @from_registers
// CHECK: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<wgmma>
// CHECK: tile.dot {{.*}}tilegpu.a_from_registers, {{.*}}tilegpu.variant = #tilegpu.dot<wgmma>
// CHECK: tile.dot {{.*}} {tilegpu.k_major = {{.*}}tilegpu.variant = #tilegpu.dot<wgmma>
// CHECK: tile.dot {{.*}} {tilegpu.k_major = {{.*}}tilegpu.variant = #tilegpu.dot<wgmma>
// CHECK: tile.dot {{.*}}the product that takes its result as A is none by wgmma: rows of B in memory are 16 bytes, not a multiple of 32
func.func @from_registers(%v: !tile.view<2xf16>, %o: i32, %c: tensor<64x64xf32>, %d: tensor<64x8xf32>) attributes {tile.warps = 4 : i32} {
  %a = tile.view_load %v[%o, %o] : !tile.view<2xf16> -> tensor<64x64xf16>
  %e = tile.view_load %v[%o, %o] : !tile.view<2xf16> -> tensor<64x8xf16>
  %0 = tile.dot %a, %a, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %p = tile.convert %0 : tensor<64x64xf32> -> tensor<64x64xf16>
  %1 = tile.dot %p, %a, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %2 = tile.dot %a, %a, %1 : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %q = tile.convert %2 : tensor<64x64xf32> -> tensor<64x64xf16>
  %3 = tile.dot %a, %q, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %4 = tile.dot %a, %a, %3 : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %r = tile.convert %4 : tensor<64x64xf32> -> tensor<64x64xf16>
  %5 = tile.dot %r, %e, %d : tensor<64x64xf16>, tensor<64x8xf16>, tensor<64x8xf32>
  return
}

// -----

// A result with rows for columns goes through shared memory anyway, where the product reads it: not from registers, as the
// same result does as it lies.
// CHECK-LABEL: func.func @transposed_result
// CHECK: tile.dot {{.*}}dot<wgmma>
// CHECK: arith.truncf
// CHECK: tile.dot {{.*}} {tilegpu.k_major = {{.*}}tilegpu.variant = #tilegpu.dot<wgmma>
// CHECK: tile.dot {{.*}} {tilegpu.a_from_registers, {{.*}}tilegpu.variant = #tilegpu.dot<wgmma>
// CHECK: tile.dot {{.*}} {tilegpu.a_from_registers, {{.*}}tilegpu.variant = #tilegpu.dot<wgmma>
func.func @transposed_result(%v: !tile.view<2xf16>, %o: i32, %c: tensor<64x64xf32>) attributes {tile.warps = 4 : i32} {
  %a = tile.view_load %v[%o, %o] : !tile.view<2xf16> -> tensor<64x64xf16>
  %s = tile.dot %a, %a, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %n = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  %t = tile.permute %n, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  %d = tile.dot %t, %a, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %e = tile.dot %n, %a, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %back = tile.permute %t, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  %f = tile.dot %back, %a, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  return
}

// -----

// How operands lie in shared memory is decided while their loads are to be seen: W is loaded with rows along K, and widened.
// CHECK-LABEL: func.func @order_of_converted_operand
// CHECK: tile.dot {{.*}}tilegpu.k_major = array<i1: true, true>, tilegpu.variant = #tilegpu.dot<wgmma>
func.func @order_of_converted_operand(%w: !tile.view<2xi8>, %v: !tile.view<2xf16>, %o: i32, %c: tensor<64x24xf32>) attributes {tile.warps = 4 : i32} {
  %a = tile.view_load %v[%o, %o] : !tile.view<2xf16> -> tensor<64x32xf16>
  %narrow = tile.view_load %w[%o, %o] {tilegpu.access = #tilegpu.access<order = [0, 1], vector = 16, bounds = [none, none]>} : !tile.view<2xi8> -> tensor<32x24xi8>
  %b = arith.sitofp %narrow : tensor<32x24xi8> to tensor<32x24xf16>
  %0 = tile.dot %a, %b, %c : tensor<64x32xf16>, tensor<32x24xf16>, tensor<64x24xf32>
  return
}
