// RUN: tile-opt %s -tile-widen-indices | FileCheck %s

// From 0 on, the next index of a loop that steps beyond the end is a number without sign.
// CHECK-LABEL: func.func @up_to_an_extent
// CHECK-NOT: arith.maxsi
// CHECK: scf.for unsigned %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} : i32
func.func @up_to_an_extent(%v: !tile.view<1xf32>, %p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1024 = arith.constant 1024 : i32
  %n = tile.dim %v, 0 : <1xf32> -> i32
  scf.for %i = %c0 to %n step %c1024 : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
  }
  return
}

// A bound that may be negative would be a large number without sign.
// CHECK-LABEL: func.func @up_to_an_argument
// CHECK: %[[UPPER:.*]] = arith.maxsi
// CHECK: scf.for unsigned %{{.*}} = %{{.*}} to %[[UPPER]]
func.func @up_to_an_argument(%n: i32, %p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  scf.for %i = %c0 to %n step %c4 : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
  }
  return
}

// Programs share indices by a step of their number.
// CHECK-LABEL: func.func @shared_among_programs
// CHECK: scf.for unsigned
func.func @shared_among_programs(%v: !tile.view<1xf32>, %p: !tile.ptr<i32>) {
  %first = tile.program_id 0 : i32
  %step = tile.num_programs 0 : i32
  %n = tile.dim %v, 0 : <1xf32> -> i32
  scf.for %i = %first to %n step %step : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
  }
  return
}

// No next index is beyond the end: by steps of 1, from tile to tile of an extent, up to a constant.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: unsigned
// CHECK-NOT: i64
// CHECK: return
func.func @stays(%v: !tile.view<1xf32>, %lo: i32, %hi: i32, %p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c64 = arith.constant 64 : i32
  %c1000 = arith.constant 1000 : i32
  scf.for %i = %lo to %hi step %c1 : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
  }
  %n = tile.dim %v, 0 : <1xf32> -> i32
  %tiles = arith.divui %n, %c64 : i32
  scf.for %i = %c0 to %tiles step %c3 : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
  }
  scf.for %i = %lo to %c1000 step %c3 : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
  }
  return
}

// CHECK-LABEL: func.func @counts_in_i64
// CHECK-SAME: %[[LO:.*]]: i32, %[[HI:.*]]: i32, %[[STEP:.*]]: i32
// CHECK-DAG: %[[LOWER:.*]] = arith.extsi %[[LO]] : i32 to i64
// CHECK-DAG: %[[UPPER:.*]] = arith.extsi %[[HI]] : i32 to i64
// CHECK-DAG: %[[WIDE:.*]] = arith.extsi %[[STEP]] : i32 to i64
// CHECK: scf.for %[[I:.*]] = %[[LOWER]] to %[[UPPER]] step %[[WIDE]] iter_args(%[[SUM:.*]] = %{{.*}}) -> (i32) : i64
// CHECK: %[[INDEX:.*]] = arith.trunci %[[I]] : i64 to i32
// CHECK: arith.addi %[[SUM]], %[[INDEX]] : i32
// CHECK: } {tile.stages = 2 : i32}
func.func @counts_in_i64(%lo: i32, %hi: i32, %step: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %sum = scf.for %i = %lo to %hi step %step iter_args(%before = %c0) -> (i32) : i32 {
    %after = arith.addi %before, %i : i32
    scf.yield %after : i32
  } {tile.stages = 2 : i32}
  return %sum : i32
}

// There is no wider type for i64: iterations are counted.
// CHECK-LABEL: func.func @counts_iterations
// CHECK: %[[UPPER:.*]] = arith.maxsi
// CHECK: %[[LENGTH:.*]] = arith.subi %[[UPPER]]
// CHECK: %[[ANY:.*]] = arith.minui %[[LENGTH]]
// CHECK: %[[REST:.*]] = arith.subi %[[LENGTH]], %[[ANY]]
// CHECK: %[[QUOTIENT:.*]] = arith.divui %[[REST]]
// CHECK: %[[COUNT:.*]] = arith.addi %[[QUOTIENT]], %[[ANY]]
// CHECK: scf.for unsigned %[[I:.*]] = %{{.*}} to %[[COUNT]]
// CHECK: %[[WAY:.*]] = arith.muli %[[I]]
// CHECK: arith.addi %{{.*}}, %[[WAY]] : i64
func.func @counts_iterations(%lo: i64, %hi: i64, %step: i64, %p: !tile.ptr<i64>) {
  scf.for %i = %lo to %hi step %step : i64 {
    tile.store %i, %p : i64, !tile.ptr<i64>
  }
  return
}

// A loop that becomes one with another counts in the other's type; what is counted must be a number of it.
// CHECK-LABEL: func.func @nests_alike
// CHECK: scf.for %{{.*}} : i64
// CHECK: scf.for %{{.*}} : i64
func.func @nests_alike(%n: i32, %lo: i32, %p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  scf.for %i = %c0 to %c5 step %c1 : i32 {
    scf.for %j = %lo to %n step %c1 : i32 {
      tile.store %i, %p : i32, !tile.ptr<i32>
    }
  } {tile.flatten}
  return
}

// `index` is as wide as an address.
// CHECK-LABEL: func.func @index
// CHECK: scf.for %{{.*}} = %c0 to %c9 step %c1
func.func @index(%x: i32, %p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    tile.store %x, %p : i32, !tile.ptr<i32>
  }
  return
}
