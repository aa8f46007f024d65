// RUN: tile-opt %s -tile-expand-scratch | FileCheck %s

#rows = #tilegpu.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]>
#lanes = #tilegpu.layout<register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = [[64]]>
#registers = #tilegpu.layout<register = [[2], [1]], lane = [[4], [8], [16], [32], [64]], warp = [[0]]>
#swapped = #tilegpu.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[0]]>
#warps = #tilegpu.layout<register = [[64]], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>

// Within a warp lanes exchange by shuffles, registers are renamed: neither needs shared memory.
// CHECK-LABEL: func.func @within_a_warp
// CHECK-NOT: smem
// CHECK: tilegpu.convert_layout
// CHECK: tilegpu.convert_layout
// CHECK-NOT: smem
// CHECK: return
func.func @within_a_warp(%x: tensor<128xf32, #rows>, %y: tensor<128xf32, #registers>)
    -> (tensor<128xf32, #lanes>, tensor<128xf32, #swapped>) {
  %0 = tilegpu.convert_layout %x : tensor<128xf32, #rows> -> tensor<128xf32, #lanes>
  %1 = tilegpu.convert_layout %y : tensor<128xf32, #registers> -> tensor<128xf32, #swapped>
  return %0, %1 : tensor<128xf32, #lanes>, tensor<128xf32, #swapped>
}

// Data that changes its warp goes through shared memory.
// CHECK-LABEL: func.func @between_warps
// CHECK-SAME: %[[X:.*]]: tensor<128xf16
// CHECK-NEXT: %[[M:.*]] = tilegpu.smem_alloc : <128xf16, #{{.*}}>
// CHECK-NEXT: tilegpu.smem_store %[[X]], %[[M]]
// CHECK-NEXT: %[[Y:.*]] = tilegpu.smem_load %[[M]]
// CHECK-NEXT: return %[[Y]]
func.func @between_warps(%x: tensor<128xf16, #rows>) -> tensor<128xf16, #warps> {
  %0 = tilegpu.convert_layout %x : tensor<128xf16, #rows> -> tensor<128xf16, #warps>
  return %0 : tensor<128xf16, #warps>
}

// First each warp for itself, then its one result a warp through shared memory, then the rest of the sum.
// CHECK-LABEL: func.func @reduction_over_warps
// CHECK: %[[P:.*]]:2 = tilegpu.reduce_partial %{{.*}}, %{{.*}} axis 0 : {{.*}} -> tensor<2xf32, #{{.*}}>, tensor<2xi32, #{{.*}}>
// CHECK: tilegpu.yield %{{.*}}, %{{.*}} : f32, i32
// CHECK: tilegpu.smem_store %[[P]]#0
// CHECK: %[[A:.*]] = tilegpu.smem_load {{.*}} -> tensor<2xf32, #[[ALL:.*]]>
// CHECK: tilegpu.smem_store %[[P]]#1
// CHECK: %[[B:.*]] = tilegpu.smem_load {{.*}} -> tensor<2xi32, #[[ALL]]>
// CHECK: tile.reduce %[[A]], %[[B]] axis 0 : tensor<2xf32, #[[ALL]]>, tensor<2xi32, #[[ALL]]> -> f32, i32
func.func @reduction_over_warps(%x: tensor<128xf32, #rows>, %i: tensor<128xi32, #rows>) -> (f32, i32) {
  %r:2 = tile.reduce %x, %i axis 0 : tensor<128xf32, #rows>, tensor<128xi32, #rows> -> f32, i32 {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %s = arith.addf %a, %b : f32
    %t = arith.addi %ai, %bi : i32
    tile.yield %s, %t : f32, i32
  }
  return %r#0, %r#1 : f32, i32
}

// The axis is within warps: nothing to expand.
#within = #tilegpu.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]]>
#line = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1]]>
// CHECK-LABEL: func.func @reduction_within_warps
// CHECK-NOT: smem
// CHECK-NOT: reduce_partial
// CHECK: tile.reduce
// CHECK-NOT: smem
// CHECK: return
func.func @reduction_within_warps(%x: tensor<2x64xf32, #within>) -> tensor<2xf32, #line> {
  %r = tile.reduce %x axis 1 : tensor<2x64xf32, #within> -> tensor<2xf32, #line> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  return %r : tensor<2xf32, #line>
}
