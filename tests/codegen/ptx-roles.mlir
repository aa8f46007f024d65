// A warp of its own fills the rings of keys and of values: it and three idle warps hand their registers to the two groups that
// compute. In the fills' arm one thread waits for a stage's release, says how many bytes come and asks for them, of keys an iteration
// further ahead; in the other no copy is issued, and no barrier of all threads stands in the loop. All meet once behind the making of
// both rings' barriers.
// RUN: %hopper_to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %hopper_ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM-NOT: C75
// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// ASM: Used 168 registers

// CHECK-LABEL: .entry chain(
// CHECK: .reqntid 384
// CHECK: setmaxnreg.dec.sync.aligned.u32 24;
// CHECK-NOT: bar.sync 0
// CHECK: bar.sync 15, 288;
// CHECK-NOT: bar.sync
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [{{.*}}], 8192;
// CHECK-COUNT-5: cp.async.bulk.tensor.2d
// CHECK-NOT: cp.async.bulk.tensor.2d
// CHECK: mbarrier.try_wait
// CHECK: mbarrier.arrive.expect_tx
// CHECK-COUNT-1: cp.async.bulk.tensor.2d
// CHECK: mbarrier.try_wait
// CHECK: mbarrier.arrive.expect_tx
// CHECK-COUNT-1: cp.async.bulk.tensor.2d
// CHECK-NOT: cp.async.bulk.tensor.2d
// CHECK: setmaxnreg.inc.sync.aligned.u32 240;
// CHECK-NOT: cp.async.bulk
// CHECK: mbarrier.init.shared::cta.b64 [{{.*}}], 1;
// CHECK: mbarrier.init.shared::cta.b64 [{{.*}}], 8;
// CHECK: mbarrier.init.shared::cta.b64 [{{.*}}], 1;
// CHECK: mbarrier.init.shared::cta.b64 [{{.*}}], 8;
// CHECK: bar.sync 15, 288;
// CHECK-NOT: cp.async.bulk
// CHECK-NOT: bar.sync 15
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: @one mbarrier.arrive.shared::cta.b64 _,
// CHECK: @own bar.arrive {{.*}}, 256;
// CHECK-NOT: bar.sync 0
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: @one mbarrier.arrive.shared::cta.b64 _,
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: @one mbarrier.arrive.shared::cta.b64 _,
// CHECK-NOT: cp.async.bulk
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
  } {tile.stages = 3 : i32, tile.overlap_dots, tile.warp_specialize}
  tile.view_store %acc, %o[%m, %c0] : tensor<128x64xf32>, !tile.view<2xf32>
  return
}
