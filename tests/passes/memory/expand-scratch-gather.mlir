// A gather and a histogram go through shared memory that later passes see.
// RUN: tile-opt %s -tile-expand-scratch | FileCheck %s

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>

// CHECK-LABEL: func.func @gather
// CHECK: %[[M:.*]] = tilegpu.smem_alloc
// CHECK-NEXT: tilegpu.smem_store %{{.*}}, %[[M]]
// CHECK-NEXT: tilegpu.smem_gather %[[M]][%{{.*}}] axis 0
func.func @gather(%x: tensor<32xf32, #l>, %i: tensor<32xi32, #l>) -> tensor<32xf32, #l> {
  %a = tile.gather %x[%i] axis 0 : tensor<32xf32, #l>, tensor<32xi32, #l> -> tensor<32xf32, #l>
  return %a : tensor<32xf32, #l>
}

// CHECK-LABEL: func.func @histogram
// CHECK: %[[M:.*]] = tilegpu.smem_alloc
// CHECK: %[[ZERO:.*]] = arith.constant dense<0>
// CHECK-NEXT: tilegpu.smem_store %[[ZERO]], %[[M]]
// CHECK-NEXT: tilegpu.smem_count %{{.*}}, %[[M]]
// CHECK-NEXT: tilegpu.smem_load %[[M]]
func.func @histogram(%x: tensor<32xi32, #l>) -> tensor<32xi32, #l> {
  %a = tile.histogram %x : tensor<32xi32, #l> -> tensor<32xi32, #l>
  return %a : tensor<32xi32, #l>
}
