// Scans are read back as they were printed.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @scans
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf32>, %[[I:.*]]: tensor<8x16xi64>
func.func @scans(%x: tensor<8x16xf32>, %i: tensor<8x16xi64>) {
  // CHECK: tile.scan %[[X]] axis 1 : tensor<8x16xf32> -> tensor<8x16xf32> {
  %s = tile.scan %x axis 1 : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    tile.yield %sum : f32
  }
  // CHECK: tile.scan %[[X]], %[[I]] axis 0 reverse : tensor<8x16xf32>, tensor<8x16xi64> -> tensor<8x16xf32>, tensor<8x16xi64> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[K:.*]]: i64, %{{.*}}: f32, %{{.*}}: i64):
  // CHECK-NEXT: tile.yield %[[A]], %[[K]] : f32, i64
  %p:2 = tile.scan %x, %i axis 0 reverse : tensor<8x16xf32>, tensor<8x16xi64> -> tensor<8x16xf32>, tensor<8x16xi64> {
  ^bb0(%a: f32, %k: i64, %b: f32, %l: i64):
    tile.yield %a, %k : f32, i64
  }
  return
}
