// What verifiers of rings, copies, elected threads and synchronization refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @an_unknown_ring_is_acquired(%r: !ring, %i: i32) {
  // expected-error @+1 {{the ring is that of a tilegpu.ring_alloc}}
  tilegpu.producer_acquire %r[%i] : !ring
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @an_unknown_ring_is_committed(%r: !ring, %i: i32) {
  // expected-error @+1 {{the ring is that of a tilegpu.ring_alloc}}
  tilegpu.producer_commit %r[%i] : !ring
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @an_unknown_ring_is_awaited(%r: !ring, %i: i32) {
  // expected-error @+1 {{the ring is that of a tilegpu.ring_alloc}}
  %m = tilegpu.consumer_wait %r[%i] : !ring
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @an_unknown_ring_is_named(%r: !ring, %i: i32) {
  // expected-error @+1 {{the ring is that of a tilegpu.ring_alloc}}
  %m = tilegpu.ring_tiles %r[%i] : !ring
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @an_unknown_ring_is_released(%r: !ring, %i: i32) {
  // expected-error @+1 {{the ring is that of a tilegpu.ring_alloc}}
  tilegpu.consumer_release %r[%i] : !ring
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @an_unknown_ring_is_put(%r: !ring, %i: i32, %x: tensor<32xf32, #l>) {
  // expected-error @+1 {{the ring is that of a tilegpu.ring_alloc}}
  tilegpu.ring_put %x, %r[%i] operand 0 : tensor<32xf32, #l>, !ring
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @an_unknown_ring_is_copied(%r: !ring, %i: i32, %v: !tile.view<1xf32>) {
  // expected-error @+1 {{the ring is that of a tilegpu.ring_alloc}}
  tilegpu.ring_copy %v[%i], %r[%i] operand 0 shape [32] : !tile.view<1xf32>, !ring
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @a_ring_is_chosen_at_run_time(%c: i1, %i: i32) {
  %a = tilegpu.ring_alloc : !ring
  %b = tilegpu.ring_alloc : !ring
  %r = arith.select %c, %a, %b : !ring
  // expected-error @+1 {{the ring is that of a tilegpu.ring_alloc}}
  tilegpu.producer_acquire %r[%i] : !ring
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @a_ring_is_carried_by_a_loop(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tilegpu.ring_alloc : !ring
  %x = scf.for %i = %c0 to %n step %c1 iter_args(%r = %a) -> (!ring) : i32 {
    // expected-error @+1 {{the ring is that of a tilegpu.ring_alloc}}
    tilegpu.producer_acquire %r[%i] : !ring
    scf.yield %r : !ring
  }
  return
}

// -----

#b = #tilegpu.shared<panel = [1], linear = [1], digits = [2]>
func.func @elect_with_an_argument() {
  %m = tilegpu.smem_alloc : !tilegpu.smem<2xi64, #b>
  // expected-error @+1 {{the body takes no arguments}}
  "tilegpu.elect"() ({
  ^bb0(%x: i32):
    tilegpu.mbarrier_expect 0 at %m[%x] : !tilegpu.smem<2xi64, #b>
  }) : () -> ()
  return
}

// -----

#b = #tilegpu.shared<panel = [1], linear = [1], digits = [2]>
func.func @elect_in_elect() {
  %m = tilegpu.smem_alloc : !tilegpu.smem<2xi64, #b>
  tilegpu.elect {
    // expected-error @+1 {{stands in another tilegpu.elect, whose thread is elected already}}
    tilegpu.elect {
      tilegpu.mbarrier_init %m : !tilegpu.smem<2xi64, #b>
    }
  }
  return
}

// -----

func.func @order_begin_in_elect() {
  tilegpu.elect {
    // expected-error @+1 {{synchronizes threads, but stands in a tilegpu.elect, whose body one thread executes}}
    tilegpu.order_begin
  }
  return
}

// -----

func.func @order_begin_of_a_producer() {
  tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 8, active = 8>, #tilegpu.role<producer, warps = 4, active = 1>] {
    tilegpu.order_begin
  }, {
    // expected-error @+1 {{is for consumers, but stands in the region of a producer}}
    tilegpu.order_begin
  }
  return
}

// -----

func.func @order_wait_in_a_branch_of_elect(%p: i1) {
  tilegpu.elect {
    scf.if %p {
      // expected-error @+1 {{synchronizes threads, but stands in a tilegpu.elect, whose body one thread executes}}
      tilegpu.order_wait
    }
  }
  return
}

// -----

func.func @order_wait_in_elect() {
  tilegpu.elect {
    // expected-error @+1 {{synchronizes threads, but stands in a tilegpu.elect, whose body one thread executes}}
    tilegpu.order_wait
  }
  return
}

// -----

func.func @order_wait_of_a_producer() {
  tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 8, active = 8>, #tilegpu.role<producer, warps = 4, active = 1>] {
    tilegpu.order_wait
  }, {
    // expected-error @+1 {{is for consumers, but stands in the region of a producer}}
    tilegpu.order_wait
  }
  return
}

// -----

func.func @order_arrive_in_elect() {
  tilegpu.elect {
    // expected-error @+1 {{synchronizes threads, but stands in a tilegpu.elect, whose body one thread executes}}
    tilegpu.order_arrive
  }
  return
}

// -----

func.func @order_arrive_of_a_producer() {
  tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 8, active = 8>, #tilegpu.role<producer, warps = 4, active = 1>] {
    tilegpu.order_arrive
  }, {
    // expected-error @+1 {{is for consumers, but stands in the region of a producer}}
    tilegpu.order_arrive
  }
  return
}

// -----

func.func @order_end_in_elect() {
  tilegpu.elect {
    // expected-error @+1 {{synchronizes threads, but stands in a tilegpu.elect, whose body one thread executes}}
    tilegpu.order_end
  }
  return
}

// -----

func.func @order_end_of_a_producer() {
  tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 8, active = 8>, #tilegpu.role<producer, warps = 4, active = 1>] {
    tilegpu.order_end
  }, {
    // expected-error @+1 {{is for consumers, but stands in the region of a producer}}
    tilegpu.order_end
  }
  return
}

// -----

func.func @barrier_in_elect() {
  tilegpu.elect {
    // expected-error @+1 {{synchronizes threads, but stands in a tilegpu.elect, whose body one thread executes}}
    tilegpu.barrier
  }
  return
}

// -----

func.func @barrier_of_a_producer() {
  tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 8, active = 8>, #tilegpu.role<producer, warps = 4, active = 1>] {
    tilegpu.barrier
  }, {
    // expected-error @+1 {{is for consumers, but stands in the region of a producer}}
    tilegpu.barrier
  }
  return
}

// -----

func.func @barrier_of_consumers_in_a_producer(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 8, active = 8>, #tilegpu.role<producer, warps = 4, active = 1>] {
    tilegpu.barrier {scope = #tilegpu.scope<block>}
  }, {
    tilegpu.barrier {scope = #tilegpu.scope<block>}
    scf.for %i = %c0 to %n step %c1 : i32 {
      // expected-error @+1 {{is for consumers, but stands in the region of a producer}}
      tilegpu.barrier {scope = #tilegpu.scope<consumers>}
    }
  }
  return
}

// -----

func.func @barrier_of_cluster_consumers_in_a_producer(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 8, active = 8>, #tilegpu.role<producer, warps = 4, active = 1>] {
    tilegpu.barrier {scope = #tilegpu.scope<block>}
  }, {
    tilegpu.barrier {scope = #tilegpu.scope<block>}
    scf.for %i = %c0 to %n step %c1 : i32 {
      // expected-error @+1 {{is for consumers, but stands in the region of a producer}}
      tilegpu.barrier {scope = #tilegpu.scope<cluster_consumers>}
    }
  }
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
func.func @a_copy_of_a_view_in_no_order(%v: !tile.view<1xf32>, %i: i32) {
  %r = tilegpu.ring_alloc : !ring
  // expected-error @+1 {{needs tilegpu.access, which says the order of the view's dimensions}}
  tilegpu.ring_copy %v[%i], %r[%i] operand 0 shape [32] : !tile.view<1xf32>, !ring
  return
}
