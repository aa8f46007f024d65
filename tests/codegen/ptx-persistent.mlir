// Two tiles one after the other as one loop: the first instructions of a tile's first step set the sums and the product stays
// under way. Behind the steps of a tile it is waited for, and the copy engine stores the tile once that before is complete.
// RUN: %hopper_to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %hopper_ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM-NOT: C75
// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry matmul(
// CHECK: cp.async.bulk.tensor.2d
// CHECK: mbarrier.try_wait
// CHECK: setp.eq.u32 set, {{%r[0-9]+}}, 0;
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, a, b, set,
// CHECK-COUNT-3: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, a, b, add,
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: bar.sync
// CHECK: cp.async.bulk.tensor.2d
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-NOT: shfl
// CHECK: cp.async.bulk.wait_group 0;
// CHECK: bar.sync
// CHECK-COUNT-4: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-NOT: stmatrix
// CHECK: fence.proxy.async.shared::cta;
// CHECK: bar.sync
// CHECK: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// CHECK: cp.async.bulk.commit_group;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: cp.async.bulk.wait_group.read 0;
func.func @matmul(%a: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>},
                  %b: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>},
                  %c: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %k = tile.dim %a, 1 : !tile.view<2xf16> -> i32
  scf.for %m = %c0 to %c128 step %c64 : i32 {
    %acc = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> : i32 {
      %x = tile.view_load %a[%m, %i] : !tile.view<2xf16> -> tensor<64x64xf16>
      %y = tile.view_load %b[%i, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
      %t = tile.dot %x, %y, %s : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      scf.yield %t : tensor<64x64xf32>
    }
    %r = tile.convert %acc : tensor<64x64xf32> -> tensor<64x64xf16>
    tile.view_store %r, %c[%m, %c0] : tensor<64x64xf16>, !tile.view<2xf16>
  } {tile.flatten}
  return
}
