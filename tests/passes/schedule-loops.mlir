// RUN: tile-opt %s -tile-schedule-loops | FileCheck %s
// RUN: tile-opt %s -tile-schedule-loops=most-stages=2 | FileCheck %s --check-prefix=TWO

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
    tilegpu.ring_acquire %r[%i] : !ring
    tilegpu.ring_commit %r[%i] : !ring
    %m = tilegpu.ring_get %r[%i] : !ring
    tilegpu.ring_release %r[%i] : !ring
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.ring_acquire %r[%i] : !ring
    tilegpu.ring_commit %r[%i] : !ring
    %m = tilegpu.ring_get %r[%i] : !ring
    tilegpu.ring_release %r[%i] : !ring
  } {tile.stages = 5 : i32}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.ring_acquire %r[%i] : !ring
    tilegpu.ring_commit %r[%i] : !ring
    %m = tilegpu.ring_get %r[%i] : !ring
    tilegpu.ring_release %r[%i] : !ring
  } {tile.stages = 1 : i32}
  scf.for %i = %c0 to %c2 step %c1 : i32 {
    tilegpu.ring_acquire %r[%i] : !ring
    tilegpu.ring_commit %r[%i] : !ring
    %m = tilegpu.ring_get %r[%i] : !ring
    tilegpu.ring_release %r[%i] : !ring
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
    tilegpu.ring_acquire %r[%c0] : !ring
    tilegpu.ring_commit %r[%c0] : !ring
    %m = tilegpu.ring_get %r[%c0] : !ring
    tilegpu.ring_release %r[%c0] : !ring
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
    tilegpu.ring_acquire %r[%c0] : !ring
    tilegpu.ring_put %x, %r[%c0] part 0 : tensor<32xf32, #l>, !ring
    tilegpu.ring_commit %r[%c0] : !ring
    %m = tilegpu.ring_get %r[%c0] : !ring
    tilegpu.ring_release %r[%c0] : !ring
    tile.view_store %x, %v[%i] : tensor<32xf32, #l>, !tile.view<1xf32>
  } {tile.stages = 3 : i32}
  return
}
