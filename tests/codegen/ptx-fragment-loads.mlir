// A product by a few vectors: lanes load 16 bytes along K of both factors straight into the fragments of two instructions, the next
// step's matrix while this one's is multiplied. Shared memory serves the sum over warps alone.
// RUN: %hopper_to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %hopper_ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry matmul(
// CHECK-COUNT-8: ld.global{{.*}}.v4.b32
// CHECK: $L__BB0_
// CHECK-NOT: {{ldmatrix|st.shared|bar.sync}}
// CHECK-COUNT-12: ld.global{{.*}}.v4.b32
// CHECK-COUNT-8: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-NOT: mma.sync
// CHECK: st.shared.v4.b32
// CHECK: bar.sync
func.func @matmul(%a: !tile.view<2xbf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 16, 1024>},
                  %b: !tile.view<2xbf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.stride_bytes_divisible = array<i64: 2, 16>, tile.extent_divisible = array<i64: 1024, 1>},
                  %c: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.stride_bytes_divisible = array<i64: 4, 16>, tile.extent_divisible = array<i64: 16, 1>})
    attributes {tile.kernel, tile.warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %c1024 = arith.constant 1024 : i32
  %zero = arith.constant dense<0.0> : tensor<8x16x8xf32>
  %depth = tile.dim %a, 1 : <2xbf16> -> i32
  %steps = arith.divui %depth, %c1024 : i32
  %m = tile.program_id 0 : i32
  %row = arith.muli %m, %c16 : i32
  %first = tile.view_load %a[%row, %c0] : <2xbf16> -> tensor<16x1024xbf16>
  %end:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%now = %first, %acc = %zero) -> (tensor<16x1024xbf16>, tensor<8x16x8xf32>) : i32 {
    %j = arith.addi %i, %c1 : i32
    %k = arith.muli %i, %c1024 : i32
    %l = arith.muli %j, %c1024 : i32
    %next = tile.view_load %a[%row, %l] : <2xbf16> -> tensor<16x1024xbf16>
    %r = tile.reshape %now : tensor<16x1024xbf16> -> tensor<16x8x128xbf16>
    %p = tile.permute %r, [1, 0, 2] : tensor<16x8x128xbf16> -> tensor<8x16x128xbf16>
    %x = tile.view_load %b[%k, %c0] {tile.variant = 2 : i32} : <2xbf16> -> tensor<1024x8xbf16>
    %y = tile.reshape %x : tensor<1024x8xbf16> -> tensor<8x128x8xbf16>
    %d = tile.dot %p, %y, %acc : tensor<8x16x128xbf16>, tensor<8x128x8xbf16>, tensor<8x16x8xf32>
    scf.yield %next, %d : tensor<16x1024xbf16>, tensor<8x16x8xf32>
  }
  %sums = tile.reduce %end#1 axis 0 : tensor<8x16x8xf32> -> tensor<16x8xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    tile.yield %w : f32
  }
  tile.view_store %sums, %c[%row, %c0] : tensor<16x8xf32>, <2xf32>
  return
}
