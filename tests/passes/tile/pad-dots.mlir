// RUN: tile-opt %s -tile-pad-dots | FileCheck %s

// M and N are extended and cut again, K is extended.
// CHECK-LABEL: func.func @small
// CHECK: %[[A:.*]] = tile.resize %{{.*}} : tensor<5x20xf16> -> tensor<16x24xf16>
// CHECK: %[[B:.*]] = tile.resize %{{.*}} : tensor<20x3xf16> -> tensor<24x8xf16>
// CHECK: %[[C:.*]] = tile.resize %{{.*}} : tensor<5x3xf32> -> tensor<16x8xf32>
// CHECK: %[[D:.*]] = tile.dot %[[A]], %[[B]], %[[C]]
// CHECK: %[[R:.*]] = tile.resize %[[D]] : tensor<16x8xf32> -> tensor<5x3xf32>
// CHECK: return %[[R]]
func.func @small(%a: tensor<5x20xf16>, %b: tensor<20x3xf16>, %c: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %r = tile.dot %a, %b, %c : tensor<5x20xf16>, tensor<20x3xf16>, tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}

// A loop carries the extended accumulator; zeros are extended as they are made.
// CHECK-LABEL: func.func @carried
// CHECK: scf.for {{.*}} -> (tensor<1x64xf32>, tensor<16x64xf32>)
// CHECK: %[[D:.*]] = tile.dot {{.*}} : tensor<16x32xf16>, tensor<32x64xf16>, tensor<16x64xf32>
// CHECK-NOT: tile.resize
// CHECK: scf.yield %{{.*}}, %[[D]]
// CHECK: tile.resize %{{.*}} : tensor<16x64xf32> -> tensor<1x64xf32>
func.func @carried(%a: tensor<1x32xf16>, %b: tensor<32x64xf16>, %n: i32) -> tensor<1x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<1x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> tensor<1x64xf32> : i32 {
    %t = tile.dot %a, %b, %s : tensor<1x32xf16>, tensor<32x64xf16>, tensor<1x64xf32>
    scf.yield %t : tensor<1x64xf32>
  }
  return %r : tensor<1x64xf32>
}

// Batches are left as they are; products that fit, and those by multiply-add, stay.
// CHECK-LABEL: func.func @others
// CHECK: tile.resize %{{.*}} : tensor<3x4x16xf64> -> tensor<3x8x16xf64>
// CHECK: tile.dot %{{.*}} : tensor<3x8x16xf64>, tensor<3x16x8xf64>, tensor<3x8x8xf64>
// CHECK: tile.resize %{{.*}} : tensor<3x8x8xf64> -> tensor<3x4x8xf64>
// CHECK-NOT: tile.resize
func.func @others(%a: tensor<3x4x16xf64>, %b: tensor<3x16x8xf64>, %c: tensor<3x4x8xf64>, %f: tensor<48x48xf16>,
                  %i: tensor<5x5xf32>) -> tensor<3x4x8xf64> {
  %r = tile.dot %a, %b, %c : tensor<3x4x16xf64>, tensor<3x16x8xf64>, tensor<3x4x8xf64>
  %s = tile.dot %f, %f, %f : tensor<48x48xf16>, tensor<48x48xf16>, tensor<48x48xf16>
  %t = tile.dot %i, %i, %i : tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>
  return %r : tensor<3x4x8xf64>
}

// Nine by nine instructions are no part of anybody: extended, four warps have 25 each. Three by three stay: they are few.
// CHECK-LABEL: func.func @odd
// CHECK: tile.dot %{{.*}} : tensor<160x16xf16>, tensor<16x80xf16>, tensor<160x80xf32>
// CHECK: tile.resize %{{.*}} : tensor<160x80xf32> -> tensor<144x72xf32>
// CHECK: tile.dot %{{.*}} : tensor<48x16xf16>, tensor<16x24xf16>, tensor<48x24xf32>
func.func @odd(%a: tensor<144x16xf16>, %b: tensor<16x72xf16>, %c: tensor<144x72xf32>, %d: tensor<48x16xf16>,
               %e: tensor<16x24xf16>, %f: tensor<48x24xf32>) -> (tensor<144x72xf32>, tensor<48x24xf32>)
    attributes {tile.warps = 4 : i32} {
  %r = tile.dot %a, %b, %c : tensor<144x16xf16>, tensor<16x72xf16>, tensor<144x72xf32>
  %s = tile.dot %d, %e, %f : tensor<48x16xf16>, tensor<16x24xf16>, tensor<48x24xf32>
  return %r, %s : tensor<144x72xf32>, tensor<48x24xf32>
}

// By multiply-add sixteen threads would share a result of 36x36, the others compute the same.
// CHECK-LABEL: func.func @odd_by_threads
// CHECK: tile.dot %{{.*}} : tensor<40x16xf32>, tensor<16x48xf32>, tensor<40x48xf32>
func.func @odd_by_threads(%a: tensor<36x16xf32>, %b: tensor<16x36xf32>, %c: tensor<36x36xf32>) -> tensor<36x36xf32>
    attributes {tile.warps = 4 : i32} {
  %r = tile.dot %a, %b, %c precision ieee : tensor<36x16xf32>, tensor<16x36xf32>, tensor<36x36xf32>
  return %r : tensor<36x36xf32>
}
