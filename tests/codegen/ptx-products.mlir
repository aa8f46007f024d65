// f32 products: rounded to tf32 for the tensor core, or exactly by fused multiply-add.
// RUN: %to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry tf32(
// CHECK: cvt.rna.tf32.f32
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-NOT: fma
// CHECK: ret;
func.func @tf32(%a: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %c: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %x = tile.view_load %a[%c0, %c0] : !tile.view<2xf32> -> tensor<32x32xf32>
  %t = tile.dot %x, %x, %zero precision tf32 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
  tile.view_store %t, %c[%c0, %c0] : tensor<32x32xf32>, !tile.view<2xf32>
  return
}

// Three products, each of which rounds its operands: the small parts are not exact in tf32.
// CHECK-LABEL: .entry tf32x3(
// CHECK: and.b32 {{.*}}, -8192;
// CHECK-COUNT-24: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-NOT: mma.sync
// CHECK: ret;
func.func @tf32x3(%a: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %c: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %x = tile.view_load %a[%c0, %c0] : !tile.view<2xf32> -> tensor<32x32xf32>
  %t = tile.dot %x, %x, %zero precision tf32x3 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
  tile.view_store %t, %c[%c0, %c0] : tensor<32x32xf32>, !tile.view<2xf32>
  return
}

// 16x32x16 = 8192 multiplications over 32 threads.
// CHECK-LABEL: .entry fma(
// CHECK-COUNT-256: fma.rn.f32
// CHECK-NOT: fma
// CHECK-NOT: mma
// CHECK: ret;
func.func @fma(%a: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}, %b: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>},
               %c: !tile.view<2xf32> {tile.unit_stride = array<i32: 1>}) attributes {tile.kernel, tile.warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %x = tile.view_load %a[%c0, %c0] : !tile.view<2xf32> -> tensor<16x16xf32>
  %y = tile.view_load %b[%c0, %c0] : !tile.view<2xf32> -> tensor<16x32xf32>
  %t = tile.dot %x, %y, %zero : tensor<16x16xf32>, tensor<16x32xf32>, tensor<16x32xf32>
  tile.view_store %t, %c[%c0, %c0] : tensor<16x32xf32>, !tile.view<2xf32>
  return
}

// Shapes the tensor core does not have; f16 is summed in f32 and rounded once.
// CHECK-LABEL: .entry small_half(
// CHECK: cvt.f32.f16
// CHECK: fma.rn.f32
// CHECK-NOT: mma
// CHECK: cvt.rn.f16{{.*}}.f32
// CHECK: ret;
func.func @small_half(%a: !tile.view<2xf16>, %c: !tile.view<2xf16>) attributes {tile.kernel, tile.warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<8x8xf16>
  %x = tile.view_load %a[%c0, %c0] : !tile.view<2xf16> -> tensor<8x8xf16>
  %t = tile.dot %x, %x, %zero : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf16>
  tile.view_store %t, %c[%c0, %c0] : tensor<8x8xf16>, !tile.view<2xf16>
  return
}
