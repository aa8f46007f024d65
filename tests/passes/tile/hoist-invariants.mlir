// RUN: tile-opt %s -tile-hoist-invariants | FileCheck %s

// CHECK-LABEL: func.func @hoists
// CHECK: arith.mulf
// CHECK: scf.for
// CHECK-NOT: arith.mulf
// CHECK: return
func.func @hoists(%p: !tile.ptr<f32>, %x: f32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %y = arith.mulf %x, %x : f32
    tile.store %y, %p : f32, !tile.ptr<f32>
  }
  return
}

// CHECK-LABEL: func.func @stays
// CHECK: scf.for
// CHECK: arith.mulf
// CHECK: tile.no_licm
// CHECK: return
func.func @stays(%p: !tile.ptr<f32>, %x: f32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %y = arith.mulf %x, %x : f32
    tile.store %y, %p : f32, !tile.ptr<f32>
  } {tile.no_licm}
  return
}

// Loads stay where they are: a store of the loop may be to the same place.
// CHECK-LABEL: func.func @load_stays
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.store
func.func @load_stays(%p: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tile.load %p : !tile.ptr<f32> -> f32
    %y = arith.mulf %x, %x : f32
    tile.store %y, %p : f32, !tile.ptr<f32>
  }
  return
}
