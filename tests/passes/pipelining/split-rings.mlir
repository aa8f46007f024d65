// RUN: tile-opt %s -tile-split-rings -split-input-file | FileCheck %s
// RUN: tile-opt %s -tile-split-rings -tile-pipeline-loops -tile-skew-loops -cse -split-input-file | FileCheck %s --check-prefix=ROTATED

#acc = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#v = #tilegpu.shared<panel = [7, 6], linear = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096], digits = [0, 8192]>
#access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [none, none]>
!memory = !tilegpu.smem<128x128xf16, #v>
!ring = !tilegpu.ring<1 x !memory, !memory>
!rows = tensor<64x128xf16, #acc>
!sums = tensor<64x128xf32, #acc>

// Keys and values come in rings of their own; each is released behind the wait for the product that reads it.
// CHECK-LABEL: func.func @two_products
// CHECK-SAME: %[[N:[^:]*]]: i32, %[[K:[^:]*]]: !tile.view<2xf16>, %[[V:[^:]*]]: !tile.view<2xf16>
// CHECK-DAG: %[[A:.*]] = tilegpu.ring_alloc : <1 x !tilegpu.smem<128x128xf16, #shared>>
// CHECK-DAG: %[[B:.*]] = tilegpu.ring_alloc : <1 x !tilegpu.smem<128x128xf16, #shared>>
// CHECK: scf.for %[[I:.*]] = %c0_i32 to %[[N]]
// CHECK-NEXT: tilegpu.producer_acquire %[[A]][%[[I]]]
// CHECK-NEXT: tilegpu.ring_copy %[[K]]{{.*}}, %[[A]][%[[I]]] operand 0
// CHECK-NEXT: tilegpu.producer_commit %[[A]][%[[I]]]
// CHECK-NEXT: tilegpu.producer_acquire %[[B]][%[[I]]]
// CHECK-NEXT: tilegpu.ring_copy %[[V]]{{.*}}, %[[B]][%[[I]]] operand 0
// CHECK-NEXT: tilegpu.producer_commit %[[B]][%[[I]]]
// CHECK-NEXT: %[[KEYS:.*]] = tilegpu.consumer_wait %[[A]][%[[I]]]
// CHECK-NEXT: %[[VALUES:.*]] = tilegpu.consumer_wait %[[B]][%[[I]]]
// CHECK-NEXT: %[[BEGUN:.*]] = tilegpu.dot_async %{{.*}}, %[[KEYS]]
// CHECK-NEXT: tilegpu.dot_wait %[[BEGUN]]
// CHECK-NEXT: tilegpu.consumer_release %[[A]][%[[I]]]
// CHECK: %[[LATE:.*]] = tilegpu.dot_async %{{.*}}, %[[VALUES]]
// CHECK-NEXT: tilegpu.dot_wait %[[LATE]]
// CHECK-NEXT: tilegpu.consumer_release %[[B]][%[[I]]]

// In two stages of each the keys of iteration i + 2 and the values of i + 1 are on their way in iteration i.
// ROTATED-LABEL: func.func @two_products
// ROTATED-DAG: %[[A:.*]] = tilegpu.ring_alloc : <2 x
// ROTATED-DAG: %[[B:.*]] = tilegpu.ring_alloc : <2 x
// ROTATED: scf.if
// ROTATED: %[[K0:.*]] = tilegpu.consumer_wait %[[KEYS:.*]][%c0_i32]
// ROTATED-NEXT: %[[SECOND:.*]] = arith.addi %c0_i32, %c1_i32
// ROTATED: tilegpu.producer_acquire %[[KEYS]][%[[SECOND]]]
// ROTATED: %[[S0:.*]] = tilegpu.dot_async %{{.*}}, %[[K0]]
// ROTATED-NEXT: tilegpu.dot_wait %[[S0]] pending 0
// ROTATED-NEXT: tilegpu.consumer_release %[[KEYS]][%c0_i32]
// ROTATED: scf.for %[[I:[^ ]*]] = %c0_i32
// ROTATED: %[[NEXT:.*]] = arith.addi %[[I]], %c1_i32
// ROTATED-NEXT: %[[K:.*]] = tilegpu.consumer_wait %[[KEYS]][%[[NEXT]]]
// ROTATED-NEXT: %[[FURTHER:.*]] = arith.addi %[[NEXT]], %c1_i32
// ROTATED: %[[S:.*]] = tilegpu.dot_async %{{.*}}, %[[K]]
// ROTATED-NEXT: %[[V:.*]] = tilegpu.consumer_wait %[[VALUES:.*]][%[[I]]]
// ROTATED-NEXT: %[[O:.*]] = tilegpu.dot_async %{{.*}}, %[[V]]
// ROTATED: tilegpu.producer_acquire %[[KEYS]][%[[FURTHER]]]
// ROTATED: tilegpu.producer_acquire %[[VALUES]][%[[NEXT]]]
// ROTATED: tilegpu.dot_wait %[[S]] pending 1
// ROTATED-NEXT: tilegpu.consumer_release %[[KEYS]][%[[NEXT]]]
// ROTATED: tilegpu.dot_wait %[[O]] pending 0
// ROTATED-NEXT: tilegpu.consumer_release %[[VALUES]][%[[I]]]
// ROTATED: %[[LAST:.*]] = tilegpu.consumer_wait %[[VALUES]]
// ROTATED-NEXT: tilegpu.dot_async %{{.*}}, %[[LAST]]
// ROTATED-NOT: tilegpu.producer_acquire
// ROTATED: tilegpu.consumer_release %[[VALUES]]
func.func @two_products(%n: i32, %keys: !tile.view<2xf16>, %values: !tile.view<2xf16>, %q: !rows) -> !sums {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !sums
  %r = tilegpu.ring_alloc : !ring
  %o = scf.for %i = %c0_i32 to %n step %c1_i32 iter_args(%sums = %zero) -> !sums : i32 {
    tilegpu.producer_acquire %r[%i] : !ring
    tilegpu.ring_copy %keys[%i, %c0_i32], %r[%i] operand 0 shape [128, 128] {tilegpu.access = #access, tilegpu.variant = #tilegpu.load<tma>} : !tile.view<2xf16>, !ring
    tilegpu.ring_copy %values[%i, %c0_i32], %r[%i] operand 1 shape [128, 128] {tilegpu.access = #access, tilegpu.variant = #tilegpu.load<tma>} : !tile.view<2xf16>, !ring
    tilegpu.producer_commit %r[%i] : !ring
    %k, %v = tilegpu.consumer_wait %r[%i] : !ring
    %s = tilegpu.dot_async %q, %k, %zero {tilegpu.a_from_registers, tilegpu.variant = #tilegpu.dot<wgmma>} : !rows, !memory, !sums
    %scores = tilegpu.dot_wait %s pending 0 : !tilegpu.in_flight<!sums> -> !sums
    %weights = arith.truncf %scores : !sums to !rows
    %p = tilegpu.dot_async %weights, %v, %sums {tilegpu.a_from_registers, tilegpu.variant = #tilegpu.dot<wgmma>} : !rows, !memory, !sums
    %next = tilegpu.dot_wait %p pending 0 : !tilegpu.in_flight<!sums> -> !sums
    tilegpu.consumer_release %r[%i] : !ring
    scf.yield %next : !sums
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", skewed = true>}
  return %o : !sums
}

// -----

#acc = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#v = #tilegpu.shared<panel = [7, 6], linear = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096], digits = [0, 8192]>
#access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [none, none]>
!memory = !tilegpu.smem<128x128xf16, #v>
!ring = !tilegpu.ring<1 x !memory>
!rows = tensor<64x128xf16, #acc>
!sums = tensor<64x128xf32, #acc>

// What both products read has one ring, whose fills are got an iteration before they are released: of two stages nothing would
// run ahead, so that the loop is left as it is.
// CHECK-LABEL: func.func @read_by_both
// CHECK: tilegpu.ring_alloc
// CHECK-NOT: tilegpu.ring_alloc
// ROTATED-LABEL: func.func @read_by_both
// ROTATED-NOT: scf.if
func.func @read_by_both(%n: i32, %keys: !tile.view<2xf16>, %q: !rows) -> !sums {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !sums
  %r = tilegpu.ring_alloc : !ring
  %o = scf.for %i = %c0_i32 to %n step %c1_i32 iter_args(%sums = %zero) -> !sums : i32 {
    tilegpu.producer_acquire %r[%i] : !ring
    tilegpu.ring_copy %keys[%i, %c0_i32], %r[%i] operand 0 shape [128, 128] {tilegpu.access = #access, tilegpu.variant = #tilegpu.load<tma>} : !tile.view<2xf16>, !ring
    tilegpu.producer_commit %r[%i] : !ring
    %k = tilegpu.consumer_wait %r[%i] : !ring
    %s = tilegpu.dot_async %q, %k, %zero {tilegpu.a_from_registers, tilegpu.variant = #tilegpu.dot<wgmma>} : !rows, !memory, !sums
    %scores = tilegpu.dot_wait %s pending 0 : !tilegpu.in_flight<!sums> -> !sums
    %weights = arith.truncf %scores : !sums to !rows
    %p = tilegpu.dot_async %weights, %k, %sums {tilegpu.a_from_registers, tilegpu.variant = #tilegpu.dot<wgmma>} : !rows, !memory, !sums
    %next = tilegpu.dot_wait %p pending 0 : !tilegpu.in_flight<!sums> -> !sums
    tilegpu.consumer_release %r[%i] : !ring
    scf.yield %next : !sums
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", skewed = true>}
  return %o : !sums
}

// -----

#acc = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#v = #tilegpu.shared<panel = [7, 6], linear = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096], digits = [0, 8192]>
#access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [none, none]>
!memory = !tilegpu.smem<128x128xf16, #v>
!ring = !tilegpu.ring<1 x !memory, !memory>
!rows = tensor<64x128xf16, #acc>
!sums = tensor<64x128xf32, #acc>

// Where threads copy, and in a loop that is not rotated, one ring takes one barrier.
// ROTATED-LABEL: func.func @by_threads
// CHECK-LABEL: func.func @by_threads
// CHECK: tilegpu.ring_alloc
// CHECK-NOT: tilegpu.ring_alloc
func.func @by_threads(%n: i32, %keys: !tile.view<2xf16>, %q: !rows) -> !sums {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !sums
  %r = tilegpu.ring_alloc : !ring
  %o = scf.for %i = %c0_i32 to %n step %c1_i32 iter_args(%sums = %zero) -> !sums : i32 {
    tilegpu.producer_acquire %r[%i] : !ring
    tilegpu.ring_copy %keys[%i, %c0_i32], %r[%i] operand 0 shape [128, 128] {tilegpu.access = #access, tilegpu.variant = #tilegpu.load<tma>} : !tile.view<2xf16>, !ring
    tilegpu.ring_copy %keys[%c0_i32, %i], %r[%i] operand 1 shape [128, 128] {tilegpu.access = #access, tilegpu.variant = #tilegpu.load<cp_async>} : !tile.view<2xf16>, !ring
    tilegpu.producer_commit %r[%i] : !ring
    %k, %v = tilegpu.consumer_wait %r[%i] : !ring
    %s = tilegpu.dot_async %q, %k, %zero {tilegpu.a_from_registers, tilegpu.variant = #tilegpu.dot<wgmma>} : !rows, !memory, !sums
    %scores = tilegpu.dot_wait %s pending 0 : !tilegpu.in_flight<!sums> -> !sums
    %weights = arith.truncf %scores : !sums to !rows
    %p = tilegpu.dot_async %weights, %v, %sums {tilegpu.a_from_registers, tilegpu.variant = #tilegpu.dot<wgmma>} : !rows, !memory, !sums
    %next = tilegpu.dot_wait %p pending 0 : !tilegpu.in_flight<!sums> -> !sums
    tilegpu.consumer_release %r[%i] : !ring
    scf.yield %next : !sums
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 3, stages = 3, reason = "as asked", skewed = true>}
  return %o : !sums
}
