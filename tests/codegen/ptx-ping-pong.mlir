// Two teams take turns at tiles: one warp loads for both, in the order of the tiles. A team waits for its turn before a tile's steps,
// in which the turn is passed by an arrival without a branch, so that the product stays under way; its last fill is released behind
// the wait for it, the others a step late.
// RUN: %hopper_to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %hopper_ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM-NOT: C75
// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// ASM: Used 168 registers

// CHECK-LABEL: .entry matmul(
// CHECK: .reqntid 384
// CHECK: setmaxnreg.dec
// CHECK: cp.async.bulk.tensor.2d
// CHECK: setmaxnreg.inc
// CHECK: @own bar.arrive {{%r[0-9]+}}, 256;
// CHECK: mbarrier.init.shared::cta.b64 [{{.*}}], 4;
// CHECK: @one mbarrier.arrive.shared::cta.b64 _,
// CHECK: bar.sync {{%r[0-9]+}}, 256;
// CHECK: mbarrier.try_wait
// CHECK: wgmma.mma_async
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: setp.ne.and.b32 one,
// CHECK-NEXT: @one mbarrier.arrive.shared::cta.b64 _,
// CHECK: @own bar.arrive {{%r[0-9]+}}, 256;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: @one mbarrier.arrive.shared::cta.b64 _,
// CHECK: stmatrix
// CHECK: cp.async.bulk.tensor.2d.global
func.func @matmul(%a: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>},
                  %b: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>},
                  %c: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %rows = tile.dim %c, 0 : !tile.view<2xf16> -> i32
  %k = tile.dim %a, 1 : !tile.view<2xf16> -> i32
  scf.for %m = %c0 to %rows step %c64 : i32 {
    %acc = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> : i32 {
      %x = tile.view_load %a[%m, %i] : !tile.view<2xf16> -> tensor<64x64xf16>
      %y = tile.view_load %b[%i, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
      %t = tile.dot %x, %y, %s : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      scf.yield %t : tensor<64x64xf32>
    } {tile.stages = 4 : i32, tile.warp_specialize}
    %r = tile.convert %acc : tensor<64x64xf32> -> tensor<64x64xf16>
    tile.view_store %r, %c[%m, %c0] : tensor<64x64xf16>, !tile.view<2xf16>
  } {tile.flatten, tile.ping_pong}
  return
}
