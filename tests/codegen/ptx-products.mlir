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

// A loop over K whose body multiplies 4 steps: 16x32x4 = 2048 multiplications over 32 threads.
// CHECK-LABEL: .entry fma(
// CHECK: ld.shared.v4.b32
// CHECK-COUNT-64: fma.rn.f32
// CHECK-NOT: fma
// CHECK-NOT: mma
// CHECK: bra
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

// Sizes the tensor core does not have are extended.
// CHECK-LABEL: .entry small_half(
// CHECK: mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16
// CHECK: ret;
func.func @small_half(%a: !tile.view<2xf16>, %c: !tile.view<2xf16>) attributes {tile.kernel, tile.warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<8x8xf16>
  %x = tile.view_load %a[%c0, %c0] : !tile.view<2xf16> -> tensor<8x8xf16>
  %t = tile.dot %x, %x, %zero : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf16>
  tile.view_store %t, %c[%c0, %c0] : tensor<8x8xf16>, !tile.view<2xf16>
  return
}

// CHECK-LABEL: .entry doubles(
// CHECK-COUNT-16: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
// CHECK-NOT: mma
// CHECK: ret;
func.func @doubles(%a: !tile.view<2xf64> {tile.unit_stride = array<i32: 1>}, %c: !tile.view<2xf64> {tile.unit_stride = array<i32: 1>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf64>
  %x = tile.view_load %a[%c0, %c0] : !tile.view<2xf64> -> tensor<16x64xf64>
  %y = tile.view_load %a[%c0, %c0] : !tile.view<2xf64> -> tensor<64x16xf64>
  %t = tile.dot %x, %y, %zero : tensor<16x64xf64>, tensor<64x16xf64>, tensor<16x16xf64>
  tile.view_store %t, %c[%c0, %c0] : tensor<16x16xf64>, !tile.view<2xf64>
  return
}

// A batch of two over four warps; K of 48 has the shallower instruction alone. A is read by ldmatrix.
// CHECK-LABEL: .entry bytes(
// CHECK: ldmatrix
// CHECK-COUNT-12: mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32
// CHECK-NOT: mma
// CHECK: ret;
func.func @bytes(%a: !tile.view<3xi8> {tile.unit_stride = array<i32: 2>}, %c: !tile.view<3xi32> {tile.unit_stride = array<i32: 2>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0> : tensor<2x32x32xi32>
  %x = tile.view_load %a[%c0, %c0, %c0] : !tile.view<3xi8> -> tensor<2x32x48xi8>
  %y = tile.view_load %a[%c0, %c0, %c0] : !tile.view<3xi8> -> tensor<2x48x32xi8>
  %t = tile.dot %x, %y, %zero unsigned : tensor<2x32x48xi8>, tensor<2x48x32xi8>, tensor<2x32x32xi32>
  tile.view_store %t, %c[%c0, %c0, %c0] : tensor<2x32x32xi32>, !tile.view<3xi32>
  return
}

// Sums of f16 are two registers of pairs for each instruction.
// CHECK-LABEL: .entry halves(
// CHECK-COUNT-4: mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r{{[0-9]+}}, %r{{[0-9]+}}}, {
// CHECK-NOT: mma
// CHECK: ret;
func.func @halves(%a: !tile.view<2xf16> {tile.unit_stride = array<i32: 1>}, %c: !tile.view<2xf16> {tile.unit_stride = array<i32: 1>})
    attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf16>
  %x = tile.view_load %a[%c0, %c0] : !tile.view<2xf16> -> tensor<32x32xf16>
  %t = tile.dot %x, %x, %zero : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf16>
  tile.view_store %t, %c[%c0, %c0] : tensor<32x32xf16>, !tile.view<2xf16>
  return
}
