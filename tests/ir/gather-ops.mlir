// Gathers and histograms are read back as they were printed, in their own form and in the generic one.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>

// CHECK-LABEL: func.func @tiles
func.func @tiles(%x: tensor<4x32xf32>, %i: tensor<4x8xi32>, %y: tensor<32xi32>, %m: tensor<32xi1>) {
  // CHECK: tile.gather %{{.*}}[%{{.*}}] axis 1 : tensor<4x32xf32>, tensor<4x8xi32> -> tensor<4x8xf32>
  // CHECK: tile.histogram %{{.*}} : tensor<32xi32> -> tensor<6xi32>
  // CHECK: tile.histogram %{{.*}} mask %{{.*}} : tensor<32xi32>, tensor<32xi1> -> tensor<8xi32>
  %a = tile.gather %x[%i] axis 1 : tensor<4x32xf32>, tensor<4x8xi32> -> tensor<4x8xf32>
  %b = tile.histogram %y : tensor<32xi32> -> tensor<6xi32>
  %c = tile.histogram %y mask %m : tensor<32xi32>, tensor<32xi1> -> tensor<8xi32>
  return
}

// CHECK-LABEL: func.func @shared
func.func @shared(%x: tensor<32xi32, #l>, %m: tensor<32xi1, #l>) {
  // CHECK: tilegpu.smem_store %{{.*}}, %{{.*}} first_holder
  // CHECK: tilegpu.smem_gather %{{.*}}[%{{.*}}] axis 0 :
  // CHECK: tilegpu.smem_count %{{.*}}, %{{.*}} mask %{{.*}} :
  %a = tilegpu.smem_alloc : !tilegpu.smem<32xi32, #s>
  tilegpu.smem_store %x, %a first_holder : tensor<32xi32, #l>, !tilegpu.smem<32xi32, #s>
  %b = tilegpu.smem_gather %a[%x] axis 0 : !tilegpu.smem<32xi32, #s>, tensor<32xi32, #l> -> tensor<32xi32, #l>
  tilegpu.smem_count %x, %a mask %m : tensor<32xi32, #l>, !tilegpu.smem<32xi32, #s>, tensor<32xi1, #l>
  return
}
