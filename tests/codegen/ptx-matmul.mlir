// A product of f16: operands are copied ahead, and reach the tensor core by ldmatrix, the second one transposed on the way.
// RUN: %to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry matmul(
// CHECK-COUNT-8: cp.async.cg.shared.global
// CHECK: cp.async.wait_group 1;
// CHECK: bar.sync
// CHECK-COUNT-4: @%p{{[0-9]+}} cp.async.cg.shared.global
// CHECK-NOT: st.shared
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-COUNT-16: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NOT: mma.sync
// CHECK: cp.async.commit_group;
// CHECK: st.global.v4.b32
func.func @matmul(%a: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 1, 32>},
                  %b: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 32, 64>},
                  %c: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 1, 64>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %p = tile.program_id 0 : i32
  %q = tile.program_id 1 : i32
  %m = arith.muli %p, %c64 : i32
  %n = arith.muli %q, %c64 : i32
  %k = tile.dim %a, 1 : !tile.view<2xf16> -> i32
  %acc = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<64x64xf32> : i32 {
    %x = tile.view_load %a[%m, %i] : !tile.view<2xf16> -> tensor<64x32xf16>
    %y = tile.view_load %b[%i, %n] : !tile.view<2xf16> -> tensor<32x64xf16>
    %t = tile.dot %x, %y, %s : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  %r = tile.convert %acc : tensor<64x64xf32> -> tensor<64x64xf16>
  tile.view_store %r, %c[%m, %n] : tensor<64x64xf16>, !tile.view<2xf16>
  return
}

// f16 accumulators take half the registers; an odd factor (48 = 16 * 3) makes more products, not another kind.
// CHECK-LABEL: .entry half_accumulator(
// CHECK-COUNT-27: mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16
// CHECK-NOT: mma.sync
func.func @half_accumulator(%a: !tile.view<2xf16> {tile.unit_stride = array<i32: 1>},
                            %c: !tile.view<2xf16> {tile.unit_stride = array<i32: 1>})
    attributes {tile.kernel, tile.warps = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<48x48xf16>
  %x = tile.view_load %a[%c0, %c0] : !tile.view<2xf16> -> tensor<48x48xf16>
  %t = tile.dot %x, %x, %zero : tensor<48x48xf16>, tensor<48x48xf16>, tensor<48x48xf16>
  tile.view_store %t, %c[%c0, %c0] : tensor<48x48xf16>, !tile.view<2xf16>
  return
}
