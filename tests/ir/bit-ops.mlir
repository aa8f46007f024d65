// Operations on bits are read back as they were printed, on tiles and on scalars of every width.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @bits
func.func @bits(%x: tensor<16xi8>, %y: i16, %z: tensor<4x8xi64>) {
  // CHECK: tile.reverse_bits %{{.*}} : tensor<16xi8>
  %a = tile.reverse_bits %x : tensor<16xi8>
  // CHECK: tile.reverse_bits %{{.*}} : i16
  %b = tile.reverse_bits %y : i16
  // CHECK: tile.reverse_bits %{{.*}} : tensor<4x8xi64>
  %c = tile.reverse_bits %z : tensor<4x8xi64>
  return
}
