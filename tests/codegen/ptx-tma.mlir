// The same product with operands that the copy engine brings: the loop waits for bytes and not for threads, the product of
// the iteration before stays under way, and one thread refills the stage that it has read, behind the only barrier.
// RUN: %hopper_to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %hopper_ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM-NOT: C75
// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry matmul(
// CHECK-COUNT-2: .param .align 64 .b8 matmul_param_{{.*}}[128]
// CHECK: elect.sync
// CHECK-COUNT-3: mbarrier.init.shared::cta.b64 [{{.*}}], 1;
// CHECK: fence.proxy.async.shared::cta;
// CHECK-NEXT: bar.sync
// CHECK: elect.sync
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [{{.*}}], 32768;
// CHECK-COUNT-3: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// CHECK: mbarrier.arrive.expect_tx
// CHECK-COUNT-3: cp.async.bulk.tensor.2d
// CHECK: mbarrier.try_wait.parity.shared::cta.b64
// CHECK-NOT: bar.sync
// CHECK: wgmma.fence.sync.aligned;
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{.*}}, a, b, add, 1, 1, 0, 1;
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: bar.sync
// CHECK: elect.sync
// CHECK: mbarrier.arrive.expect_tx
// CHECK-COUNT-3: cp.async.bulk.tensor.2d
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-NOT: mbarrier.inval
func.func @matmul(%a: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 1, 64>},
                  %b: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>},
                  %c: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 1, 64>})
    attributes {tile.kernel, tile.warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %p = tile.program_id 0 : i32
  %q = tile.program_id 1 : i32
  %m = arith.muli %p, %c128 : i32
  %n = arith.muli %q, %c128 : i32
  %k = tile.dim %a, 1 : !tile.view<2xf16> -> i32
  %acc = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<128x128xf32> : i32 {
    %x = tile.view_load %a[%m, %i] : !tile.view<2xf16> -> tensor<128x64xf16>
    %y = tile.view_load %b[%i, %n] : !tile.view<2xf16> -> tensor<64x128xf16>
    %t = tile.dot %x, %y, %s : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %t : tensor<128x128xf32>
  }
  %r = tile.convert %acc : tensor<128x128xf32> -> tensor<128x128xf16>
  tile.view_store %r, %c[%m, %n] : tensor<128x128xf16>, !tile.view<2xf16>
  return
}
