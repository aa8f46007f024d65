// Every operation and type of `tile` is read back as it was printed, in its own form and in the generic one.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @types
// CHECK-SAME: !tile.ptr<i1>, %{{.*}}: !tile.ptr<i8>, %{{.*}}: !tile.ptr<i16>, %{{.*}}: !tile.ptr<i32>, %{{.*}}: !tile.ptr<i64>
// CHECK-SAME: !tile.ptr<f16>, %{{.*}}: !tile.ptr<bf16>, %{{.*}}: !tile.ptr<f32>, %{{.*}}: !tile.ptr<f64>
// CHECK-SAME: !tile.view<1xf32>, %{{.*}}: !tile.view<8xbf16>, %{{.*}}: tensor<16x!tile.ptr<f16>>
func.func @types(%a: !tile.ptr<i1>, %b: !tile.ptr<i8>, %c: !tile.ptr<i16>, %d: !tile.ptr<i32>, %e: !tile.ptr<i64>,
                 %f: !tile.ptr<f16>, %g: !tile.ptr<bf16>, %h: !tile.ptr<f32>, %i: !tile.ptr<f64>,
                 %j: !tile.view<1xf32>, %k: !tile.view<8xbf16>, %l: tensor<16x!tile.ptr<f16>>) {
  return
}

// CHECK-LABEL: func.func @kernel
// CHECK-SAME: tile.name = "x"
// CHECK-SAME: attributes {tile.grid = #{{.*}}, tile.grid_symbols = [array<i32: 0, 1>, array<i32: 1, -1>], tile.kernel, tile.warps = 8 : i32}
func.func @kernel(%x: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.name = "x"}, %n: i32, %p: !tile.ptr<f64>,
                  %alpha: bf16)
    attributes {tile.kernel, tile.warps = 8 : i32, tile.grid = affine_map<()[s0, s1] -> (s0 ceildiv 128, s1)>,
                tile.grid_symbols = [array<i32: 0, 1>, array<i32: 1, -1>]} {
  return
}

// CHECK-LABEL: func.func @grid
func.func @grid() -> (i32, i32, i32, i32) {
  // CHECK: tile.program_id 0 : i32
  // CHECK: tile.program_id 2 : i32
  // CHECK: tile.num_programs 0 : i32
  // CHECK: tile.num_programs 1 : i32
  %a = tile.program_id 0 : i32
  %b = tile.program_id 2 : i32
  %c = tile.num_programs 0 : i32
  %d = tile.num_programs 1 : i32
  return %a, %b, %c, %d : i32, i32, i32, i32
}

// CHECK-LABEL: func.func @views
// CHECK-SAME: %[[P:.*]]: !tile.ptr<f16>, %[[M:.*]]: i32, %[[N:.*]]: i32, %[[L:.*]]: i64
func.func @views(%p: !tile.ptr<f16>, %m: i32, %n: i32, %l: i64) {
  // CHECK: %[[V:.*]] = tile.make_view %[[P]], extents [%[[M]], %[[N]]], strides [%[[N]], %[[M]]] : i32 -> !tile.view<2xf16>
  // CHECK: tile.make_view %[[P]], extents [%[[L]]], strides [%[[L]]] {note} : i64 -> !tile.view<1xf16>
  // CHECK: tile.dim %[[V]], 0 : <2xf16> -> i32
  // CHECK: tile.dim %[[V]], 1 : <2xf16> -> i64
  // CHECK: tile.stride %[[V]], 1 : <2xf16> -> i64
  // CHECK: tile.base %[[V]] : <2xf16> -> <f16>
  // CHECK: tile.permute_view %[[V]], [1, 0] : <2xf16>
  %v = tile.make_view %p, extents [%m, %n], strides [%n, %m] : i32 -> !tile.view<2xf16>
  %w = tile.make_view %p, extents [%l], strides [%l] {note} : i64 -> !tile.view<1xf16>
  %d0 = tile.dim %v, 0 : !tile.view<2xf16> -> i32
  %d1 = tile.dim %v, 1 : !tile.view<2xf16> -> i64
  %s = tile.stride %v, 1 : !tile.view<2xf16> -> i64
  %b = tile.base %v : !tile.view<2xf16> -> !tile.ptr<f16>
  %t = tile.permute_view %v, [1, 0] : !tile.view<2xf16>
  return
}

// CHECK-LABEL: func.func @view_accesses
// CHECK-SAME: %[[V:.*]]: !tile.view<2xf16>, %[[I:.*]]: i32
func.func @view_accesses(%v: !tile.view<2xf16>, %i: i32) {
  // CHECK: %[[T:.*]] = tile.view_load %[[V]][%[[I]], %[[I]]] : <2xf16> -> tensor<96x8xf16>
  // CHECK: tile.view_load %[[V]][%[[I]], %[[I]]] pad nan : <2xf16> -> tensor<96x8xf16>
  // CHECK: tile.view_load %[[V]][%[[I]], %[[I]]] unchecked : <2xf16> -> tensor<96x8xf16>
  // CHECK: tile.view_load %[[V]][%[[I]], %[[I]]] pad nan unchecked : <2xf16> -> tensor<96x8xf16>
  // CHECK: tile.view_store %[[T]], %[[V]][%[[I]], %[[I]]] : tensor<96x8xf16>, <2xf16>
  // CHECK: tile.view_store %[[T]], %[[V]][%[[I]], %[[I]]] unchecked : tensor<96x8xf16>, <2xf16>
  // CHECK: tile.view_store %[[T]], %[[V]][%[[I]], %[[I]]] add unchecked : tensor<96x8xf16>, <2xf16>
  %t = tile.view_load %v[%i, %i] : !tile.view<2xf16> -> tensor<96x8xf16>
  %n = tile.view_load %v[%i, %i] pad nan : !tile.view<2xf16> -> tensor<96x8xf16>
  %u = tile.view_load %v[%i, %i] unchecked : !tile.view<2xf16> -> tensor<96x8xf16>
  %w = tile.view_load %v[%i, %i] pad nan unchecked : !tile.view<2xf16> -> tensor<96x8xf16>
  tile.view_store %t, %v[%i, %i] : tensor<96x8xf16>, !tile.view<2xf16>
  tile.view_store %t, %v[%i, %i] unchecked : tensor<96x8xf16>, !tile.view<2xf16>
  tile.view_store %t, %v[%i, %i] add unchecked : tensor<96x8xf16>, !tile.view<2xf16>
  return
}

// CHECK-LABEL: func.func @pointers
func.func @pointers(%p: tensor<64x!tile.ptr<f32>>, %o: tensor<64xi64>, %m: tensor<64xi1>, %x: tensor<64xf32>,
                    %q: !tile.ptr<f32>, %i: i32, %b: i1, %y: f32) {
  // CHECK: tile.addptr %{{.*}}, %{{.*}} : tensor<64x!tile.ptr<f32>>, tensor<64xi64>
  // CHECK: tile.addptr %{{.*}}, %{{.*}} : !tile.ptr<f32>, i32
  %r = tile.addptr %p, %o : tensor<64x!tile.ptr<f32>>, tensor<64xi64>
  %s = tile.addptr %q, %i : !tile.ptr<f32>, i32
  // CHECK: tile.load %{{.*}} : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  // CHECK: tile.load %{{.*}} mask %{{.*}} : tensor<64x!tile.ptr<f32>>, tensor<64xi1> -> tensor<64xf32>
  // CHECK: tile.load %{{.*}} mask %{{.*}} other %{{.*}} : tensor<64x!tile.ptr<f32>>, tensor<64xi1>, tensor<64xf32> -> tensor<64xf32>
  // CHECK: tile.load %{{.*}} : !tile.ptr<f32> -> f32
  // CHECK: tile.load %{{.*}} mask %{{.*}} other %{{.*}} : !tile.ptr<f32>, i1, f32 -> f32
  %0 = tile.load %r : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %1 = tile.load %r mask %m : tensor<64x!tile.ptr<f32>>, tensor<64xi1> -> tensor<64xf32>
  %2 = tile.load %r mask %m other %x : tensor<64x!tile.ptr<f32>>, tensor<64xi1>, tensor<64xf32> -> tensor<64xf32>
  %3 = tile.load %s : !tile.ptr<f32> -> f32
  %4 = tile.load %s mask %b other %y : !tile.ptr<f32>, i1, f32 -> f32
  // CHECK: tile.store %{{.*}}, %{{.*}} : tensor<64xf32>, tensor<64x!tile.ptr<f32>>
  // CHECK: tile.store %{{.*}}, %{{.*}} mask %{{.*}} : tensor<64xf32>, tensor<64x!tile.ptr<f32>>, tensor<64xi1>
  // CHECK: tile.store %{{.*}}, %{{.*}} mask %{{.*}} : f32, !tile.ptr<f32>, i1
  tile.store %0, %r : tensor<64xf32>, tensor<64x!tile.ptr<f32>>
  tile.store %1, %r mask %m : tensor<64xf32>, tensor<64x!tile.ptr<f32>>, tensor<64xi1>
  tile.store %4, %s mask %b : f32, !tile.ptr<f32>, i1
  return
}

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: f32, %p: !tile.ptr<i8>) {
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<8x16xf32>
  // CHECK: tile.splat %{{.*}} : !tile.ptr<i8> -> tensor<4x!tile.ptr<i8>>
  // CHECK: tile.arange 0, 64 : tensor<64xi32>
  // CHECK: tile.arange -3, 4 : tensor<7xi32>
  // CHECK: tile.reshape %{{.*}} : tensor<8x16xf32> -> tensor<128xf32>
  // CHECK: tile.permute %{{.*}}, [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  // CHECK: tile.expand_dims %{{.*}}, 1 : tensor<128xf32> -> tensor<128x1xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<128x1xf32> -> tensor<128x4xf32>
  %s = tile.splat %x : f32 -> tensor<8x16xf32>
  %q = tile.splat %p : !tile.ptr<i8> -> tensor<4x!tile.ptr<i8>>
  %a = tile.arange 0, 64 : tensor<64xi32>
  %b = tile.arange -3, 4 : tensor<7xi32>
  %r = tile.reshape %s : tensor<8x16xf32> -> tensor<128xf32>
  %t = tile.permute %s, [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  %e = tile.expand_dims %r, 1 : tensor<128xf32> -> tensor<128x1xf32>
  %w = tile.broadcast %e : tensor<128x1xf32> -> tensor<128x4xf32>
  return
}

// CHECK-LABEL: func.func @conversions
func.func @conversions(%x: tensor<16xf32>, %i: i32) {
  // CHECK: tile.convert %{{.*}} : tensor<16xf32> -> tensor<16xf16>
  // CHECK: tile.convert %{{.*}} result_unsigned : tensor<16xf32> -> tensor<16xi8>
  // CHECK: tile.convert %{{.*}} source_unsigned : tensor<16xi8> -> tensor<16xi64>
  // CHECK: tile.convert %{{.*}} source_unsigned result_unsigned : i32 -> i64
  %h = tile.convert %x : tensor<16xf32> -> tensor<16xf16>
  %b = tile.convert %x result_unsigned : tensor<16xf32> -> tensor<16xi8>
  %l = tile.convert %b source_unsigned : tensor<16xi8> -> tensor<16xi64>
  %j = tile.convert %i source_unsigned result_unsigned : i32 -> i64
  // CHECK: tile.convert %{{.*}} rounding rtz : tensor<16xf32> -> tensor<16xf8E5M2>
  // CHECK: tile.convert %{{.*}} : tensor<16xf8E5M2> -> tensor<16xf8E4M3FN>
  %m = tile.convert %x rounding rtz : tensor<16xf32> -> tensor<16xf8E5M2>
  %n = tile.convert %m : tensor<16xf8E5M2> -> tensor<16xf8E4M3FN>
  return
}

// CHECK-LABEL: func.func @products
func.func @products(%a: tensor<64x32xf32>, %b: tensor<32x16xf32>, %c: tensor<64x16xf32>,
                    %d: tensor<8x8xf16>, %e: tensor<8x8xbf16>, %f: tensor<8x8xf32>, %g: tensor<8x8xf64>) {
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x32xf32>, tensor<32x16xf32>, tensor<64x16xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision tf32 : tensor<64x32xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision tf32x3 : tensor<64x32xf32>
  // CHECK: tile.dot %{{.*}} : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf16>
  // CHECK: tile.dot %{{.*}} : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf32>
  // CHECK: tile.dot %{{.*}} : tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<8x8xf32>
  // CHECK: tile.dot %{{.*}} : tensor<8x8xf64>, tensor<8x8xf64>, tensor<8x8xf64>
  %0 = tile.dot %a, %b, %c : tensor<64x32xf32>, tensor<32x16xf32>, tensor<64x16xf32>
  %1 = tile.dot %a, %b, %c precision tf32 : tensor<64x32xf32>, tensor<32x16xf32>, tensor<64x16xf32>
  %2 = tile.dot %a, %b, %c precision tf32x3 : tensor<64x32xf32>, tensor<32x16xf32>, tensor<64x16xf32>
  %3 = tile.dot %d, %d, %d : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf16>
  %4 = tile.dot %d, %d, %f : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf32>
  %5 = tile.dot %e, %e, %f : tensor<8x8xbf16>, tensor<8x8xbf16>, tensor<8x8xf32>
  %6 = tile.dot %g, %g, %g : tensor<8x8xf64>, tensor<8x8xf64>, tensor<8x8xf64>
  return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<8x16xf32>, %i: tensor<8x16xi32>, %y: tensor<16xf32>) {
  // CHECK: tile.reduce %{{.*}}, %{{.*}} axis 1 : tensor<8x16xf32>, tensor<8x16xi32> -> tensor<8xf32>, tensor<8xi32> {
  // CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
  // CHECK: tile.yield %{{.*}}, %{{.*}} : f32, i32
  %v, %k = tile.reduce %x, %i axis 1 : tensor<8x16xf32>, tensor<8x16xi32> -> tensor<8xf32>, tensor<8xi32> {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %isLess = arith.cmpf olt, %a, %b : f32
    %s = arith.select %isLess, %a, %b : f32
    %si = arith.select %isLess, %ai, %bi : i32
    tile.yield %s, %si : f32, i32
  }
  // CHECK: tile.reduce %{{.*}} axis 0 : tensor<16xf32> -> f32 {
  %t = tile.reduce %y axis 0 : tensor<16xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  return
}
