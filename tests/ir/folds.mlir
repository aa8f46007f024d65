// What the operations fold to, and what must not fold.
// RUN: tile-opt %s -canonicalize | FileCheck %s

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#b = #tilegpu.layout<register = [], lane = [[16], [8], [4], [2], [1]], warp = []>
#c = #tilegpu.layout<register = [], lane = [[2], [1], [4], [8], [16]], warp = []>

// CHECK-LABEL: func.func @splat_of_constant
// CHECK: %[[C:.*]] = arith.constant dense<2.500000e+00> : tensor<4x8xf32>
// CHECK: return %[[C]]
func.func @splat_of_constant() -> tensor<4x8xf32> {
  %c = arith.constant 2.5 : f32
  %t = tile.splat %c : f32 -> tensor<4x8xf32>
  return %t : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @splat_of_bool
// CHECK: arith.constant dense<true> : tensor<4xi1>
func.func @splat_of_bool() -> tensor<4xi1> {
  %c = arith.constant true
  %t = tile.splat %c : i1 -> tensor<4xi1>
  return %t : tensor<4xi1>
}

// CHECK-LABEL: func.func @splat_of_value
// CHECK: tile.splat
func.func @splat_of_value(%x: f32) -> tensor<4xf32> {
  %t = tile.splat %x : f32 -> tensor<4xf32>
  return %t : tensor<4xf32>
}

// CHECK-LABEL: func.func @same_shape
// CHECK-SAME: %[[X:.*]]: tensor<4x4xf32>
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]]
func.func @same_shape(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = tile.reshape %x : tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = tile.broadcast %x : tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = tile.permute %x, [0, 1] : tensor<4x4xf32> -> tensor<4x4xf32>
  %3 = tile.convert %x : tensor<4x4xf32> -> tensor<4x4xf32>
  return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// A transpose of a square tile has the operand's type and is none the less a transpose.
// CHECK-LABEL: func.func @square_transpose
// CHECK: tile.permute %{{.*}}, [1, 0]
func.func @square_transpose(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tile.permute %x, [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @shapes_of_a_constant
// CHECK-DAG: %[[R:.*]] = arith.constant dense<1.000000e+00> : tensor<16xf16>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<1.000000e+00> : tensor<16x4xf16>
// CHECK-DAG: %[[P:.*]] = arith.constant dense<1.000000e+00> : tensor<1x16xf16>
// CHECK: return %[[R]], %[[B]], %[[P]]
func.func @shapes_of_a_constant() -> (tensor<16xf16>, tensor<16x4xf16>, tensor<1x16xf16>) {
  %c = arith.constant dense<1.0> : tensor<16x1xf16>
  %0 = tile.reshape %c : tensor<16x1xf16> -> tensor<16xf16>
  %1 = tile.broadcast %c : tensor<16x1xf16> -> tensor<16x4xf16>
  %2 = tile.permute %c, [1, 0] : tensor<16x1xf16> -> tensor<1x16xf16>
  return %0, %1, %2 : tensor<16xf16>, tensor<16x4xf16>, tensor<1x16xf16>
}

// CHECK-LABEL: func.func @shapes_of_different_elements
// CHECK: tile.permute
func.func @shapes_of_different_elements() -> tensor<2x2xi32> {
  %c = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %0 = tile.permute %c, [1, 0] : tensor<2x2xi32> -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}

// Unlike a widening followed by a narrowing, these two change the value.
// CHECK-LABEL: func.func @conversions_that_lose
// CHECK: tile.convert %{{.*}} : tensor<4xf32> -> tensor<4xf16>
// CHECK: tile.convert %{{.*}} : tensor<4xf16> -> tensor<4xf32>
func.func @conversions_that_lose(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tile.convert %x : tensor<4xf32> -> tensor<4xf16>
  %1 = tile.convert %0 : tensor<4xf16> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @layout_there_and_back
// CHECK-SAME: %[[X:.*]]: tensor<32xf32, #{{.*}}>
// CHECK-NEXT: return %[[X]]
func.func @layout_there_and_back(%x: tensor<32xf32, #a>) -> tensor<32xf32, #a> {
  %0 = tilegpu.convert_layout %x : tensor<32xf32, #a> -> tensor<32xf32, #b>
  %1 = tilegpu.convert_layout %0 : tensor<32xf32, #b> -> tensor<32xf32, #a>
  return %1 : tensor<32xf32, #a>
}

// CHECK-LABEL: func.func @layout_onwards
// CHECK-COUNT-2: tilegpu.convert_layout
func.func @layout_onwards(%x: tensor<32xf32, #a>) -> tensor<32xf32, #c> {
  %0 = tilegpu.convert_layout %x : tensor<32xf32, #a> -> tensor<32xf32, #b>
  %1 = tilegpu.convert_layout %0 : tensor<32xf32, #b> -> tensor<32xf32, #c>
  return %1 : tensor<32xf32, #c>
}

// Loads may be dropped when nobody wants the value; stores and allocations of shared memory that is stored to may not.
// CHECK-LABEL: func.func @effects
// CHECK-NEXT: tile.store
// CHECK-NEXT: return
func.func @effects(%p: !tile.ptr<f32>, %x: f32) {
  %0 = tile.load %p : !tile.ptr<f32> -> f32
  %1 = tile.program_id 0 : i32
  tile.store %x, %p : f32, !tile.ptr<f32>
  return
}
