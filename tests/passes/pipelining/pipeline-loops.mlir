// RUN: tile-opt %s -tile-pipeline-loops -cse | FileCheck %s

#l = #tilegpu.layout<register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = []>
#s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
#access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [none, none]>
!ring = !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>

// Two fills before the loop, each if there is such an iteration; in it the fill comes behind the get.
// CHECK-LABEL: func.func @copies
// CHECK-SAME: %[[N:[^:]*]]: i32
// CHECK: %[[R:.*]] = tilegpu.ring_alloc : <3 x
// CHECK: %[[P0:.*]] = arith.cmpi slt, %c0_i32, %[[N]]
// CHECK: tilegpu.producer_acquire %[[R]][%c0_i32]
// CHECK: tilegpu.ring_copy %{{.*}}[%c0_i32, %c0_i32], %[[R]][%c0_i32] operand 0 shape [4, 8] if %[[P0]]
// CHECK: tilegpu.producer_commit %[[R]][%c0_i32]
// CHECK: %[[N1:.*]] = arith.subi %[[N]], %c1_i32
// CHECK: %[[P1:.*]] = arith.cmpi slt, %c0_i32, %[[N1]]
// CHECK: tilegpu.ring_copy %{{.*}}[%c1_i32, %c0_i32], %[[R]][%c1_i32] operand 0 shape [4, 8] if %[[P1]]
// CHECK: tilegpu.producer_commit %[[R]][%c1_i32]
// CHECK: scf.for %[[I:.*]] = %c0_i32 to %[[N]]
// CHECK: tilegpu.consumer_wait %[[R]][%[[I]]]
// CHECK: %[[J:.*]] = arith.addi %[[I]], %c2_i32
// CHECK: %[[N2:.*]] = arith.subi %[[N]], %c2_i32
// CHECK: %[[P2:.*]] = arith.cmpi slt, %[[I]], %[[N2]]
// CHECK: tilegpu.producer_acquire %[[R]][%[[J]]]
// CHECK: tilegpu.ring_copy %{{.*}}[%[[J]], %c0_i32], %[[R]][%[[J]]] operand 0 shape [4, 8] if %[[P2]]
// CHECK: tilegpu.consumer_release %[[R]][%[[I]]]
// CHECK: tilegpu.producer_commit %[[R]][%[[J]]]
func.func @copies(%n: i32, %v: !tile.view<2xf16>) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !ring
  scf.for %i = %c0_i32 to %n step %c1_i32 : i32 {
    tilegpu.producer_acquire %r[%i] : !ring
    tilegpu.ring_copy %v[%i, %c0_i32], %r[%i] operand 0 shape [4, 8] {tilegpu.access = #access} : !tile.view<2xf16>, !ring
    tilegpu.producer_commit %r[%i] : !ring
    %m = tilegpu.consumer_wait %r[%i] : !ring
    %x = tilegpu.smem_load %m : !tilegpu.smem<4x8xf16, #s> -> tensor<4x8xf16, #l>
    tilegpu.consumer_release %r[%i] : !ring
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 3, stages = 3, reason = "as asked">}
  return
}

// A variable that the place depends on runs ahead in one of its own.
// CHECK-LABEL: func.func @carried_place
// CHECK: %[[O1:.*]] = arith.addi %[[O0:.*]], %[[D:.*]] : i32
// CHECK: scf.for {{.*}} iter_args(%[[OWN:.*]] = %[[O0]], %[[AHEAD:.*]] = %[[O1]])
// CHECK: tilegpu.ring_copy %{{.*}}[%[[AHEAD]], %{{.*}}]
// CHECK: %[[NEXT:.*]] = arith.addi %[[OWN]], %[[D]]
// CHECK: %[[NEXTAHEAD:.*]] = arith.addi %[[AHEAD]], %[[D]]
// CHECK: scf.yield %[[NEXT]], %[[NEXTAHEAD]]
func.func @carried_place(%n: i32, %v: !tile.view<2xf16>, %o: i32, %d: i32) -> i32 {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !ring
  %e = scf.for %i = %c0_i32 to %n step %c1_i32 iter_args(%at = %o) -> i32 : i32 {
    tilegpu.producer_acquire %r[%i] : !ring
    tilegpu.ring_copy %v[%at, %c0_i32], %r[%i] operand 0 shape [4, 8] {tilegpu.access = #access} : !tile.view<2xf16>, !ring
    tilegpu.producer_commit %r[%i] : !ring
    %m = tilegpu.consumer_wait %r[%i] : !ring
    tilegpu.consumer_release %r[%i] : !ring
    %next = arith.addi %at, %d : i32
    scf.yield %next : i32
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked">}
  return %e : i32
}

// An index that is read from memory is read where an iteration follows alone.
// CHECK-LABEL: func.func @place_in_memory
// CHECK: scf.for
// CHECK: tilegpu.consumer_wait
// CHECK: tilegpu.producer_acquire
// CHECK: scf.if
// CHECK: %[[O:.*]] = tile.load
// CHECK: tilegpu.ring_copy %{{.*}}[%[[O]], %{{.*}}]
// CHECK: tilegpu.producer_commit
func.func @place_in_memory(%n: i32, %v: !tile.view<2xf16>, %table: !tile.ptr<i32>) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !ring
  scf.for %i = %c0_i32 to %n step %c1_i32 : i32 {
    %p = tile.addptr %table, %i : !tile.ptr<i32>, i32
    %o = tile.load %p : !tile.ptr<i32> -> i32
    tilegpu.producer_acquire %r[%i] : !ring
    tilegpu.ring_copy %v[%o, %c0_i32], %r[%i] operand 0 shape [4, 8] {tilegpu.access = #access} : !tile.view<2xf16>, !ring
    tilegpu.producer_commit %r[%i] : !ring
    %m = tilegpu.consumer_wait %r[%i] : !ring
    tilegpu.consumer_release %r[%i] : !ring
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked">}
  return
}

// A tile that ends in registers is loaded behind the get and put at the end.
// CHECK-LABEL: func.func @through_registers
// CHECK: scf.for
// CHECK: tilegpu.consumer_wait
// CHECK: %[[X:.*]] = scf.if
// CHECK: tile.view_load
// CHECK: } else {
// CHECK: tilegpu.consumer_release
// CHECK: tilegpu.ring_put %[[X]]
// CHECK: tilegpu.producer_commit
func.func @through_registers(%n: i32, %v: !tile.view<2xf16>) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !ring
  scf.for %i = %c0_i32 to %n step %c1_i32 : i32 {
    tilegpu.producer_acquire %r[%i] : !ring
    %t = tile.view_load %v[%i, %c0_i32] : !tile.view<2xf16> -> tensor<4x8xf16, #l>
    tilegpu.ring_put %t, %r[%i] operand 0 : tensor<4x8xf16, #l>, !ring
    tilegpu.producer_commit %r[%i] : !ring
    %m = tilegpu.consumer_wait %r[%i] : !ring
    %x = tilegpu.smem_load %m : !tilegpu.smem<4x8xf16, #s> -> tensor<4x8xf16, #l>
    tilegpu.consumer_release %r[%i] : !ring
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked">}
  return
}
