// Atomics and mulhi are read back as they were printed, in their own form and in the generic one.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @atomics
// CHECK-SAME: %[[P:.*]]: tensor<64x!tile.ptr<i32>>, %[[X:.*]]: tensor<64xi32>, %[[M:.*]]: tensor<64xi1>
func.func @atomics(%p: tensor<64x!tile.ptr<i32>>, %x: tensor<64xi32>, %m: tensor<64xi1>,
                   %q: tensor<1x!tile.ptr<f64>>, %y: tensor<1xf64>) {
  // CHECK: tile.atomic_rmw add acq_rel gpu %[[P]], %[[X]] : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  // CHECK: tile.atomic_rmw umin relaxed cta %[[P]], %[[X]] mask %[[M]] : tensor<64x!tile.ptr<i32>>, tensor<64xi32>, tensor<64xi1>
  // CHECK: tile.atomic_rmw xchg release sys
  %a = tile.atomic_rmw add acq_rel gpu %p, %x : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %b = tile.atomic_rmw umin relaxed cta %p, %x mask %m : tensor<64x!tile.ptr<i32>>, tensor<64xi32>, tensor<64xi1>
  %c = tile.atomic_rmw xchg release sys %q, %y : tensor<1x!tile.ptr<f64>>, tensor<1xf64>
  // CHECK: tile.atomic_cas acquire gpu %[[P]], %[[X]], %[[X]] : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  // CHECK: tile.atomic_cas relaxed cta %[[P]], %[[X]], %[[X]] mask %[[M]] : tensor<64x!tile.ptr<i32>>, tensor<64xi32>, tensor<64xi1>
  %d = tile.atomic_cas acquire gpu %p, %x, %x : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %e = tile.atomic_cas relaxed cta %p, %x, %x mask %m : tensor<64x!tile.ptr<i32>>, tensor<64xi32>, tensor<64xi1>
  // CHECK: tile.atomic_rmw add relaxed gpu %{{.*}}, %{{.*}} mask %{{.*}} evict first :
  %f = tile.atomic_rmw add relaxed gpu %p, %x mask %m evict first : tensor<64x!tile.ptr<i32>>, tensor<64xi32>, tensor<64xi1>
  return
}

// CHECK-LABEL: func.func @mulhi
func.func @mulhi(%x: tensor<16xi64>, %y: i32) {
  // CHECK: tile.mulhi %{{.*}}, %{{.*}} : tensor<16xi64>
  // CHECK: tile.mulhi %{{.*}}, %{{.*}} unsigned : i32
  %a = tile.mulhi %x, %x : tensor<16xi64>
  %b = tile.mulhi %y, %y unsigned : i32
  return
}
