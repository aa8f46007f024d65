// Blocks of a cluster store what they have, meet, read what each of them has, in the order of ranks, and meet again.
// RUN: tile-opt %s -tile-expand-cluster-sums=target=sm_90a | FileCheck %s

#l = #tilegpu.layout<register = [[32], [64]], lane = [[1], [2], [4], [8], [16]], warp = []>
#p = #tilegpu.layout<register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []>

// CHECK-LABEL: func.func @all
// CHECK: %[[M:.*]] = tilegpu.smem_alloc : <128xf32
// CHECK-NEXT: tilegpu.smem_store %arg0, %[[M]]
// CHECK-NEXT: tilegpu.barrier {{.*}}scope = #tilegpu.scope<cluster_consumers>
// CHECK-NEXT: %[[R0:.*]] = arith.constant 0 : i32
// CHECK-NEXT: %[[X0:.*]] = tilegpu.smem_load %[[M]] rank %[[R0]]
// CHECK-NEXT: %[[R1:.*]] = arith.constant 1 : i32
// CHECK-NEXT: %[[X1:.*]] = tilegpu.smem_load %[[M]] rank %[[R1]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[X0]], %[[X1]]
// CHECK-NEXT: tilegpu.barrier {{.*}}scope = #tilegpu.scope<cluster_consumers>
// CHECK-NEXT: return %[[S]]
func.func @all(%x: tensor<128xf32, #l>) -> tensor<128xf32, #l>
    attributes {tile.warps = 1 : i32, tile.cluster = 2 : i32} {
  %y = tile.cluster_sum %x : tensor<128xf32, #l> -> tensor<128xf32, #l>
  return %y : tensor<128xf32, #l>
}

// Parts lie one behind the other, 256 bytes each.
// CHECK-LABEL: func.func @part
// CHECK: %[[M:.*]] = tilegpu.smem_alloc : <128xi32
// CHECK: %[[BYTES:.*]] = arith.constant 256 : i32
// CHECK: %[[RANK:.*]] = tile.cluster_rank : i32
// CHECK: %[[AT:.*]] = arith.muli %[[RANK]], %[[BYTES]] : i32
// CHECK: %[[P:.*]] = tilegpu.smem_stage %[[M]] at %[[AT]]
// CHECK: tilegpu.smem_load %[[P]] rank {{.*}} -> tensor<64xi32
// CHECK: tilegpu.smem_load %[[P]] rank {{.*}} -> tensor<64xi32
// CHECK-NEXT: arith.addi
func.func @part(%x: tensor<128xi32, #l>) -> tensor<64xi32, #p>
    attributes {tile.warps = 1 : i32, tile.cluster = 2 : i32} {
  %y = tile.cluster_sum %x scatter : tensor<128xi32, #l> -> tensor<64xi32, #p>
  return %y : tensor<64xi32, #p>
}
