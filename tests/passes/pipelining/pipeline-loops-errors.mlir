// RUN: tile-opt %s -tile-pipeline-loops -split-input-file -verify-diagnostics
//
// Schedules that cannot be carried out.

func.func @no_ring(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-error @+1 {{is scheduled in 3 stages, but its iterations fill no ring}}
  scf.for %i = %c0 to %n step %c1 : i32 {
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 3, stages = 3, reason = "as asked">}
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
func.func @no_commit(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !ring
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-error @+1 {{needs a commit and a get of its fill in the same body}}
    tilegpu.producer_acquire %r[%i] : !ring
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 3, stages = 3, reason = "as asked">}
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
func.func @puts_what_is_computed(%n: i32, %x: tensor<32xf32, #l>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !ring
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.producer_acquire %r[%i] : !ring
    // expected-error @+1 {{cannot run ahead: it puts what no load of the body delivers}}
    tilegpu.ring_put %x, %r[%i] operand 0 : tensor<32xf32, #l>, !ring
    tilegpu.producer_commit %r[%i] : !ring
    %m = tilegpu.consumer_wait %r[%i] : !ring
    tilegpu.consumer_release %r[%i] : !ring
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 3, stages = 3, reason = "as asked">}
  return
}

// -----

#s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
#access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>
!ring = !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
func.func @no_dot_to_keep(%n: i32, %v: !tile.view<2xf16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !ring
  // expected-error @+1 {{is planned with 1 dots in flight, but 0 can be}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.producer_acquire %r[%i] : !ring
    tilegpu.ring_copy %v[%i, %c0], %r[%i] operand 0 shape [4, 8] {tilegpu.access = #access} : !tile.view<2xf16>, !ring
    tilegpu.producer_commit %r[%i] : !ring
    %m = tilegpu.consumer_wait %r[%i] : !ring
    tilegpu.consumer_release %r[%i] : !ring
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", dots_in_flight = 1>}
  return
}

// -----

#s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
#access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>
!ring = !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
func.func @too_many_stages(%n: i32, %v: !tile.view<2xf16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !ring
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-error @+1 {{a ring has 1 to 64 stages, got 65}}
    tilegpu.producer_acquire %r[%i] : !ring
    tilegpu.ring_copy %v[%i, %c0], %r[%i] operand 0 shape [4, 8] {tilegpu.access = #access} : !tile.view<2xf16>, !ring
    tilegpu.producer_commit %r[%i] : !ring
    %m = tilegpu.consumer_wait %r[%i] : !ring
    tilegpu.consumer_release %r[%i] : !ring
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 65, reason = "as asked">}
  return
}
