// RUN: tile-opt %s -tile-combine-tile-ops | FileCheck %s

// CHECK-LABEL: func.func @add_into_dot
// CHECK-SAME: %[[A:.*]]: tensor<16x16xf16>, %[[C:.*]]: tensor<16x16xf32>
// CHECK: %[[D:.*]] = tile.dot %[[A]], %[[A]], %[[C]]
// CHECK-NEXT: %[[E:.*]] = tile.dot %[[A]], %[[A]], %[[D]]
// CHECK-NEXT: return %[[E]]
func.func @add_into_dot(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %p = tile.dot %a, %a, %zero : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  %s = arith.addf %p, %c : tensor<16x16xf32>
  %q = tile.dot %a, %a, %zero : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  %t = arith.addf %s, %q : tensor<16x16xf32>
  return %t : tensor<16x16xf32>
}

// CHECK-LABEL: func.func @keeps_precision
// CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision tf32 :
// CHECK-NOT: arith.addf
func.func @keeps_precision(%a: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %p = tile.dot %a, %a, %zero precision tf32 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  %s = arith.addf %c, %p : tensor<16x16xf32>
  return %s : tensor<16x16xf32>
}

// The product has another user: it is needed on its own.
// CHECK-LABEL: func.func @product_used_twice
// CHECK: tile.dot
// CHECK: arith.addf
func.func @product_used_twice(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %p = tile.dot %a, %a, %zero : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  %s = arith.addf %p, %c : tensor<16x16xf32>
  return %p, %s : tensor<16x16xf32>, tensor<16x16xf32>
}

// The product has an accumulator already.
// CHECK-LABEL: func.func @accumulator_not_zero
// CHECK: arith.addf
func.func @accumulator_not_zero(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %one = arith.constant dense<1.0> : tensor<16x16xf32>
  %p = tile.dot %a, %a, %one : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  %s = arith.addf %p, %c : tensor<16x16xf32>
  return %s : tensor<16x16xf32>
}

// A product computed once before a loop does not become one an iteration.
// CHECK-LABEL: func.func @product_outside_the_loop
// CHECK: tile.dot
// CHECK: scf.for
// CHECK-NOT: tile.dot
// CHECK: arith.addf
func.func @product_outside_the_loop(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>, %n: i32) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %p = tile.dot %a, %a, %zero : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c) -> tensor<16x16xf32> : i32 {
    %t = arith.addf %s, %p : tensor<16x16xf32>
    scf.yield %t : tensor<16x16xf32>
  }
  return %r : tensor<16x16xf32>
}

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
