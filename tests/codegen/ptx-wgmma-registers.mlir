// Two products in a row on sm_90a: the second takes the first one's result, in 16 bits, as its A from the registers where it
// lies. Nothing of it goes through shared memory.
// RUN: %hopper_to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %hopper_ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM-NOT: C75
// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry chain(
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}}, a, b, {{set|add}}, 1, 1, 0, 0;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-NOT: st.shared
// CHECK: cvt.rn.f16
// CHECK-NOT: st.shared
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}}, {{{w[0-9]+, w[0-9]+, w[0-9]+, w[0-9]+}}}, b, add, 1, 1, 1;
// CHECK: wgmma.wait_group.sync.aligned 0;
func.func @chain(%q: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>},
                 %k: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.extent_divisible = array<i64: 64, 64>},
                 %d: !tile.view<2xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 4>, tile.extent_divisible = array<i64: 64, 64>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %n = tile.dim %k, 0 : !tile.view<2xf16> -> i32
  %t = tile.permute_view %k, [1, 0] : !tile.view<2xf16>
  %x = tile.view_load %q[%c0, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
  %acc = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero) -> tensor<64x64xf32> : i32 {
    %y = tile.view_load %t[%c0, %i] : !tile.view<2xf16> -> tensor<64x64xf16>
    %z = tile.view_load %k[%i, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
    %scores = tile.dot %x, %y, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %p = tile.convert %scores : tensor<64x64xf32> -> tensor<64x64xf16>
    %r = tile.dot %p, %z, %s : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %r : tensor<64x64xf32>
  }
  tile.view_store %acc, %d[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}
