// RUN: tile-opt %s -tile-pipeline=target=sm_90a | FileCheck %s

// A comes from the variable of the loop, in registers, which the next iteration's value takes: no dot stays in flight across the
// back edge, since ptxas would serialize all of them. The loop's ring is released by the iteration that read it.
// CHECK-LABEL: func.func @carried
// CHECK: scf.for {{.*}} -> (tensor<64x64xf16, #{{.+}}>, tensor<64x64xf32, #{{.+}}>
// CHECK: tilegpu.dot_wait {{.*}} pending 0
// CHECK: scf.yield
func.func @carried(%q: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>,
                   tile.stride_bytes_divisible = array<i64: 16, 2>},
                   %v: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>,
                   tile.stride_bytes_divisible = array<i64: 16, 2>},
                   %o: !tile.view<2xf32>)
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf16>
  %n = tile.dim %v, 0 : !tile.view<2xf16> -> i32
  %x = tile.view_load %q[%c0, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
  %w = tile.view_load %v[%c0, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
  %s = tile.dot %x, %w, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %a = tile.convert %s : tensor<64x64xf32> -> tensor<64x64xf16>
  %r:2 = scf.for %k = %c0 to %n step %c64 iter_args(%f = %a, %sums = %zero) -> (tensor<64x64xf16>, tensor<64x64xf32>) : i32 {
    %y = tile.view_load %v[%k, %c0] : !tile.view<2xf16> -> tensor<64x64xf16>
    %t = tile.dot %f, %y, %sums : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %g = arith.mulf %f, %half : tensor<64x64xf16>
    scf.yield %g, %t : tensor<64x64xf16>, tensor<64x64xf32>
  } {tile.stages = 3 : i32}
  tile.view_store %r#1, %o[%c0, %c0] : tensor<64x64xf32>, !tile.view<2xf32>
  return
}
