// What threads put for products by wgmma: by matrices where each thread has two neighbours of 16 bits, as accumulators lie;
// in vectors where it has sixteen bytes.
// RUN: tile-opt %s -tile-lower-rings | FileCheck %s

#acc = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#rows = #tilegpu.layout<register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]]>
#sums = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tilegpu.shared<panel = [6, 4], linear = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512], digits = [1024, 1024]>
#b = #tilegpu.shared<panel = [4, 3], linear = [16, 32, 64, 1, 2, 4, 8], digits = [128, 128]>
!ring = !tilegpu.ring<1 x !tilegpu.smem<64x16xf16, #a>>

// CHECK-LABEL: func.func @accumulators
// CHECK: tilegpu.smem_store %{{.+}}, %{{.+}} by_matrices
func.func @accumulators(%x: tensor<64x16xf16, #acc>, %b: !tilegpu.smem<16x8xf16, #b>, %c: tensor<64x8xf32, #sums>) {
  %c0 = arith.constant 0 : i32
  %r = tilegpu.ring_alloc : !ring
  tilegpu.producer_acquire %r[%c0] : !ring
  tilegpu.ring_put %x, %r[%c0] operand 0 : tensor<64x16xf16, #acc>, !ring
  tilegpu.producer_commit %r[%c0] : !ring
  %g = tilegpu.consumer_wait %r[%c0] : !ring
  %d = tilegpu.dot_async %g, %b, %c : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #sums>
  %y = tilegpu.dot_wait %d pending 0 : !tilegpu.in_flight<tensor<64x8xf32, #sums>> -> tensor<64x8xf32, #sums>
  tilegpu.consumer_release %r[%c0] : !ring
  return
}

// CHECK-LABEL: func.func @vectors
// CHECK: tilegpu.smem_store
// CHECK-NOT: by_matrices
// CHECK: return
func.func @vectors(%x: tensor<64x16xf16, #rows>, %b: !tilegpu.smem<16x8xf16, #b>, %c: tensor<64x8xf32, #sums>) {
  %c0 = arith.constant 0 : i32
  %r = tilegpu.ring_alloc : !ring
  tilegpu.producer_acquire %r[%c0] : !ring
  tilegpu.ring_put %x, %r[%c0] operand 0 : tensor<64x16xf16, #rows>, !ring
  tilegpu.producer_commit %r[%c0] : !ring
  %g = tilegpu.consumer_wait %r[%c0] : !ring
  %d = tilegpu.dot_async %g, %b, %c : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #sums>
  %y = tilegpu.dot_wait %d pending 0 : !tilegpu.in_flight<tensor<64x8xf32, #sums>> -> tensor<64x8xf32, #sums>
  tilegpu.consumer_release %r[%c0] : !ring
  return
}
