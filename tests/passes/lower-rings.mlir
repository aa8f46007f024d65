// RUN: tile-opt %s -tile-lower-rings | FileCheck %s

#l = #tilegpu.layout<register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = []>
#s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
!one = !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
!three = !tilegpu.ring<3 x !tilegpu.smem<4x8xf16, #s>, !tilegpu.smem<4x8xf16, #s>>

// A ring of one slot that is filled by puts alone is its memory.
// CHECK-LABEL: func.func @one_slot
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf16
// CHECK: %[[M:.*]] = tilegpu.smem_alloc : <4x8xf16, #shared>
// CHECK: scf.for
// CHECK-NEXT: tilegpu.smem_store %[[X]], %[[M]]
// CHECK-NEXT: tilegpu.smem_load %[[M]]
// CHECK-NOT: ring
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @one_slot(%x: tensor<4x8xf16, #l>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !one
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.ring_acquire %r[%c0] : !one
    tilegpu.ring_put %x, %r[%c0] part 0 : tensor<4x8xf16, #l>, !one
    tilegpu.ring_commit %r[%c0] : !one
    %m = tilegpu.ring_get %r[%c0] : !one
    %y = tilegpu.smem_load %m : !tilegpu.smem<4x8xf16, #s> -> tensor<4x8xf16, #l>
    tilegpu.ring_release %r[%c0] : !one
  }
  return
}

// Copies that run two fills ahead: distances of slots are carried round the loop, and one group may be on its way at each get. The
// fill of iteration i lies where that of i - 1 was read.
// CHECK-LABEL: func.func @two_ahead
// CHECK-DAG: %[[B:.*]] = tilegpu.smem_alloc slots 3
// CHECK-DAG: %[[A:.*]] = tilegpu.smem_alloc slots 3
// CHECK: tilegpu.smem_slot %{{.*}} at %c0
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.async_commit
// CHECK: tilegpu.smem_slot %{{.*}} at %c
// CHECK: tilegpu.async_commit
// CHECK: scf.for {{.*}} iter_args(%[[SLOT:.*]] = %c0{{.*}}, %[[BEFORE:.*]] = %c256_i32
// CHECK: tilegpu.async_wait 1
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.smem_slot %{{.*}} at %[[SLOT]]
// CHECK: tilegpu.smem_slot %{{.*}} at %[[BEFORE]]
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.smem_store
// CHECK: tilegpu.async_commit
// CHECK: %[[IS_LAST:.*]] = arith.cmpi eq, %[[SLOT]], %c256_i32
// CHECK: %[[BEHIND:.*]] = arith.addi %[[SLOT]], %c128_i32
// CHECK: %[[NEXT:.*]] = arith.select %[[IS_LAST]], %c0{{.*}}, %[[BEHIND]]
// CHECK: scf.yield %[[NEXT]], %[[SLOT]]
func.func @two_ahead(%v: !tile.view<2xf16>, %x: tensor<4x8xf16, #l>, %n: i32, %p: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r = tilegpu.ring_alloc : !three
  tilegpu.ring_acquire %r[%c0] : !three
  tilegpu.ring_copy %v[%c0, %c0], %r[%c0] part 0 shape [4, 8] if %p
    {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [none, none]>} : !tile.view<2xf16>, !three
  tilegpu.ring_put %x, %r[%c0] part 1 : tensor<4x8xf16, #l>, !three
  tilegpu.ring_commit %r[%c0] : !three
  tilegpu.ring_acquire %r[%c1] : !three
  tilegpu.ring_put %x, %r[%c1] part 1 : tensor<4x8xf16, #l>, !three
  tilegpu.ring_commit %r[%c1] : !three
  scf.for %i = %c0 to %n step %c1 : i32 {
    %m:2 = tilegpu.ring_get %r[%i] : !three
    %j = arith.addi %i, %c2 : i32
    tilegpu.ring_acquire %r[%j] : !three
    tilegpu.ring_copy %v[%j, %c0], %r[%j] part 0 shape [4, 8] if %p
      {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [none, none]>} : !tile.view<2xf16>, !three
    tilegpu.ring_put %x, %r[%j] part 1 : tensor<4x8xf16, #l>, !three
    tilegpu.ring_commit %r[%j] : !three
    %y = tilegpu.smem_load %m#0 : !tilegpu.smem<4x8xf16, #s> -> tensor<4x8xf16, #l>
    tilegpu.ring_release %r[%i] : !three
  }
  return
}

// Plain shared memory is left alone.
// CHECK-LABEL: func.func @no_ring
// CHECK-NEXT: tilegpu.smem_alloc {offset = 128 : i32}
// CHECK-NEXT: return
func.func @no_ring() {
  %m = tilegpu.smem_alloc {offset = 128 : i32} : !tilegpu.smem<4x8xf16, #s>
  return
}
