// RUN: tile-opt %s -tile-expand-dots | FileCheck %s
// RUN: tile-opt %s -tile-expand-dots=target=sm_89 | FileCheck %s --check-prefix=SM89
// RUN: not tile-opt %s -tile-expand-dots=target=sm_1 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: unknown target 'sm_1'; known: sm_80

// Corrections first, without their NaNs, then the product of the large parts.
// CHECK-LABEL: func.func @tf32x3
// CHECK-SAME: %[[A:.*]]: tensor<16x8xf32>, %[[B:.*]]: tensor<8x16xf32>, %[[C:.*]]: tensor<16x16xf32>
// CHECK: arith.constant dense<-8192> : tensor<16x8xi32>
// CHECK: %[[BIGA:.*]] = arith.bitcast %{{.*}} : tensor<16x8xi32> to tensor<16x8xf32>
// CHECK: %[[SMALLA:.*]] = arith.subf %[[A]], %[[BIGA]]
// CHECK: %[[BIGB:.*]] = arith.bitcast %{{.*}} : tensor<8x16xi32> to tensor<8x16xf32>
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

// Parts of 8 bits: the first cut off, the others rounded. The smallest products come first.
// CHECK-LABEL: func.func @bf16x6
// CHECK-COUNT-6: tile.convert {{.*}} -> tensor<{{.*}}xbf16>
// CHECK: %[[P:.*]] = tile.dot
// CHECK-COUNT-4: tile.dot {{.*}} : tensor<16x8xbf16>, tensor<8x16xbf16>, tensor<16x16xf32>
// CHECK: arith.cmpf ord
// CHECK: arith.select
// CHECK: arith.addf
// CHECK: tile.dot
// CHECK-NOT: tile.dot
// CHECK-LABEL: func.func @bf16x3
// CHECK-COUNT-3: tile.dot {{.*}} : tensor<16x8xbf16>, tensor<8x16xbf16>, tensor<16x16xf32>
// CHECK-NOT: tile.dot
func.func @bf16x6(%a: tensor<16x8xf32>, %b: tensor<8x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %r = tile.dot %a, %b, %c precision bf16x6 : tensor<16x8xf32>, tensor<8x16xf32>, tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}
func.func @bf16x3(%a: tensor<16x8xf32>, %b: tensor<8x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %r = tile.dot %a, %b, %c precision bf16x3 : tensor<16x8xf32>, tensor<8x16xf32>, tensor<16x16xf32>
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

// The first target that multiplies fp8 is sm_89; sums of f16 are made of f16 operands everywhere.
// CHECK-LABEL: func.func @float8
// CHECK: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<undecided, refused = ["mma_sync of fp8 refused: it needs sm_89; operands are widened to f16"]>{{.*}} : tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>
// CHECK: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<undecided, refused = ["mma_sync of fp8 refused: its sums are f32; operands are widened to f16"]>{{.*}} : tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf16>
// SM89-LABEL: func.func @float8
// SM89: tile.dot {{.*}} : tensor<16x32xf8E4M3FN>, tensor<32x16xf8E5M2>, tensor<16x16xf32>
// SM89: tile.dot {{.*}} : tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf16>
func.func @float8(%a: tensor<16x32xf8E4M3FN>, %b: tensor<32x16xf8E5M2>, %c: tensor<16x16xf32>, %h: tensor<16x16xf16>)
    -> (tensor<16x16xf32>, tensor<16x16xf16>) {
  %r = tile.dot %a, %b, %c : tensor<16x32xf8E4M3FN>, tensor<32x16xf8E5M2>, tensor<16x16xf32>
  %s = tile.dot %a, %b, %h : tensor<16x32xf8E4M3FN>, tensor<32x16xf8E5M2>, tensor<16x16xf16>
  return %r, %s : tensor<16x16xf32>, tensor<16x16xf16>
}
