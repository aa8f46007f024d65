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

// What stands beside the inner loop happens where it begins or ends; the indices and what follows from the outer one are
// carried, and what the inner loop carries begins anew. Without an inner iteration the outer loop stays.
// CHECK-LABEL: func.func @work_beside
// CHECK-SAME: %[[M:[^:]*]]: i32, %[[N:[^:]*]]: i32, %[[P:[^:]*]]: !tile.ptr<i32>, %[[D:[^:]*]]: i32
// CHECK: %[[PAIRS:.*]] = arith.muli
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[PAIRS]], %c0
// CHECK: scf.if %[[ANY]] {
// CHECK: %[[P0:.*]] = arith.divsi %c0{{[^,]*}}, %[[D]]
// CHECK: scf.for %[[I:.*]] = %c0{{[^ ]*}} to %[[PAIRS]] step %c1{{[^ ]*}} iter_args(%[[OUTER:.*]] = %c0{{[^,]*}}, %[[PLACE:.*]] = %[[P0]], %[[INNER:.*]] = %c0{{[^,]*}}, %[[SUM:.*]] = %c1
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[INNER]], %c0
// CHECK: %[[BEGUN:.*]] = arith.select %[[FIRST]], %c1{{[^,]*}}, %[[SUM]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[BEGUN]], %[[PLACE]]
// CHECK: %[[LAST:.*]] = arith.cmpi sge, %[[INNER]]
// CHECK: scf.if %[[LAST]] {
// CHECK: tile.store %[[NEXT]]
// CHECK: %[[MOVES:.*]] = arith.andi %[[LAST]]
// CHECK: %[[PLACES:.*]]:2 = scf.if %[[MOVES]]
// CHECK: %[[THEN:.*]] = arith.addi %[[OUTER]]
// CHECK: %[[PTHEN:.*]] = arith.divsi %[[THEN]], %[[D]]
// CHECK: scf.yield %[[THEN]], %[[PTHEN]]
// CHECK: scf.yield %[[OUTER]], %[[PLACE]]
// CHECK: %[[STEP:.*]] = arith.addi %[[INNER]]
// CHECK: %[[AGAIN:.*]] = arith.select %[[LAST]], %c0{{[^,]*}}, %[[STEP]]
// CHECK: scf.yield %[[PLACES]]#0, %[[PLACES]]#1, %[[AGAIN]], %[[NEXT]]
// CHECK: tile.stages = 3
// CHECK: } else {
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: tile.store %c1
func.func @work_beside(%m: i32, %n: i32, %p: !tile.ptr<i32>, %d: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %m step %c1 : i32 {
    %place = arith.divsi %i, %d : i32
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%sum = %c1) -> (i32) : i32 {
      %t = arith.addi %sum, %place : i32
      scf.yield %t : i32
    } {tile.stages = 3 : i32}
    tile.store %s, %p : i32, !tile.ptr<i32>
  } {tile.flatten}
  return
}

// -----

// CHECK-LABEL: func.func @effects_before
// CHECK-COUNT-2: scf.for
func.func @effects_before(%m: i32, %p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{not flattened: what stands before the inner loop has effects}}
  scf.for %i = %c0 to %m step %c1 : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
    scf.for %j = %c0 to %m step %c1 : i32 {
      tile.store %j, %p : i32, !tile.ptr<i32>
    }
  } {tile.flatten}
  return
}

// -----

// CHECK-LABEL: func.func @tile_before
// CHECK-COUNT-2: scf.for
func.func @tile_before(%m: i32, %p: tensor<4x!tile.ptr<i32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{not flattened: a tile that is made before the inner loop is used in it or after it}}
  scf.for %i = %c0 to %m step %c1 : i32 {
    %t = tile.splat %i : i32 -> tensor<4xi32>
    scf.for %j = %c0 to %m step %c1 : i32 {
      tile.store %t, %p : tensor<4xi32>, tensor<4x!tile.ptr<i32>>
    }
  } {tile.flatten}
  return
}

// -----

// CHECK-LABEL: func.func @carries
// CHECK-COUNT-2: scf.for
func.func @carries(%m: i32, %p: !tile.ptr<i32>) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{not flattened: the outer loop carries values past the work beside the inner one}}
  %r = scf.for %i = %c0 to %m step %c1 iter_args(%a = %c0) -> (i32) : i32 {
    scf.for %j = %c0 to %m step %c1 : i32 {
      tile.store %j, %p : i32, !tile.ptr<i32>
    }
    %n = arith.addi %a, %i : i32
    scf.yield %n : i32
  } {tile.flatten}
  return %r : i32
}

// -----

// CHECK-LABEL: func.func @no_nest
// CHECK: scf.for
func.func @no_nest(%m: i32, %p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{not flattened: the body must hold one loop}}
  scf.for %i = %c0 to %m step %c1 : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
  } {tile.flatten}
  return
}

// -----

// An ordered barrier that PingPongLoops has not put around the nest is no concern of this pass.
// CHECK-LABEL: func.func @order_of_others
// CHECK: tilegpu.order_wait
// CHECK: return
func.func @order_of_others(%m: i32, %n: i32, %p: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{not flattened: what stands before the inner loop has effects}}
  scf.for %i = %c0 to %m step %c1 : i32 {
    tilegpu.order_wait
    scf.for %j = %c0 to %n step %c1 : i32 {
      tile.store %j, %p : i32, !tile.ptr<i32>
    }
    tilegpu.order_arrive
  } {tile.flatten}
  return
}

// -----

// CHECK-LABEL: func.func @index
// CHECK: scf.for
// CHECK: scf.for
func.func @index(%x: i32, %p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  // expected-remark @+1 {{not flattened: the loops count in `index`, which has no width}}
  scf.for %i = %c0 to %c9 step %c1 {
    scf.for %j = %c0 to %c9 step %c1 {
      tile.store %x, %p : i32, !tile.ptr<i32>
    }
  } {tile.flatten}
  return
}
