// Aligned tensors in whole tiles: one comparison a tensor guards all its accesses, which move 16 bytes each.
// RUN: %to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry vector_add(
// CHECK: .reqntid 128
// CHECK-COUNT-4: @%p{{[0-9]+}} ld.global.v4.b32
// CHECK-NOT: ld.global
// CHECK-COUNT-8: add.{{.*}}f32
// CHECK-COUNT-2: st.global.v4.b32
// CHECK-NOT: st.global
// CHECK-NOT: bar.sync
// CHECK: ret
func.func @vector_add(%x: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 1024>},
                      %y: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 1024>},
                      %z: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 1024>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c1024 = arith.constant 1024 : i32
  %pid = tile.program_id 0 : i32
  %at = arith.muli %pid, %c1024 : i32
  %a = tile.view_load %x[%at] : !tile.view<1xf32> -> tensor<1024xf32>
  %b = tile.view_load %y[%at] : !tile.view<1xf32> -> tensor<1024xf32>
  %s = arith.addf %a, %b : tensor<1024xf32>
  tile.view_store %s, %z[%at] : tensor<1024xf32>, !tile.view<1xf32>
  return
}
