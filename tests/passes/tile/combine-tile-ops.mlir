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
