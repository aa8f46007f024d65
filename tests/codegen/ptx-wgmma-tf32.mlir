// A product of f32 in precision tf32 on sm_90a: the copy engine rounds as it copies, so that no thread rounds an operand.
// RUN: %hopper_to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %hopper_ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM-NOT: C75
// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry rounded(
// CHECK-NOT: cvt.rna.tf32
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [{{.*}}], 32768;
// CHECK: wgmma.fence.sync.aligned;
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {{.*}}}, a, b, add, 1, 1;
// CHECK-NOT: wgmma.mma_async
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK-NOT: cvt.rna.tf32
func.func @rounded(%a: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>, tile.extent_divisible = array<i64: 1, 32>},
                   %w: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>, tile.extent_divisible = array<i64: 1, 32>},
                   %c: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>, tile.extent_divisible = array<i64: 1, 32>})
    attributes {tile.kernel, tile.warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %p = tile.program_id 0 : i32
  %q = tile.program_id 1 : i32
  %m = arith.muli %p, %c128 : i32
  %n = arith.muli %q, %c128 : i32
  %k = tile.dim %a, 1 : !tile.view<2xf32> -> i32
  %b = tile.permute_view %w, [1, 0] : !tile.view<2xf32>
  %acc = scf.for %i = %c0 to %k step %c32 iter_args(%s = %zero) -> tensor<128x128xf32> : i32 {
    %x = tile.view_load %a[%m, %i] : !tile.view<2xf32> -> tensor<128x32xf32>
    %y = tile.view_load %b[%i, %n] : !tile.view<2xf32> -> tensor<32x128xf32>
    %t = tile.dot %x, %y, %s precision tf32 : tensor<128x32xf32>, tensor<32x128xf32>, tensor<128x128xf32>
    scf.yield %t : tensor<128x128xf32>
  } {tile.stages = 4 : i32}
  tile.view_store %acc, %c[%m, %n] : tensor<128x128xf32>, !tile.view<2xf32>
  return
}
