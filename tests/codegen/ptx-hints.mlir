// Hints and foreign text arrive in PTX as written.
// RUN: %to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry hints(
// CHECK: prefetch.global.L2
// CHECK: ld.global.cg.b32
// CHECK: ld.global.L1::evict_last.b32
// CHECK: ld.volatile.global.b32
// CHECK: st.global.wt.b32
// CHECK: st.global.L1::evict_first.b32
// CHECK: st.volatile.global.b32
func.func @hints(%p: !tile.ptr<f32>, %c: i1) attributes {tile.kernel, tile.warps = 1 : i32} {
  tile.prefetch %p level 2 : !tile.ptr<f32>
  %a = tile.load %p cache cg : !tile.ptr<f32> -> f32
  %b = tile.load %p mask %c evict last : !tile.ptr<f32>, i1 -> f32
  %d = tile.load %p volatile : !tile.ptr<f32> -> f32
  tile.store %a, %p cache wt : f32, !tile.ptr<f32>
  tile.store %b, %p mask %c evict first : f32, !tile.ptr<f32>, i1
  tile.store %d, %p volatile : f32, !tile.ptr<f32>
  return
}

// Two volatile loads are two, and what is pure and unused is nothing.
// CHECK-LABEL: .entry kept(
// CHECK-COUNT-2: ld.volatile.global
// CHECK-NOT: lop3
// CHECK: membar.cta;
// CHECK: ret;
func.func @kept(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 1 : i32} {
  %a = tile.load %p volatile : !tile.ptr<i32> -> i32
  %b = tile.load %p volatile : !tile.ptr<i32> -> i32
  %c = tile.inline_ptx "lop3.b32 $0, $1, $1, $1, 0x96;" "=r,r" pure %a : (i32) -> i32
  tile.inline_ptx "membar.cta;" "" : () -> ()
  return
}

// Eight elements of 8 bits in two calls on 32-bit registers.
// CHECK-LABEL: .entry packed(
// CHECK-COUNT-2: not.b32
// CHECK-NOT: not.b32
// CHECK: ret;
func.func @packed(%v: !tile.view<1xi8> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 256>},
                  %w: !tile.view<1xi8> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 256>})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %x = tile.view_load %v[%c0] : !tile.view<1xi8> -> tensor<256xi8>
  %y = tile.inline_ptx "not.b32 $0, $1;" "=r,r" pack 4 pure %x : (tensor<256xi8>) -> tensor<256xi8>
  tile.view_store %y, %w[%c0] : tensor<256xi8>, !tile.view<1xi8>
  return
}
