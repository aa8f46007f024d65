// RUN: tile-opt %s -tile-schedule-loops | FileCheck %s
// RUN: tile-opt %s -tile-schedule-loops=most-stages=2 | FileCheck %s --check-prefix=TWO
// RUN: tile-opt %s -tile-schedule-loops=target=sm_80 | FileCheck %s --check-prefix=FITS

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>

// CHECK-LABEL: func.func @rings
// CHECK: asked = 0, stages = 3, reason = "by default"
// CHECK: asked = 5, stages = 5, reason = "as asked"
// CHECK: asked = 1, stages = 1, reason = "as asked"
// CHECK: asked = 5, stages = 2, reason = "it has no more iterations"
// TWO-LABEL: func.func @rings
// TWO: asked = 0, stages = 2, reason = "more do not fit in shared memory"
// TWO: asked = 5, stages = 2, reason = "more do not fit in shared memory"
// TWO: asked = 1, stages = 1, reason = "as asked"
// TWO: asked = 5, stages = 2, reason = "more do not fit in shared memory"
func.func @rings(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r = tilegpu.ring_alloc : !ring
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.producer_acquire %r[%i] : !ring
    tilegpu.producer_commit %r[%i] : !ring
    %m = tilegpu.consumer_wait %r[%i] : !ring
    tilegpu.consumer_release %r[%i] : !ring
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.producer_acquire %r[%i] : !ring
    tilegpu.producer_commit %r[%i] : !ring
    %m = tilegpu.consumer_wait %r[%i] : !ring
    tilegpu.consumer_release %r[%i] : !ring
  } {tile.stages = 5 : i32}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.producer_acquire %r[%i] : !ring
    tilegpu.producer_commit %r[%i] : !ring
    %m = tilegpu.consumer_wait %r[%i] : !ring
    tilegpu.consumer_release %r[%i] : !ring
  } {tile.stages = 1 : i32}
  scf.for %i = %c0 to %c2 step %c1 : i32 {
    tilegpu.producer_acquire %r[%i] : !ring
    tilegpu.producer_commit %r[%i] : !ring
    %m = tilegpu.consumer_wait %r[%i] : !ring
    tilegpu.consumer_release %r[%i] : !ring
  } {tile.stages = 5 : i32}
  return
}

// A ring that is filled by hand in each iteration is not the loop's.
// CHECK-LABEL: func.func @not_the_loops
// CHECK: asked = 3, stages = 1, reason = "no product of its body depends on what it loads"
func.func @not_the_loops(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !ring
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.producer_acquire %r[%c0] : !ring
    tilegpu.producer_commit %r[%c0] : !ring
    %m = tilegpu.consumer_wait %r[%c0] : !ring
    tilegpu.consumer_release %r[%c0] : !ring
  } {tile.stages = 3 : i32}
  return
}

// A load that had to stay has been staged for its product by the time that the loop is told why.
#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
// CHECK-LABEL: func.func @load_that_stays
// CHECK: asked = 3, stages = 1, reason = "of its load, the loop stores to what may be the same memory"
func.func @load_that_stays(%p: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.make_view %p, extents [%n], strides [%c1] : i32 -> !tile.view<1xf32>
  %r = tilegpu.ring_alloc : !ring
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tile.view_load %v[%i] : !tile.view<1xf32> -> tensor<32xf32, #l>
    tilegpu.producer_acquire %r[%c0] : !ring
    tilegpu.ring_put %x, %r[%c0] operand 0 : tensor<32xf32, #l>, !ring
    tilegpu.producer_commit %r[%c0] : !ring
    %m = tilegpu.consumer_wait %r[%c0] : !ring
    tilegpu.consumer_release %r[%c0] : !ring
    tile.view_store %x, %v[%i] : tensor<32xf32, #l>, !tile.view<1xf32>
  } {tile.stages = 3 : i32}
  return
}

// LoopSkew takes a product that depends on loads alone before one that does not, and three stages.
#a = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tilegpu.layout<register = [[1, 0], [8, 0], [0, 8]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#c = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#s2 = #tilegpu.shared<panel = [4, 4], linear = [1, 2, 4, 8, 16, 32, 64, 128], digits = [256, 256]>
!memory = !tilegpu.smem<16x16xf16, #s2>
!pairs = !tilegpu.ring<1 x !memory, !memory>
!left = tensor<16x16xf16, #a>
!right = tensor<16x16xf16, #b>
!sums = tensor<16x16xf32, #c>

// CHECK-LABEL: func.func @rotation
// CHECK: asked = 0, stages = 3, reason = "by default", skewed = true>
// CHECK: asked = 2, stages = 2, reason = "as asked", why_not_skewed = "it has 2 of the 3 stages that takes">
// CHECK: asked = 0, stages = 3, reason = "by default", why_not_skewed = "no product of its body that depends on loads alone comes before one that does not">
// CHECK: asked = 0, stages = 1, reason = "as asked", why_not_skewed = "no product of its body that depends on loads alone comes before one that does not">
// CHECK: asked = 0, stages = 3, reason = "by default">
func.func @rotation(%n: i32, %q: !left) -> (!sums, !sums, !sums) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !sums
  %r = tilegpu.ring_alloc : !pairs
  %o = scf.for %i = %c0 to %n step %c1 iter_args(%sums = %zero) -> !sums : i32 {
    tilegpu.producer_acquire %r[%i] : !pairs
    tilegpu.producer_commit %r[%i] : !pairs
    %k, %m = tilegpu.consumer_wait %r[%i] : !pairs
    %keys = tilegpu.smem_load %k : !memory -> !right
    %scores = tile.dot %q, %keys, %zero : !left, !right, !sums
    %narrow = arith.truncf %scores : !sums to tensor<16x16xf16, #c>
    %weights = tilegpu.convert_layout %narrow : tensor<16x16xf16, #c> -> !left
    %values = tilegpu.smem_load %m : !memory -> !right
    %next = tile.dot %weights, %values, %sums : !left, !right, !sums
    tilegpu.consumer_release %r[%i] : !pairs
    scf.yield %next : !sums
  } {tile.overlap_dots}
  %o2 = scf.for %i = %c0 to %n step %c1 iter_args(%sums = %zero) -> !sums : i32 {
    tilegpu.producer_acquire %r[%i] : !pairs
    tilegpu.producer_commit %r[%i] : !pairs
    %k, %m = tilegpu.consumer_wait %r[%i] : !pairs
    %keys = tilegpu.smem_load %k : !memory -> !right
    %scores = tile.dot %q, %keys, %zero : !left, !right, !sums
    %narrow = arith.truncf %scores : !sums to tensor<16x16xf16, #c>
    %weights = tilegpu.convert_layout %narrow : tensor<16x16xf16, #c> -> !left
    %values = tilegpu.smem_load %m : !memory -> !right
    %next = tile.dot %weights, %values, %sums : !left, !right, !sums
    tilegpu.consumer_release %r[%i] : !pairs
    scf.yield %next : !sums
  } {tile.overlap_dots, tile.stages = 2 : i32}
  %o3 = scf.for %i = %c0 to %n step %c1 iter_args(%sums = %zero) -> !sums : i32 {
    tilegpu.producer_acquire %r[%i] : !pairs
    tilegpu.producer_commit %r[%i] : !pairs
    %k, %m = tilegpu.consumer_wait %r[%i] : !pairs
    %values = tilegpu.smem_load %m : !memory -> !right
    %next = tile.dot %q, %values, %sums : !left, !right, !sums
    tilegpu.consumer_release %r[%i] : !pairs
    scf.yield %next : !sums
  } {tile.overlap_dots}
  scf.for %i = %c0 to %n step %c1 : i32 {
  } {tile.overlap_dots}
  %o4 = scf.for %i = %c0 to %n step %c1 iter_args(%sums = %zero) -> !sums : i32 {
    tilegpu.producer_acquire %r[%i] : !pairs
    tilegpu.producer_commit %r[%i] : !pairs
    %k, %m = tilegpu.consumer_wait %r[%i] : !pairs
    %keys = tilegpu.smem_load %k : !memory -> !right
    %scores = tile.dot %q, %keys, %zero : !left, !right, !sums
    %narrow = arith.truncf %scores : !sums to tensor<16x16xf16, #c>
    %weights = tilegpu.convert_layout %narrow : tensor<16x16xf16, #c> -> !left
    %values = tilegpu.smem_load %m : !memory -> !right
    %next = tile.dot %weights, %values, %sums : !left, !right, !sums
    tilegpu.consumer_release %r[%i] : !pairs
    scf.yield %next : !sums
  }
  return %o, %o2, %o3 : !sums, !sums, !sums
}

// Of what the copy engine brings each part of the body gets a ring of its own: two stages of each are enough.
#access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [none, none]>

// CHECK-LABEL: func.func @rotation_by_engine
// CHECK: asked = 2, stages = 2, reason = "as asked", skewed = true>
func.func @rotation_by_engine(%n: i32, %v: !tile.view<2xf16>, %q: !left) -> !sums {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !sums
  %r = tilegpu.ring_alloc : !pairs
  %o = scf.for %i = %c0 to %n step %c1 iter_args(%sums = %zero) -> !sums : i32 {
    tilegpu.producer_acquire %r[%i] : !pairs
    tilegpu.ring_copy %v[%i, %c0], %r[%i] operand 0 shape [16, 16] {tilegpu.access = #access, tilegpu.variant = #tilegpu.load<tma>} : !tile.view<2xf16>, !pairs
    tilegpu.ring_copy %v[%c0, %i], %r[%i] operand 1 shape [16, 16] {tilegpu.access = #access, tilegpu.variant = #tilegpu.load<tma>} : !tile.view<2xf16>, !pairs
    tilegpu.producer_commit %r[%i] : !pairs
    %k, %m = tilegpu.consumer_wait %r[%i] : !pairs
    %keys = tilegpu.smem_load %k : !memory -> !right
    %scores = tile.dot %q, %keys, %zero : !left, !right, !sums
    %narrow = arith.truncf %scores : !sums to tensor<16x16xf16, #c>
    %weights = tilegpu.convert_layout %narrow : tensor<16x16xf16, #c> -> !left
    %values = tilegpu.smem_load %m : !memory -> !right
    %next = tile.dot %weights, %values, %sums : !left, !right, !sums
    tilegpu.consumer_release %r[%i] : !pairs
    scf.yield %next : !sums
  } {tile.overlap_dots, tile.stages = 2 : i32}
  return %o : !sums
}

// Ten stages of 16 KiB are all that sm_80 has room for: more are not even tried.
// FITS-LABEL: func.func @more_than_fit
// FITS: asked = 60, stages = 10, reason = "more do not fit in shared memory"
#large = #tilegpu.shared<panel = [12], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048], digits = [4096]>
!large = !tilegpu.ring<1 x !tilegpu.smem<4096xf32, #large>>
func.func @more_than_fit(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !large
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.producer_acquire %r[%i] : !large
    tilegpu.producer_commit %r[%i] : !large
    %m = tilegpu.consumer_wait %r[%i] : !large
    tilegpu.consumer_release %r[%i] : !large
  } {tile.stages = 60 : i32}
  return
}
