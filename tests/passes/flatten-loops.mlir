// RUN: tile-opt %s -split-input-file -tile-flatten-loops -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @nest
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}})
// CHECK-NOT: scf.for
// CHECK-NOT: tile.flatten
// CHECK: return %[[R]]
func.func @nest(%m: i32, %n: i32, %x: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %m step %c1 iter_args(%a = %x) -> (i32) : i32 {
    %d = arith.addi %n, %c1 : i32
    %s = scf.for %j = %c0 to %d step %c1 iter_args(%b = %a) -> (i32) : i32 {
      %t = arith.addi %b, %j : i32
      scf.yield %t : i32
    }
    scf.yield %s : i32
  } {tile.flatten}
  return %r : i32
}

// -----

// CHECK-LABEL: func.func @dependent
// CHECK-COUNT-2: scf.for
func.func @dependent(%m: i32, %p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{not flattened: the inner bounds depend on the outer index}}
  scf.for %i = %c0 to %m step %c1 : i32 {
    scf.for %j = %c0 to %i step %c1 : i32 {
      tile.store %j, %p : i32, !tile.ptr<i32>
    }
  } {tile.flatten}
  return
}

// -----

// CHECK-LABEL: func.func @work_beside
// CHECK-COUNT-2: scf.for
func.func @work_beside(%m: i32, %p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{not flattened: the body must be one loop and nothing else}}
  scf.for %i = %c0 to %m step %c1 : i32 {
    scf.for %j = %c0 to %m step %c1 : i32 {
      tile.store %j, %p : i32, !tile.ptr<i32>
    }
    tile.store %i, %p : i32, !tile.ptr<i32>
  } {tile.flatten}
  return
}

// -----

// CHECK-LABEL: func.func @no_nest
// CHECK: scf.for
func.func @no_nest(%m: i32, %p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{not flattened: the body must be one loop and nothing else}}
  scf.for %i = %c0 to %m step %c1 : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
  } {tile.flatten}
  return
}
