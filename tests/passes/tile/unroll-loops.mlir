// RUN: tile-opt %s -tile-unroll-loops | FileCheck %s

// CHECK-LABEL: func.func @by_four
// CHECK-NOT: tile.unroll
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[STEP:.*]] :
// CHECK-COUNT-4: tile.store
// CHECK-NOT: tile.store
// CHECK: return
func.func @by_four(%p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %c16 step %c1 : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
  } {tile.unroll = 4 : i32}
  return
}

// Iterations that are left over run in a second loop.
// CHECK-LABEL: func.func @with_a_rest
// CHECK: scf.for
// CHECK-COUNT-2: tile.store
// CHECK: scf.for
// CHECK: tile.store
// CHECK-NOT: tile.unroll
func.func @with_a_rest(%p: !tile.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
  } {tile.unroll = 2 : i32}
  return
}

// CHECK-LABEL: func.func @carries_values
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}})
// CHECK: %[[Y:.*]] = arith.addf %[[X]], %[[X]]
// CHECK: %[[Z:.*]] = arith.addf %[[Y]], %[[Y]]
// CHECK: scf.yield %[[Z]]
func.func @carries_values(%x: tensor<32xf32>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x) -> tensor<32xf32> : i32 {
    %b = arith.addf %a, %a : tensor<32xf32>
    scf.yield %b : tensor<32xf32>
  } {tile.unroll = 2 : i32}
  return %r : tensor<32xf32>
}

// CHECK-LABEL: func.func @nested
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-2: tile.store
// CHECK: scf.for
// CHECK-COUNT-2: tile.store
// CHECK-NOT: tile.store
// CHECK: return
func.func @nested(%p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %c8 step %c1 : i32 {
    scf.for %j = %c0 to %c8 step %c1 : i32 {
      tile.store %j, %p : i32, !tile.ptr<i32>
    } {tile.unroll = 2 : i32}
  } {tile.unroll = 2 : i32}
  return
}

// Nothing is asked for, or nothing that unrolls.
// CHECK-LABEL: func.func @not_asked_for
// CHECK: scf.for
// CHECK-COUNT-1: tile.store
// CHECK: scf.for
// CHECK-COUNT-1: tile.store
// CHECK-NOT: tile.store
// CHECK: return
func.func @not_asked_for(%p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %c8 step %c1 : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
  }
  scf.for %i = %c0 to %c8 step %c1 : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
  } {tile.unroll = 1 : i32}
  return
}

// The number of iterations is a quotient without sign: bounds must be in order, where steps are more than 1.
// CHECK-LABEL: func.func @bounds_in_any_order
// CHECK: arith.maxsi
func.func @bounds_in_any_order(%lo: i32, %hi: i32, %p: !tile.ptr<i32>) {
  %c3 = arith.constant 3 : i32
  scf.for %i = %lo to %hi step %c3 : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
  } {tile.unroll = 2 : i32}
  return
}

// What is left over has fewer iterations than a skew takes.
// CHECK-LABEL: func.func @skewed
// CHECK: scf.for
// CHECK: } {tile.overlap_dots}
// CHECK: scf.for
// CHECK-NOT: tile.overlap_dots
// CHECK: return
func.func @skewed(%n: i32, %p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
  } {tile.overlap_dots, tile.unroll = 2 : i32}
  return
}
