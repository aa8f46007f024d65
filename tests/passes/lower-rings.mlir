// RUN: tile-opt %s -tile-lower-rings | FileCheck %s

#l = #tilegpu.layout<register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = []>
#s = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>

// CHECK-LABEL: func.func @one_slot
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf16
// CHECK: %[[M:.*]] = tilegpu.smem_alloc : <4x8xf16, #shared>
// CHECK: scf.for
// CHECK-NEXT: tilegpu.smem_store %[[X]], %[[M]]
// CHECK-NEXT: tilegpu.smem_load %[[M]]
// CHECK-NOT: ring
// CHECK: return
func.func @one_slot(%x: tensor<4x8xf16, #l>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.ring_put %x, %r[%c0] : tensor<4x8xf16, #l>, !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
    %m = tilegpu.ring_get %r[%c0] : !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
    %y = tilegpu.smem_load %m : !tilegpu.smem<4x8xf16, #s> -> tensor<4x8xf16, #l>
    tilegpu.ring_release %r[%c0] : !tilegpu.ring<1 x !tilegpu.smem<4x8xf16, #s>>
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
