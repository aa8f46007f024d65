// A product is waited for where its result is taken, and the next begins behind it if it does not depend on that.
// RUN: tile-opt --tile-reorder-dots --split-input-file %s | FileCheck %s

#l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tilegpu.shared<panel = [6, 4], linear = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512], digits = [1024, 1024]>
#b = #tilegpu.shared<panel = [4, 3], linear = [16, 32, 64, 1, 2, 4, 8], digits = [128, 128]>

// Both are under way while the first result is computed with.
// CHECK-LABEL: func.func @two
// CHECK: %[[FIRST:.+]] = tilegpu.dot_async
// CHECK-NEXT: %[[SECOND:.+]] = tilegpu.dot_async
// CHECK-NEXT: %[[X:.+]] = tilegpu.dot_wait %[[FIRST]] pending 1
// CHECK-NEXT: %[[SQUARE:.+]] = arith.mulf %[[X]], %[[X]]
// CHECK-NEXT: %[[Y:.+]] = tilegpu.dot_wait %[[SECOND]] pending 0
// CHECK-NEXT: arith.addf %[[SQUARE]], %[[Y]]
func.func @two(%a: !tilegpu.smem<64x16xf16, #a>, %b: !tilegpu.smem<16x8xf16, #b>, %c: tensor<64x8xf32, #l>) -> tensor<64x8xf32, #l> {
  %d = tilegpu.dot_async %a, %b, %c : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #l>
  %x = tilegpu.dot_wait %d pending 0 : !tilegpu.in_flight<tensor<64x8xf32, #l>> -> tensor<64x8xf32, #l>
  %square = arith.mulf %x, %x : tensor<64x8xf32, #l>
  %e = tilegpu.dot_async %a, %b, %c : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #l>
  %y = tilegpu.dot_wait %e pending 0 : !tilegpu.in_flight<tensor<64x8xf32, #l>> -> tensor<64x8xf32, #l>
  %sum = arith.addf %square, %y : tensor<64x8xf32, #l>
  return %sum : tensor<64x8xf32, #l>
}

// -----

#l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tilegpu.shared<panel = [6, 4], linear = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512], digits = [1024, 1024]>
#b = #tilegpu.shared<panel = [4, 3], linear = [16, 32, 64, 1, 2, 4, 8], digits = [128, 128]>

// A product that adds to the result of the other stays behind its wait, and no wait passes what changes shared memory.
// CHECK-LABEL: func.func @in_order
// CHECK: %[[FIRST:.+]] = tilegpu.dot_async
// CHECK-NEXT: %[[X:.+]] = tilegpu.dot_wait %[[FIRST]] pending 0
// CHECK-NEXT: %[[SECOND:.+]] = tilegpu.dot_async %{{.+}}, %{{.+}}, %[[X]]
// CHECK-NEXT: %[[Y:.+]] = tilegpu.dot_wait %[[SECOND]] pending 0
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: return %[[Y]]
func.func @in_order(%a: !tilegpu.smem<64x16xf16, #a>, %b: !tilegpu.smem<16x8xf16, #b>, %c: tensor<64x8xf32, #l>) -> tensor<64x8xf32, #l> {
  %d = tilegpu.dot_async %a, %b, %c : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #l>
  %x = tilegpu.dot_wait %d pending 0 : !tilegpu.in_flight<tensor<64x8xf32, #l>> -> tensor<64x8xf32, #l>
  %e = tilegpu.dot_async %a, %b, %x : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #l>
  %y = tilegpu.dot_wait %e pending 0 : !tilegpu.in_flight<tensor<64x8xf32, #l>> -> tensor<64x8xf32, #l>
  tilegpu.barrier
  return %y : tensor<64x8xf32, #l>
}

// -----

#l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tilegpu.shared<panel = [6, 4], linear = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512], digits = [1024, 1024]>
#b = #tilegpu.shared<panel = [4, 3], linear = [16, 32, 64, 1, 2, 4, 8], digits = [128, 128]>

// Warps meet before a product that reads what they have put beside it. One that takes other operands begins before that, with
// what gives them; one more begins behind it, across the store of the result, which is waited for with that under way.
// CHECK-LABEL: func.func @beside_a_put
// CHECK: tilegpu.ring_put
// CHECK-NEXT: tilegpu.producer_commit
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: %[[OTHER:.+]] = tilegpu.dot_async %{{.+}}, %{{.+}}, %{{.+}} {tilegpu.a_from_registers}
// CHECK-NEXT: %[[G:.+]] = tilegpu.consumer_wait
// CHECK-NEXT: %[[READER:.+]] = tilegpu.dot_async %[[G]],
// CHECK-NEXT: %[[THIRD:.+]] = tilegpu.dot_async
// CHECK-NEXT: %[[X:.+]] = tilegpu.dot_wait %[[READER]] pending 1
// CHECK-NEXT: tile.view_store %[[X]], {{.*}} add
// CHECK-NEXT: tilegpu.dot_wait %[[OTHER]] pending 2
// CHECK-NEXT: tilegpu.dot_wait %[[THIRD]] pending 0
// CHECK-NEXT: tilegpu.consumer_release
func.func @beside_a_put(%a: !tilegpu.smem<64x16xf16, #a>,
                        %b: !tilegpu.smem<16x8xf16, #b>, %put: tensor<64x16xf16, #s>, %narrow: tensor<64x16xf32, #s>,
                        %c: tensor<64x8xf32, #l>, %p: !tile.ptr<f32>, %n: i32) -> (tensor<64x8xf32, #l>, tensor<64x8xf32, #l>) {
  %ring = tilegpu.ring_alloc : !tilegpu.ring<1 x !tilegpu.smem<64x16xf16, #a>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.make_view %p, extents [%n, %n], strides [%n, %c1] : i32 -> !tile.view<2xf32>
  tilegpu.producer_acquire %ring[%c0] : !tilegpu.ring<1 x !tilegpu.smem<64x16xf16, #a>>
  tilegpu.ring_put %put, %ring[%c0] operand 0 : tensor<64x16xf16, #s>, !tilegpu.ring<1 x !tilegpu.smem<64x16xf16, #a>>
  tilegpu.producer_commit %ring[%c0] : !tilegpu.ring<1 x !tilegpu.smem<64x16xf16, #a>>
  %g = tilegpu.consumer_wait %ring[%c0] : !tilegpu.ring<1 x !tilegpu.smem<64x16xf16, #a>>
  %d = tilegpu.dot_async %g, %b, %c : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #l>
  %x = tilegpu.dot_wait %d pending 0 : !tilegpu.in_flight<tensor<64x8xf32, #l>> -> tensor<64x8xf32, #l>
  tile.view_store %x, %v[%c0, %c0] add : tensor<64x8xf32, #l>, !tile.view<2xf32>
  %h = arith.truncf %narrow : tensor<64x16xf32, #s> to tensor<64x16xf16, #s>
  %e = tilegpu.dot_async %h, %b, %c {tilegpu.a_from_registers} : tensor<64x16xf16, #s>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #l>
  %y = tilegpu.dot_wait %e pending 0 : !tilegpu.in_flight<tensor<64x8xf32, #l>> -> tensor<64x8xf32, #l>
  %f = tilegpu.dot_async %a, %b, %c : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #l>
  %z = tilegpu.dot_wait %f pending 0 : !tilegpu.in_flight<tensor<64x8xf32, #l>> -> tensor<64x8xf32, #l>
  tilegpu.consumer_release %ring[%c0] : !tilegpu.ring<1 x !tilegpu.smem<64x16xf16, #a>>
  return %y, %z : tensor<64x8xf32, #l>, tensor<64x8xf32, #l>
}
