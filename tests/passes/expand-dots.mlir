// RUN: tile-opt %s -tile-expand-dots | FileCheck %s

// Corrections first, without their NaNs, then the product of the large parts.
// CHECK-LABEL: func.func @tf32x3
// CHECK-SAME: %[[A:.*]]: tensor<16x8xf32>, %[[B:.*]]: tensor<8x16xf32>, %[[C:.*]]: tensor<16x16xf32>
// CHECK: arith.constant dense<-8192> : tensor<16x8xi32>
// CHECK: %[[BIGA:.*]] = arith.bitcast %{{.*}} : tensor<16x8xi32> to tensor<16x8xf32>
// CHECK: %[[BIGB:.*]] = arith.bitcast %{{.*}} : tensor<8x16xi32> to tensor<8x16xf32>
// CHECK: %[[SMALLA:.*]] = arith.subf %[[A]], %[[BIGA]]
// CHECK: %[[SMALLB:.*]] = arith.subf %[[B]], %[[BIGB]]
// CHECK: %[[P:.*]] = tile.dot %[[BIGA]], %[[SMALLB]], %{{.*}} precision tf32 :
// CHECK: %[[Q:.*]] = tile.dot %[[SMALLA]], %[[BIGB]], %[[P]] precision tf32 :
// CHECK: %[[N:.*]] = arith.cmpf ord, %[[Q]], %[[Q]]
// CHECK: %[[K:.*]] = arith.select %[[N]], %[[Q]], %{{.*}}
// CHECK: %[[S:.*]] = arith.addf %[[K]], %[[C]]
// CHECK: %[[R:.*]] = tile.dot %[[BIGA]], %[[BIGB]], %[[S]] precision tf32 :
// CHECK: return %[[R]]
func.func @tf32x3(%a: tensor<16x8xf32>, %b: tensor<8x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %r = tile.dot %a, %b, %c precision tf32x3 : tensor<16x8xf32>, tensor<8x16xf32>, tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// CHECK-LABEL: func.func @others_stay
// CHECK-NEXT: tile.dot %{{.*}} : tensor<16x16xf32>
// CHECK-NEXT: tile.dot %{{.*}} precision tf32 : tensor<16x16xf32>
// CHECK-NEXT: return
func.func @others_stay(%a: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %r = tile.dot %a, %a, %a : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  %s = tile.dot %a, %a, %r precision tf32 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  return %s : tensor<16x16xf32>
}
