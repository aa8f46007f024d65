// RUN: tile-opt %s -tile-lower-rings -split-input-file -verify-diagnostics
//
// The order of operations on rings, verified by every pass that moves them.

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @ring_escapes() -> !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>> {
  %r = tilegpu.ring_alloc : !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
  // expected-error @+1 {{is not an operation on rings that this pass knows}}
  return %r : !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @got_before_it_is_committed(%n: i32, %v: !tile.view<1xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r = tilegpu.ring_alloc : !ring
  tilegpu.producer_acquire %r[%c0] : !ring
  // expected-error @+1 {{is on fill 0, which is acquired}}
  %m = tilegpu.consumer_wait %r[%c0] : !ring
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @named_after_the_release(%n: i32, %v: !tile.view<1xf32>) {
  %c0 = arith.constant 0 : i32
  %r = tilegpu.ring_alloc : !ring
  tilegpu.producer_acquire %r[%c0] : !ring
  tilegpu.producer_commit %r[%c0] : !ring
  %m = tilegpu.consumer_wait %r[%c0] : !ring
  tilegpu.consumer_release %r[%c0] : !ring
  // expected-error @+1 {{is on fill 0, which is released}}
  %t = tilegpu.ring_tiles %r[%c0] : !ring
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @released_twice(%n: i32, %v: !tile.view<1xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r = tilegpu.ring_alloc : !ring
  tilegpu.producer_acquire %r[%c0] : !ring
  tilegpu.producer_commit %r[%c0] : !ring
  %m = tilegpu.consumer_wait %r[%c0] : !ring
  tilegpu.consumer_release %r[%c0] : !ring
  // expected-error @+1 {{is on fill 0, which is released}}
  tilegpu.consumer_release %r[%c0] : !ring
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @one_fill_too_far_ahead(%n: i32, %v: !tile.view<1xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r = tilegpu.ring_alloc : !ring
  tilegpu.producer_acquire %r[%c0] : !ring
  tilegpu.producer_commit %r[%c0] : !ring
  tilegpu.producer_acquire %r[%c1] : !ring
  tilegpu.producer_commit %r[%c1] : !ring
  scf.for %i = %c0 to %n step %c1 : i32 {
    %j = arith.addi %i, %c2 : i32
    %m = tilegpu.consumer_wait %r[%i] : !ring
    // expected-error @+1 {{acquires fill 2, whose stage holds fill 0, only got}}
    tilegpu.producer_acquire %r[%j] : !ring
    tilegpu.producer_commit %r[%j] : !ring
    tilegpu.consumer_release %r[%i] : !ring
  }
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @slot_is_overwritten_before_all_threads_have_read(%n: i32, %v: !tile.view<1xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r = tilegpu.ring_alloc : !ring
  tilegpu.producer_acquire %r[%c0] : !ring
  tilegpu.producer_commit %r[%c0] : !ring
  scf.for %i = %c0 to %n step %c1 : i32 {
    %j = arith.addi %i, %c1 : i32
    // expected-error @+1 {{acquires fill 2 before all threads have synchronized after the release of fill 0}}
    tilegpu.producer_acquire %r[%j] : !ring
    tilegpu.producer_commit %r[%j] : !ring
    %m = tilegpu.consumer_wait %r[%i] : !ring
    tilegpu.consumer_release %r[%i] : !ring
  }
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @number_from_nowhere(%n: i32, %v: !tile.view<1xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r = tilegpu.ring_alloc : !ring
  // expected-error @+1 {{is on a fill whose number cannot be followed}}
  tilegpu.producer_acquire %r[%n] : !ring
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @numbers_leave_one_out(%n: i32, %v: !tile.view<1xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r = tilegpu.ring_alloc : !ring
  // expected-error @+1 {{acquires fill 1 after fill -1}}
  tilegpu.producer_acquire %r[%c1] : !ring
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @loop_ends_with_a_fill_in_hand(%n: i32, %v: !tile.view<1xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  // expected-error @+1 {{is left with fill 0 got}}
  %r = tilegpu.ring_alloc : !ring
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.producer_acquire %r[%i] : !ring
    tilegpu.producer_commit %r[%i] : !ring
    %m = tilegpu.consumer_wait %r[%i] : !ring
  }
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @written_after_the_commit(%n: i32, %v: !tile.view<1xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r = tilegpu.ring_alloc : !ring
  tilegpu.producer_acquire %r[%c0] : !ring
  tilegpu.producer_commit %r[%c0] : !ring
  // expected-error @+1 {{writes fill 0, which is not acquired}}
  tilegpu.ring_copy %v[%c0], %r[%c0] operand 0 shape [32]
    {tilegpu.access = #tilegpu.access<order = [0], vector = 4, bounds = [none]>} : !tile.view<1xf32>, !ring
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @copies_past_the_end(%n: i32, %v: !tile.view<1xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  // expected-error @+1 {{is left with fill 0, which nobody gets}}
  %r = tilegpu.ring_alloc : !ring
  tilegpu.producer_acquire %r[%c0] : !ring
  tilegpu.ring_copy %v[%c0], %r[%c0] operand 0 shape [32]
    {tilegpu.access = #tilegpu.access<order = [0], vector = 4, bounds = [none]>} : !tile.view<1xf32>, !ring
  tilegpu.producer_commit %r[%c0] : !ring
  scf.for %i = %c0 to %n step %c1 : i32 {
    %j = arith.addi %i, %c1 : i32
    %m = tilegpu.consumer_wait %r[%i] : !ring
    tilegpu.producer_acquire %r[%j] : !ring
    tilegpu.producer_commit %r[%j] : !ring
    tilegpu.consumer_release %r[%i] : !ring
  }
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @branch_that_begins_and_does_not_end(%n: i32, %v: !tile.view<1xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  // expected-error @+1 {{is left with fill 0 acquired}}
  %r = tilegpu.ring_alloc : !ring
  %p = arith.cmpi sgt, %n, %c0 : i32
  scf.if %p {
    tilegpu.producer_acquire %r[%c0] : !ring
  }
  return
}

// -----

// The bytes that TMA copies for one fill are counted together.
#s = #tilegpu.shared<panel = [3, 6], linear = [1, 2, 4, 8, 16, 32, 72, 144, 288], digits = [512, 512]>
!ring = !tilegpu.ring<1 x !tilegpu.smem<8x64xf16, #s>, !tilegpu.smem<8x64xf16, #s>>
#tma = #tilegpu.load<tma>
#a = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>
func.func @copies_on_conditions(%p: !tile.ptr<f16>, %n: i32, %q: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.make_view %p, extents [%n, %n], strides [%n, %c1] {tilegpu.view_of = #tilegpu.view_of<arg = 0, dims = [0, 1]>} : i32 -> !tile.view<2xf16>
  %r = tilegpu.ring_alloc : !ring
  tilegpu.producer_acquire %r[%c0] : !ring
  // expected-error @+1 {{must stand beside the other TMA copies of its fill, under the same condition}}
  tilegpu.ring_copy %v[%c0, %c0], %r[%c0] operand 0 shape [8, 64] if %q {tilegpu.access = #a, tilegpu.variant = #tma} : !tile.view<2xf16>, !ring
  tilegpu.ring_copy %v[%c0, %c0], %r[%c0] operand 1 shape [8, 64] {tilegpu.access = #a, tilegpu.variant = #tma} : !tile.view<2xf16>, !ring
  tilegpu.producer_commit %r[%c0] : !ring
  %m:2 = tilegpu.consumer_wait %r[%c0] : !ring
  tilegpu.consumer_release %r[%c0] : !ring
  return
}

// -----

#s = #tilegpu.shared<panel = [3, 6], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256], digits = [512, 512]>
!ring = !tilegpu.ring<1 x !tilegpu.smem<8x64xf16, #s>>
func.func @view_of_no_argument(%p: !tile.ptr<f16>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.make_view %p, extents [%n, %n], strides [%n, %c1] : i32 -> !tile.view<2xf16>
  %r = tilegpu.ring_alloc : !ring
  tilegpu.producer_acquire %r[%c0] : !ring
  // expected-error @+1 {{cannot be done by TMA: its view is no argument of the kernel}}
  tilegpu.ring_copy %v[%c0, %c0], %r[%c0] operand 0 shape [8, 64]
    {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>, tilegpu.variant = #tilegpu.load<tma>} : !tile.view<2xf16>, !ring
  tilegpu.producer_commit %r[%c0] : !ring
  %m = tilegpu.consumer_wait %r[%c0] : !ring
  tilegpu.consumer_release %r[%c0] : !ring
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @ping_pong_without_an_arrival(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !ring
  // expected-error @+1 {{alternates tiles (ping_pong), which takes the pass flatten-loops: its body has no tilegpu.order_arrive with a predicate and a trip count}}
  scf.for %i = %c0 to %n step %c1 : i32 {
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", producer = true, order = ping_pong>}
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @ping_pong_without_a_wait_in_first_steps(%n: i32, %isFirst: i1, %isLast: i1) attributes {tile.kernel, tile.warps = 4 : i32, tile.teams = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !ring
  tilegpu.order_begin
  // expected-error @+1 {{alternates tiles (ping_pong), but no tilegpu.order_wait stands in the first step of a tile}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.if %isFirst {
      tilegpu.order_wait
    }
    tilegpu.order_arrive if %isLast trip_count %n
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", producer = true, order = ping_pong>}
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
func.func @ping_pong_without_stages(%n: i32, %isFirst: i1, %isLast: i1) attributes {tile.kernel, tile.warps = 4 : i32, tile.teams = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !ring
  tilegpu.order_begin
  // expected-error @+1 {{alternates tiles (ping_pong), which takes the pass pipeline-loops: its ring has one stage, which the producer cannot fill for both teams}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.producer_acquire %r[%i] : !ring
    tilegpu.producer_commit %r[%i] : !ring
    scf.if %isFirst {
      tilegpu.order_wait
    } {tilegpu.tile_step = #tilegpu.tile_step<first>}
    %m = tilegpu.consumer_wait %r[%i] : !ring
    tilegpu.consumer_release %r[%i] : !ring
    tilegpu.order_arrive if %isLast trip_count %n
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", producer = true, order = ping_pong>}
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @ping_pong_of_three_teams(%n: i32, %isFirst: i1, %isLast: i1) attributes {tile.kernel, tile.warps = 4 : i32, tile.teams = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !ring
  tilegpu.order_begin
  // expected-error @+1 {{alternates tiles (ping_pong), which two teams do, but the kernel has 3}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.if %isFirst {
      tilegpu.order_wait
    } {tilegpu.tile_step = #tilegpu.tile_step<first>}
    tilegpu.order_arrive if %isLast trip_count %n
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", producer = true, order = ping_pong>}
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
// expected-error @+1 {{has 2 blocks; a kernel's control flow is scf.for, scf.if and scf.while}}
func.func @rings_in_several_blocks() {
  %r = tilegpu.ring_alloc : !ring
  cf.br ^next
^next:
  return
}
