// A product is waited for where its result is taken, and the next begins behind it if it does not depend on that.
// RUN: tile-opt --tile-overlap-products --split-input-file %s | FileCheck %s

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
