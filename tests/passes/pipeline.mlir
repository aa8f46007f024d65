// The whole way from tiles to threads on three kernels: what each must contain, and in which order.
// RUN: tile-opt %s -tile-pipeline | FileCheck %s

// Vectors of four, no shared memory, no barrier.
// CHECK-LABEL: func.func @vector_add
// CHECK-SAME: tilegpu.shared_bytes = 0 : i32
// CHECK: tile.view_load {{.*}}vector = 4, {{.*}}#tilegpu.load<vector>
// CHECK: tile.view_load {{.*}}vector = 4, {{.*}}#tilegpu.load<vector>
// CHECK-NOT: barrier
// CHECK-NOT: convert_layout
// CHECK: arith.addf
// CHECK: tile.view_store {{.*}}vector = 4, {{.*}}#tilegpu.store<vector>
func.func @vector_add(%x: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 1024>},
                      %y: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 1024>},
                      %z: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 1024>})
    attributes {tile.kernel, tile.warps = 4 : i32, tile.grid = affine_map<()[s0] -> (s0 ceildiv 1024)>,
                tile.grid_symbols = [array<i32: 0, 0>]} {
  %c1024 = arith.constant 1024 : i32
  %pid = tile.program_id 0 : i32
  %at = arith.muli %pid, %c1024 : i32
  %a = tile.view_load %x[%at] : !tile.view<1xf32> -> tensor<1024xf32>
  %b = tile.view_load %y[%at] : !tile.view<1xf32> -> tensor<1024xf32>
  %s = arith.addf %a, %b : tensor<1024xf32>
  tile.view_store %s, %z[%at] : tensor<1024xf32>, !tile.view<1xf32>
  return
}

// A row in four warps: both reductions cross them, each with its own exchange.
// CHECK-LABEL: func.func @softmax
// CHECK: tile.view_load
// CHECK: tilegpu.reduce_partial
// CHECK: arith.maximumf
// CHECK: tilegpu.smem_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.smem_load
// CHECK: tile.reduce
// CHECK: math.exp
// CHECK: tilegpu.reduce_partial
// CHECK: arith.addf
// CHECK: tilegpu.smem_store
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: tilegpu.smem_load
// CHECK: tile.reduce
// CHECK: arith.divf
// CHECK: tile.view_store
func.func @softmax(%x: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>},
                   %y: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %row = tile.program_id 0 : i32
  %a = tile.view_load %x[%row, %c0] : !tile.view<2xf32> -> tensor<1x1024xf32>
  %m = tile.reduce %a axis 1 : tensor<1x1024xf32> -> tensor<1xf32> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.maximumf %p, %q : f32
    tile.yield %s : f32
  }
  %me = tile.expand_dims %m, 1 : tensor<1xf32> -> tensor<1x1xf32>
  %mb = tile.broadcast %me : tensor<1x1xf32> -> tensor<1x1024xf32>
  %d = arith.subf %a, %mb : tensor<1x1024xf32>
  %e = math.exp %d : tensor<1x1024xf32>
  %t = tile.reduce %e axis 1 : tensor<1x1024xf32> -> tensor<1xf32> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    tile.yield %s : f32
  }
  %te = tile.expand_dims %t, 1 : tensor<1xf32> -> tensor<1x1xf32>
  %tb = tile.broadcast %te : tensor<1x1xf32> -> tensor<1x1024xf32>
  %r = arith.divf %e, %tb : tensor<1x1024xf32>
  tile.view_store %r, %y[%row, %c0] : tensor<1x1024xf32>, !tile.view<2xf32>
  return
}

// Two copies run ahead of the loop, whose one barrier lets what has been copied in and what has been read out.
// CHECK-LABEL: func.func @matmul
// CHECK-SAME: tilegpu.shared_bytes = 24576 : i32
// CHECK-COUNT-4: tilegpu.copy_async
// CHECK: scf.for
// CHECK-NEXT: tilegpu.async_wait 1
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.copy_async {{.*}} if %
// CHECK: tilegpu.copy_async {{.*}} if %
// CHECK-NOT: tilegpu.barrier
// CHECK: tilegpu.smem_load
// CHECK-NEXT: tilegpu.smem_load
// CHECK-NEXT: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<mma_sync>
// CHECK-NEXT: tilegpu.async_commit
// CHECK: scf.yield
// CHECK: tilegpu.loop_plan = #tilegpu.loop_plan<asked = 0, stages = 3, reason = "by default">
// CHECK: tile.convert
// CHECK: tilegpu.barrier
// CHECK: tilegpu.smem_store
// CHECK: tilegpu.barrier
// CHECK: tilegpu.smem_load
// CHECK: tile.view_store {{.*}}vector = 8, {{.*}}#tilegpu.store<vector>
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
