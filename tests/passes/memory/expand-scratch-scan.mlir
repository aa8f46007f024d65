// A scan across warps becomes scans within warps, an exchange of their totals, and a combination with what lies before.
// RUN: tile-opt %s -tile-expand-scratch -split-input-file | FileCheck %s

#warps = #tilegpu.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64], [128]]>

// CHECK-DAG: #[[ALL:.*]] = #tilegpu.layout<register = {{\[\[}}1], [2]], lane = {{.*}}0], [0]], warp = {{\[\[}}0], [0]]>
// CHECK-LABEL: func.func @across_warps
// CHECK-SAME: %[[X:.*]]: tensor<256xf32, #[[L:[a-z0-9]+]]>)
func.func @across_warps(%x: tensor<256xf32, #warps>) -> tensor<256xf32, #warps> {
  // CHECK: %[[P:.*]]:2 = tilegpu.scan_partial %[[X]] axis 0 reverse : tensor<256xf32, #[[L]]> -> tensor<256xf32, #[[L]]>, tensor<4xf32, #{{.*}}> {
  // CHECK: tilegpu.yield
  // CHECK: %[[M:.*]] = tilegpu.smem_alloc
  // CHECK: tilegpu.smem_store %[[P]]#1, %[[M]]
  // CHECK: %[[T:.*]] = tilegpu.smem_load %[[M]] : {{.*}} -> tensor<4xf32, #[[ALL]]>
  // CHECK: %[[R:.*]] = tilegpu.scan_carry %[[P]]#0, %[[T]] axis 0 reverse
  // CHECK: return %[[R]]
  %r = tile.scan %x axis 0 reverse : tensor<256xf32, #warps> -> tensor<256xf32, #warps> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  return %r : tensor<256xf32, #warps>
}

// -----

#rows = #tilegpu.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0], [2, 0]]>

// CHECK-LABEL: func.func @within_warps
func.func @within_warps(%x: tensor<4x64xf32, #rows>) -> tensor<4x64xf32, #rows> {
  // CHECK-NOT: smem
  // CHECK: tile.scan
  %r = tile.scan %x axis 1 : tensor<4x64xf32, #rows> -> tensor<4x64xf32, #rows> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  return %r : tensor<4x64xf32, #rows>
}
