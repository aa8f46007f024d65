// Reductions: registers first, then lanes by butterfly shuffles, then warps through shared memory.
// RUN: %to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry rows(
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK-NOT: shfl
// CHECK: st.global
func.func @rows(%x: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>,
                  tile.stride_bytes_divisible = array<i64: 16, 4>, tile.extent_divisible = array<i64: 4, 128>},
                %y: !tile.view<1xf32> {tile.unit_stride = array<i32: 0>}) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %a = tile.view_load %x[%c0, %c0] : !tile.view<2xf32> -> tensor<4x128xf32>
  %s = tile.reduce %a axis 1 : tensor<4x128xf32> -> tensor<4xf32> {
  ^bb0(%p: f32, %q: f32):
    %t = arith.addf %p, %q : f32
    tile.yield %t : f32
  }
  tile.view_store %s, %y[%c0] : tensor<4xf32>, !tile.view<1xf32>
  return
}

// CHECK-LABEL: .entry across_warps(
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK: st.shared.{{.*}}b32
// CHECK: bar.sync
// CHECK: ld.shared
// CHECK-NOT: shfl
// CHECK: @%p{{[0-9]+}} st.global.b32
func.func @across_warps(%x: !tile.view<1xf32> {tile.unit_stride = array<i32: 0>}, %y: !tile.ptr<f32>)
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %a = tile.view_load %x[%c0] : !tile.view<1xf32> -> tensor<1024xf32>
  %s = tile.reduce %a axis 0 : tensor<1024xf32> -> f32 {
  ^bb0(%p: f32, %q: f32):
    %t = arith.maximumf %p, %q : f32
    tile.yield %t : f32
  }
  tile.store %s, %y : f32, !tile.ptr<f32>
  return
}
