// Operations that pair up or mirror elements are read back as they were printed.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @pairs
// CHECK-SAME: %[[A:.*]]: tensor<4x48xf16>, %[[B:.*]]: tensor<4x48xf16>, %[[I:.*]]: tensor<1x1xi32>, %[[P:.*]]: tensor<1x!tile.ptr<f32>>
func.func @pairs(%a: tensor<4x48xf16>, %b: tensor<4x48xf16>, %i: tensor<1x1xi32>, %p: tensor<1x!tile.ptr<f32>>) {
  // CHECK: %[[J:.*]] = tile.join %[[A]], %[[B]] : tensor<4x48xf16> -> tensor<4x48x2xf16>
  // CHECK: tile.half %[[J]], 0 : tensor<4x48x2xf16> -> tensor<4x48xf16>
  // CHECK: tile.half %[[J]], 1 : tensor<4x48x2xf16> -> tensor<4x48xf16>
  // CHECK: tile.flip %[[A]] axis 1 : tensor<4x48xf16>
  // CHECK: tile.item %[[I]] : tensor<1x1xi32> -> i32
  // CHECK: tile.item %[[P]] : tensor<1x!tile.ptr<f32>> -> !tile.ptr<f32>
  %j = tile.join %a, %b : tensor<4x48xf16> -> tensor<4x48x2xf16>
  %x = tile.half %j, 0 : tensor<4x48x2xf16> -> tensor<4x48xf16>
  %y = tile.half %j, 1 : tensor<4x48x2xf16> -> tensor<4x48xf16>
  %f = tile.flip %a axis 1 : tensor<4x48xf16>
  %s = tile.item %i : tensor<1x1xi32> -> i32
  %q = tile.item %p : tensor<1x!tile.ptr<f32>> -> !tile.ptr<f32>
  return
}
