// RUN: tile-opt %s -tile-lower-rings | FileCheck %s

#l = #tilegpu.layout<register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = []>
#s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
!one = !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
!three = !tilegpu.ring<3 x !tilegpu.smem<4x8xf16, #s>, !tilegpu.smem<4x8xf16, #s>>

// A ring of one stage that is filled by puts alone is its memory.
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
    tilegpu.producer_acquire %r[%c0] : !one
    tilegpu.ring_put %x, %r[%c0] operand 0 : tensor<4x8xf16, #l>, !one
    tilegpu.producer_commit %r[%c0] : !one
    %m = tilegpu.consumer_wait %r[%c0] : !one
    %y = tilegpu.smem_load %m : !tilegpu.smem<4x8xf16, #s> -> tensor<4x8xf16, #l>
    tilegpu.consumer_release %r[%c0] : !one
  }
  return
}

// Copies that run two fills ahead: distances of stages are carried round the loop, and one group may be on its way at each get. The
// fill of iteration i lies where that of i - 1 was read.
// CHECK-LABEL: func.func @two_ahead
// CHECK-DAG: %[[B:.*]] = tilegpu.smem_alloc stages 3
// CHECK-DAG: %[[A:.*]] = tilegpu.smem_alloc stages 3
// CHECK: tilegpu.smem_stage %{{.*}} at %c0
// CHECK: tilegpu.copy_async
// CHECK: tilegpu.async_commit
// CHECK: tilegpu.smem_stage %{{.*}} at %c
// CHECK: tilegpu.async_commit
// CHECK: scf.for {{.*}} iter_args(%[[SLOT:.*]] = %c0{{.*}}, %[[BEFORE:.*]] = %c256_i32
// CHECK: tilegpu.async_wait 1
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.smem_stage %{{.*}} at %[[SLOT]]
// CHECK: tilegpu.smem_stage %{{.*}} at %[[BEFORE]]
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
  tilegpu.producer_acquire %r[%c0] : !three
  tilegpu.ring_copy %v[%c0, %c0], %r[%c0] operand 0 shape [4, 8] if %p
    {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [none, none]>} : !tile.view<2xf16>, !three
  tilegpu.ring_put %x, %r[%c0] operand 1 : tensor<4x8xf16, #l>, !three
  tilegpu.producer_commit %r[%c0] : !three
  tilegpu.producer_acquire %r[%c1] : !three
  tilegpu.ring_put %x, %r[%c1] operand 1 : tensor<4x8xf16, #l>, !three
  tilegpu.producer_commit %r[%c1] : !three
  scf.for %i = %c0 to %n step %c1 : i32 {
    %m:2 = tilegpu.consumer_wait %r[%i] : !three
    %j = arith.addi %i, %c2 : i32
    tilegpu.producer_acquire %r[%j] : !three
    tilegpu.ring_copy %v[%j, %c0], %r[%j] operand 0 shape [4, 8] if %p
      {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [none, none]>} : !tile.view<2xf16>, !three
    tilegpu.ring_put %x, %r[%j] operand 1 : tensor<4x8xf16, #l>, !three
    tilegpu.producer_commit %r[%j] : !three
    %y = tilegpu.smem_load %m#0 : !tilegpu.smem<4x8xf16, #s> -> tensor<4x8xf16, #l>
    tilegpu.consumer_release %r[%i] : !three
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

#t = #tilegpu.shared<panel = [3, 6], linear = [1, 2, 4, 8, 16, 32, 72, 144, 288], digits = [512, 512]>
#u = #tilegpu.layout<register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[0, 16], [0, 32], [1, 0], [2, 0], [4, 0]], warp = []>
!engine = !tilegpu.ring<2 x !tilegpu.smem<8x64xf16, #t>>

// What the copy engine brings is waited for at the stage's barrier; how far that is from the first is carried, of which how far the
// stage is is a multiple, and the parity of its phase. The threads meet where
// the stage that they have read is acquired again, for which one of them asks. Round the outer loop the barriers are made anew.
// CHECK-LABEL: func.func @by_engine
// CHECK-DAG: %[[SLOTS:.*]] = tilegpu.smem_alloc stages 2 {alignment = 1024 : i32}
// CHECK-DAG: %[[BARRIERS:.*]] = tilegpu.smem_alloc : <2xi64
// CHECK: scf.for
// CHECK: tilegpu.elect {
// CHECK-NEXT: tilegpu.mbarrier_init %[[BARRIERS]]
// CHECK: tilegpu.proxy_fence
// CHECK-NEXT: tilegpu.barrier
// CHECK: tilegpu.elect if %{{.*}} {
// CHECK-NEXT: tilegpu.mbarrier_expect 1024 at %[[BARRIERS]][%c0
// CHECK-NEXT: tilegpu.tensor_copy
// CHECK: scf.for {{.*}} iter_args(%{{[^ ]*}} = %c-1{{[^,]*}}, %[[BARRIER:[^ ]*]] = %c0{{[^,]*}}, %[[LAST:[^ ]*]] = %c8{{[^,]*}}, %[[PARITY:[^ ]*]] = %c0
// CHECK: tilegpu.mbarrier_wait %[[BARRIERS]][%[[BARRIER]]] parity %[[PARITY]]
// CHECK: %[[SLOT:[^ ]*]] = arith.muli %[[BARRIER]], %c128
// CHECK-NEXT: tilegpu.smem_stage %[[SLOTS]] at %[[SLOT]]
// CHECK-NOT: tilegpu.barrier
// CHECK: tilegpu.smem_load
// CHECK: tilegpu.barrier {reason = "what all threads have read may be overwritten"}
// CHECK: %[[REFILLED:[^ ]*]] = arith.muli %[[LAST]], %c128
// CHECK-NEXT: tilegpu.smem_stage %[[SLOTS]] at %[[REFILLED]]
// CHECK: tilegpu.elect if
// CHECK-NEXT: tilegpu.mbarrier_expect 1024 at %[[BARRIERS]][%[[LAST]]]
// CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[BARRIER]], %c8
// CHECK: %[[FLIP:.*]] = arith.extui %[[WRAPS]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.xori %[[PARITY]], %[[FLIP]]
// CHECK-NEXT: scf.yield {{.*}}, %[[NEXT]]
// CHECK: tilegpu.elect {
// CHECK-NEXT: tilegpu.mbarrier_inval %[[BARRIERS]]
func.func @by_engine(%p: !tile.ptr<f16>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant -1 : i32
  %v = tile.make_view %p, extents [%n, %n], strides [%n, %c1] {tilegpu.view_of = #tilegpu.view_of<arg = 0, dims = [0, 1]>} : i32 -> !tile.view<2xf16>
  %r = tilegpu.ring_alloc : !engine
  scf.for %o = %c0 to %n step %c1 : i32 {
    %any = arith.cmpi slt, %c0, %n : i32
    tilegpu.producer_acquire %r[%c0] : !engine
    tilegpu.ring_copy %v[%c0, %c0], %r[%c0] operand 0 shape [8, 64] if %any
      {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>, tilegpu.variant = #tilegpu.load<tma>} : !tile.view<2xf16>, !engine
    tilegpu.producer_commit %r[%c0] : !engine
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%before = %none) -> (i32) : i32 {
      %m = tilegpu.consumer_wait %r[%i] : !engine
      %y = tilegpu.smem_load %m : !tilegpu.smem<8x64xf16, #t> -> tensor<8x64xf16, #u>
      tilegpu.consumer_release %r[%before] : !engine
      %j = arith.addi %i, %c1 : i32
      %more = arith.cmpi slt, %j, %n : i32
      tilegpu.producer_acquire %r[%j] : !engine
      tilegpu.ring_copy %v[%j, %c0], %r[%j] operand 0 shape [8, 64] if %more
        {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>, tilegpu.variant = #tilegpu.load<tma>} : !tile.view<2xf16>, !engine
      tilegpu.producer_commit %r[%j] : !engine
      scf.yield %i : i32
    }
    tilegpu.consumer_release %r[%last] : !engine
  }
  return
}
