// A product of 8-bit floats on sm_90a whose sums are left to the tensor core: the loop of 16-bit operands, with rows of 128
// bytes of K; the product of the iteration before stays under way.
// RUN: %hopper_to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %hopper_ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM-NOT: C75
// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry fast(
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [{{.*}}], 49152;
// CHECK: mbarrier.try_wait.parity.shared::cta.b64
// CHECK: wgmma.fence.sync.aligned;
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {{.*}}}, a, b, add, 1, 1;
// CHECK-NOT: wgmma.mma_async
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: bar.sync
// CHECK: elect.sync
// CHECK: mbarrier.arrive.expect_tx
// CHECK: cp.async.bulk.tensor.2d
// CHECK: wgmma.wait_group.sync.aligned 0;
func.func @fast(%a: !tile.view<2xf8E4M3FN> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 1>, tile.extent_divisible = array<i64: 1, 128>},
                %w: !tile.view<2xf8E4M3FN> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 1>, tile.extent_divisible = array<i64: 1, 128>},
                %c: !tile.view<2xbf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 1, 64>})
    attributes {tile.kernel, tile.warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %width = arith.constant 256 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %p = tile.program_id 0 : i32
  %q = tile.program_id 1 : i32
  %m = arith.muli %p, %c128 : i32
  %n = arith.muli %q, %width : i32
  %k = tile.dim %a, 1 : !tile.view<2xf8E4M3FN> -> i32
  %b = tile.permute_view %w, [1, 0] : !tile.view<2xf8E4M3FN>
  %acc = scf.for %i = %c0 to %k step %c128 iter_args(%s = %zero) -> tensor<128x256xf32> : i32 {
    %x = tile.view_load %a[%m, %i] : !tile.view<2xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
    %y = tile.view_load %b[%i, %n] : !tile.view<2xf8E4M3FN> -> tensor<128x256xf8E4M3FN>
    %t = tile.dot %x, %y, %s fast : tensor<128x128xf8E4M3FN>, tensor<128x256xf8E4M3FN>, tensor<128x256xf32>
    scf.yield %t : tensor<128x256xf32>
  } {tile.stages = 4 : i32}
  %r = tile.convert %acc : tensor<128x256xf32> -> tensor<128x256xbf16>
  tile.view_store %r, %c[%m, %n] : tensor<128x256xbf16>, !tile.view<2xbf16>
  return
}
