// Two blocks carry out a program: each copies half of what both need to the memory of both, and what its own rows need for itself.
// Both meet where barriers are made and before they end; warps release a stage in both. Descriptors hold addresses without the rank.
// RUN: %hopper_to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %hopper_ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM-NOT: C75
// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry matmul(
// CHECK: .reqnctapercluster 2
// CHECK: barrier.cluster.arrive.release.aligned;
// CHECK-NEXT: barrier.cluster.wait.acquire.aligned;
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [{{.*}}], 16384;
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [
// CHECK: mov.b16 all, 3;
// CHECK-NEXT: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [{{.*}}, all;
// CHECK: mbarrier.init.shared::cta.b64 [{{.*}}], 8;
// CHECK: fence.mbarrier_init.release.cluster;
// CHECK-NEXT: barrier.cluster.arrive.release.aligned;
// CHECK: bfe.u32 {{.*}}, 4, 14;
// CHECK: mapa.shared::cluster.u32 there,
// CHECK-NEXT: @one mbarrier.arrive.shared::cluster.b64 _, [there];
// CHECK-NOT: fence.mbarrier_init
// CHECK: barrier.cluster.arrive.release.aligned;
// CHECK-NEXT: barrier.cluster.wait.acquire.aligned;
func.func @matmul(%a: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>},
                  %b: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>},
                  %c: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>})
    attributes {tile.kernel, tile.warps = 4 : i32, tile.cluster = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %program = tile.program_id 0 : i32
  %rank = tile.cluster_rank : i32
  %pair = arith.muli %program, %c2 : i32
  %tile = arith.addi %pair, %rank : i32
  %m = arith.muli %tile, %c64 : i32
  %k = tile.dim %a, 1 : !tile.view<2xf16> -> i32
  %acc = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> : i32 {
    %x = tile.view_load %a[%m, %i] : !tile.view<2xf16> -> tensor<64x64xf16>
    %y = tile.view_load %b[%i, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
    %t = tile.dot %x, %y, %s : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  } {tile.stages = 4 : i32, tile.warp_specialize}
  %r = tile.convert %acc : tensor<64x64xf32> -> tensor<64x64xf16>
  tile.view_store %r, %c[%m, %c0] : tensor<64x64xf16>, !tile.view<2xf16>
  return
}
