// RUN: tile-opt %s -tile-scalarize-splats | FileCheck %s

// CHECK-LABEL: func.func @arithmetic_on_splats
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: %[[S:.*]] = arith.mulf %[[X]], %[[Y]] fastmath<contract> : f32
// CHECK: %[[T:.*]] = arith.addf %[[S]], %[[TWO]] : f32
// CHECK: %[[L:.*]] = arith.cmpf olt, %[[T]], %[[X]] : f32
// CHECK: tile.splat %[[L]] : i1 -> tensor<64xi1>
func.func @arithmetic_on_splats(%x: f32, %y: f32) -> tensor<64xi1> {
  %two = arith.constant dense<2.0> : tensor<64xf32>
  %a = tile.splat %x : f32 -> tensor<64xf32>
  %b = tile.splat %y : f32 -> tensor<64xf32>
  %s = arith.mulf %a, %b fastmath<contract> : tensor<64xf32>
  %t = arith.addf %s, %two : tensor<64xf32>
  %l = arith.cmpf olt, %t, %a : tensor<64xf32>
  return %l : tensor<64xi1>
}

// CHECK-LABEL: func.func @conversion_of_a_splat
// CHECK: tile.convert %{{.*}} source_unsigned : i8 -> i64
// CHECK: tile.splat %{{.*}} : i64 -> tensor<64xi64>
func.func @conversion_of_a_splat(%x: i8) -> tensor<64xi64> {
  %a = tile.splat %x : i8 -> tensor<64xi8>
  %b = tile.convert %a source_unsigned : tensor<64xi8> -> tensor<64xi64>
  return %b : tensor<64xi64>
}

// CHECK-LABEL: func.func @shapes_of_a_splat
// CHECK-SAME: %[[X:.*]]: f32
// CHECK-NEXT: %[[S:.*]] = tile.splat %[[X]] : f32 -> tensor<32x4xf32>
// CHECK-NEXT: return %[[S]]
func.func @shapes_of_a_splat(%x: f32) -> tensor<32x4xf32> {
  %a = tile.splat %x : f32 -> tensor<4x8xf32>
  %b = tile.permute %a, [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %c = tile.reshape %b : tensor<8x4xf32> -> tensor<32xf32>
  %d = tile.expand_dims %c, 1 : tensor<32xf32> -> tensor<32x1xf32>
  %e = tile.broadcast %d : tensor<32x1xf32> -> tensor<32x4xf32>
  return %e : tensor<32x4xf32>
}

// One operand differs from element to element.
// CHECK-LABEL: func.func @not_all_splats
// CHECK: tile.splat
// CHECK: arith.addf %{{.*}} : tensor<64xf32>
func.func @not_all_splats(%x: f32, %t: tensor<64xf32>) -> tensor<64xf32> {
  %a = tile.splat %x : f32 -> tensor<64xf32>
  %b = arith.addf %a, %t : tensor<64xf32>
  return %b : tensor<64xf32>
}

// A constant whose elements differ is no splat.
// CHECK-LABEL: func.func @constant_with_different_elements
// CHECK: arith.addi %{{.*}} : tensor<2xi32>
func.func @constant_with_different_elements(%x: i32) -> tensor<2xi32> {
  %c = arith.constant dense<[1, 2]> : tensor<2xi32>
  %a = tile.splat %x : i32 -> tensor<2xi32>
  %b = arith.addi %a, %c : tensor<2xi32>
  return %b : tensor<2xi32>
}
