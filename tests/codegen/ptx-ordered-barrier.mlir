// Two products an iteration, of which the second lags behind: groups of warps take turns at beginning both, the first's
// result is taken while the second is under way, and each warp releases the stage for the thread that fills it again. No
// barrier of all threads stands in the loop.
// RUN: %hopper_to_ptx %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=REST < %t
// RUN: %if ptxas %{ %hopper_ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM-NOT: C75
// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry chain(
// CHECK: mbarrier.init.shared::cta.b64 [{{.*}}], 1;
// CHECK: mbarrier.init.shared::cta.b64 [{{.*}}], 8;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: setp.eq.b32 [[ISLAST:%p[0-9]+]], {{%r[0-9]+}}, 1;
// CHECK: selp.b32 [[LAST:%r[0-9]+]], 1, 0, [[ISLAST]];
// CHECK: setp.ne.u32 own, [[LAST]], 0;
// CHECK-NEXT: @own bar.arrive {{.*}}, 256;
// CHECK: [[LOOP:\$L__BB0_[0-9]+]]:
// CHECK: mbarrier.try_wait
// CHECK-NOT: bar.sync 0
// CHECK: bar.sync %r{{[0-9]+}}, 256;
// CHECK: wgmma.fence.sync.aligned;
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, a, b, {{(add|set)}}
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK-NOT: wgmma.wait_group
// CHECK: wgmma.fence.sync.aligned;
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, {w{{.*}}}, b, add
// CHECK: wgmma.commit_group.sync.aligned;
// CHECK: bar.arrive %r{{[0-9]+}}, 256;
// CHECK: mbarrier.try_wait
// CHECK: mbarrier.arrive.expect_tx
// CHECK-COUNT-2: cp.async.bulk.tensor.2d

// The rest of the loop, wherever the compiler has put it.
// REST: wgmma.wait_group.sync.aligned 1;
// REST: wgmma.wait_group.sync.aligned 0;
// REST: elect.sync _|one, 0xffffffff;
// REST-NEXT: @one mbarrier.arrive.shared::cta.b64 _,
// REST: @own bar.sync %r{{[0-9]+}}, 256;
func.func @chain(%q: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 1, 64>},
                 %k: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.stride_bytes_divisible = array<i64: 2, 16>, tile.extent_divisible = array<i64: 64, 64>},
                 %v: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>},
                 %o: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>, tile.extent_divisible = array<i64: 1, 64>})
    attributes {tile.kernel, tile.warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %p = tile.program_id 0 : i32
  %m = arith.muli %p, %c128 : i32
  %n = tile.dim %v, 0 : !tile.view<2xf16> -> i32
  %queries = tile.view_load %q[%m, %c0] : !tile.view<2xf16> -> tensor<128x64xf16>
  %acc = scf.for %j = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<128x64xf32> : i32 {
    %keys = tile.view_load %k[%c0, %j] : !tile.view<2xf16> -> tensor<64x64xf16>
    %scores = tile.dot %queries, %keys, %zero : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
    %sum = tile.reduce %scores axis 1 : tensor<128x64xf32> -> tensor<128xf32> {
    ^bb0(%x: f32, %y: f32):
      %most = arith.maxnumf %x, %y : f32
      tile.yield %most : f32
    }
    %column = tile.expand_dims %sum, 1 : tensor<128xf32> -> tensor<128x1xf32>
    %rows = tile.broadcast %column : tensor<128x1xf32> -> tensor<128x64xf32>
    %low = arith.subf %scores, %rows : tensor<128x64xf32>
    %weights = tile.convert %low : tensor<128x64xf32> -> tensor<128x64xf16>
    %values = tile.view_load %v[%j, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
    %t = tile.dot %weights, %values, %s : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
    scf.yield %t : tensor<128x64xf32>
  } {tile.stages = 3 : i32, tile.overlap_dots}
  tile.view_store %acc, %o[%m, %c0] : tensor<128x64xf32>, !tile.view<2xf32>
  return
}
