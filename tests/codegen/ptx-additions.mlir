// Additions to a view: floats side by side are added at once from sm_90 on, before one after the other.
// RUN: %to_ptx %t
// RUN: FileCheck %s < %t --check-prefix=ONE
// RUN: %hopper_to_ptx %t
// RUN: FileCheck %s < %t --check-prefix=FOUR
// RUN: %if ptxas %{ %hopper_ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// ONE-COUNT-4: @%p{{[0-9]+}} atom.relaxed.gpu.global.add.f32
// ONE-NOT: .add.
// FOUR: @%p{{[0-9]+}} red.relaxed.gpu.global.add.v4.f32 [%rd{{[0-9]+}}+0], {
// FOUR-NOT: .add.v
func.func @additions(%v: !tile.view<1xf32> {tile.unit_stride = array<i32: 0>, tile.alignment = 16 : i32,
                                            tile.extent_divisible = array<i64: 16>})
    attributes {tile.kernel, tile.warps = 1 : i32} {
  %i = arith.constant 0 : i32
  %x = arith.constant dense<1.0> : tensor<128xf32>
  tile.view_store %x, %v[%i] add : tensor<128xf32>, !tile.view<1xf32>
  return
}
