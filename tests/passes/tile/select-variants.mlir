// RUN: tile-opt %s -tile-select-variants | FileCheck %s

// CHECK-LABEL: func.func @products
func.func @products(%h: tensor<16x16xf16>, %b: tensor<16x16xbf16>, %f: tensor<16x16xf32>, %d: tensor<16x16xf64>,
                    %m: tensor<8x16xf16>, %mc: tensor<8x16xf32>, %n: tensor<16x4xf16>, %nc: tensor<16x4xf32>,
                    %ka: tensor<16x4xf16>, %kb: tensor<4x16xf16>, %i: tensor<32x32xi8>, %ic: tensor<32x32xi32>, %odd: tensor<48x48xf16>, %oddc: tensor<48x48xf32>)
    attributes {tile.warps = 4 : i32} {
  // CHECK: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<mma_sync>{{.*}} : tensor<16x16xf16>
  // CHECK: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<mma_sync>{{.*}} : tensor<16x16xbf16>
  // CHECK: tile.dot {{.*}} precision tf32 {{.*}}tilegpu.variant = #tilegpu.dot<mma_sync>
  %0 = tile.dot %h, %h, %h : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf16>
  %1 = tile.dot %b, %b, %f : tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xf32>
  %2 = tile.dot %f, %f, %f precision tf32 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  // CHECK: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<fma, refused = ["mma_sync refused: f32 with precision ieee needs fused multiply-add"]>
  // CHECK: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<mma_sync>{{.*}} : tensor<16x16xf64>
  // CHECK: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<fma, refused = ["mma_sync refused: M is 8, not a multiple of 16"]>
  // CHECK: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<fma, refused = ["mma_sync refused: N is 4, not a multiple of 8"]>
  // CHECK: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<fma, refused = ["mma_sync refused: K is 4, not a multiple of 8"]>
  // CHECK: tile.dot {{.*}}tilegpu.variant = #tilegpu.dot<mma_sync>{{.*}} : tensor<48x48xf16>
  // CHECK: tile.dot {{.*}} unsigned {{.*}}tilegpu.variant = #tilegpu.dot<mma_sync>{{.*}} : tensor<32x32xi8>
  %3 = tile.dot %f, %f, %f : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  %4 = tile.dot %d, %d, %d : tensor<16x16xf64>, tensor<16x16xf64>, tensor<16x16xf64>
  %5 = tile.dot %m, %h, %mc : tensor<8x16xf16>, tensor<16x16xf16>, tensor<8x16xf32>
  %6 = tile.dot %h, %n, %nc : tensor<16x16xf16>, tensor<16x4xf16>, tensor<16x4xf32>
  %7 = tile.dot %ka, %kb, %f : tensor<16x4xf16>, tensor<4x16xf16>, tensor<16x16xf32>
  %8 = tile.dot %odd, %odd, %oddc : tensor<48x48xf16>, tensor<48x48xf16>, tensor<48x48xf32>
  %9 = tile.dot %i, %i, %ic unsigned : tensor<32x32xi8>, tensor<32x32xi8>, tensor<32x32xi32>
  return
}

// Warps divide the batch first, then the longer side, and never a side that has no room.
// CHECK-LABEL: func.func @warp_grids
func.func @warp_grids(%batch: tensor<2x64x32xf16>, %bb: tensor<2x32x64xf16>, %bc: tensor<2x64x64xf32>, %tall: tensor<128x16xf16>, %small: tensor<16x16xf16>, %tc: tensor<128x16xf32>, %sc: tensor<16x16xf32>,
                      %square: tensor<64x64xf16>, %qc: tensor<64x64xf32>) attributes {tile.warps = 4 : i32} {
  // CHECK: tile.dot {{.*}}tilegpu.warp_grid = #tilegpu.warp_grid<rows = 4, columns = 1>
  // CHECK: tile.dot {{.*}}tilegpu.warp_grid = #tilegpu.warp_grid<rows = 2, columns = 2>
  // CHECK: tile.dot {{.*}}tilegpu.warp_grid = #tilegpu.warp_grid<rows = 2, columns = 2>
  // CHECK: tile.dot {{.*}}tilegpu.warp_grid = #tilegpu.warp_grid<rows = 2, columns = 1, batch = 2>
  %0 = tile.dot %tall, %small, %tc : tensor<128x16xf16>, tensor<16x16xf16>, tensor<128x16xf32>
  %1 = tile.dot %square, %square, %qc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %2 = tile.dot %small, %small, %sc : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  %3 = tile.dot %batch, %bb, %bc : tensor<2x64x32xf16>, tensor<2x32x64xf16>, tensor<2x64x64xf32>
  return
}

// The second product takes rows of the first as its A: both share rows alone, so that a warp holds its rows whole.
// CHECK-LABEL: func.func @rows_passed_on
func.func @rows_passed_on(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32>
    attributes {tile.warps = 4 : i32} {
  // CHECK-COUNT-2: tile.dot {{.*}}#tilegpu.warp_grid<rows = 4, columns = 1>
  %x = tile.dot %q, %k, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %a = tile.convert %x : tensor<64x64xf32> -> tensor<64x64xf16>
  %y = tile.dot %a, %k, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// With more warps than rows, A goes through shared memory anyway: each product has its own grid.
// CHECK-LABEL: func.func @too_few_rows
func.func @too_few_rows(%q: tensor<32x32xf16>, %k: tensor<32x128xf16>, %w: tensor<32x32xf16>, %c: tensor<32x32xf32>,
                        %d: tensor<32x128xf32>) -> tensor<32x128xf32> attributes {tile.warps = 4 : i32} {
  // CHECK: tile.dot {{.*}}#tilegpu.warp_grid<rows = 2, columns = 2>
  // CHECK: tile.dot {{.*}}#tilegpu.warp_grid<rows = 1, columns = 4>
  %x = tile.dot %q, %w, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
  %a = tile.convert %x : tensor<32x32xf32> -> tensor<32x32xf16>
  %y = tile.dot %a, %k, %d : tensor<32x32xf16>, tensor<32x128xf16>, tensor<32x128xf32>
  return %y : tensor<32x128xf32>
}

// But factors that were reduced from the first one's rows would have to change their warps: one grid for both.
// CHECK-LABEL: func.func @reductions_passed_on
func.func @reductions_passed_on(%q: tensor<32x32xf16>, %k: tensor<32x128xf16>, %w: tensor<32x32xf16>, %c: tensor<32x32xf32>,
                                %d: tensor<32x128xf32>) -> tensor<32x128xf32> attributes {tile.warps = 4 : i32} {
  // CHECK-COUNT-2: tile.dot {{.*}}#tilegpu.warp_grid<rows = 2, columns = 2>
  %x = tile.dot %q, %w, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
  %r = tile.reduce %x axis 1 : tensor<32x32xf32> -> tensor<32xf32> {
  ^bb0(%l: f32, %m: f32):
    %s = arith.addf %l, %m : f32
    tile.yield %s : f32
  }
  %e = tile.expand_dims %r, 1 : tensor<32xf32> -> tensor<32x1xf32>
  %f = tile.broadcast %e : tensor<32x1xf32> -> tensor<32x128xf32>
  %g = arith.mulf %d, %f : tensor<32x128xf32>
  %y = tile.dot %q, %k, %g : tensor<32x32xf16>, tensor<32x128xf16>, tensor<32x128xf32>
  return %y : tensor<32x128xf32>
}

// Tiles of pointers: vectors as long as the run, the alignment and the mask allow.
// CHECK-LABEL: func.func @pointers
func.func @pointers(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %u: !tile.ptr<f32>,
                    %n: i32 {tile.divisibility = 2 : i32}, %scattered: tensor<64xi32>) {
  %r = tile.arange 0, 64 : tensor<64xi32>
  %bound = tile.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %r, %bound : tensor<64xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %us = tile.splat %u : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %q = tile.addptr %ps, %r : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %w = tile.addptr %us, %r : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %s = tile.addptr %ps, %scattered : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // CHECK: tile.load {{.*}}{tilegpu.access = #tilegpu.access<order = [0], vector = 4>, tilegpu.variant = #tilegpu.load<vector>}
  // CHECK: tile.load {{.*}} mask {{.*}}vector = 2>, tilegpu.variant = #tilegpu.load<vector>}
  // CHECK: tile.load {{.*}}vector = 1>, tilegpu.variant = #tilegpu.load<scalar, refused = ["vector refused: no two neighbouring elements of the tile are known to be neighbours in memory at an address aligned for both"]>}
  // CHECK: tile.load {{.*}}vector = 1>, tilegpu.variant = #tilegpu.load<scalar
  // CHECK: tile.store {{.*}}vector = 4>, tilegpu.variant = #tilegpu.store<vector>}
  %0 = tile.load %q : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %1 = tile.load %q mask %mask : tensor<64x!tile.ptr<f32>>, tensor<64xi1> -> tensor<64xf32>
  %2 = tile.load %w : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  %3 = tile.load %s : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  tile.store %0, %q : tensor<64xf32>, tensor<64x!tile.ptr<f32>>
  return
}

// Three rows whose starts are apart by a stride of which nothing is known: only the first row is aligned.
// CHECK-LABEL: func.func @rows_of_unknown_stride
// CHECK: tile.load {{.*}}vector = 1>
func.func @rows_of_unknown_stride(%p: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %stride: i32) {
  %r = tile.arange 0, 3 : tensor<3xi32>
  %c = tile.arange 0, 16 : tensor<16xi32>
  %re = tile.expand_dims %r, 1 : tensor<3xi32> -> tensor<3x1xi32>
  %ce = tile.expand_dims %c, 0 : tensor<16xi32> -> tensor<1x16xi32>
  %s = tile.splat %stride : i32 -> tensor<3x1xi32>
  %rs = arith.muli %re, %s : tensor<3x1xi32>
  %rb = tile.broadcast %rs : tensor<3x1xi32> -> tensor<3x16xi32>
  %cb = tile.broadcast %ce : tensor<1x16xi32> -> tensor<3x16xi32>
  %o = arith.addi %rb, %cb : tensor<3x16xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<3x16x!tile.ptr<f32>>
  %q = tile.addptr %ps, %o : tensor<3x16x!tile.ptr<f32>>, tensor<3x16xi32>
  %0 = tile.load %q : tensor<3x16x!tile.ptr<f32>> -> tensor<3x16xf32>
  return
}

// Rows of a table picked by indices, as views are traced: lines become tiles by reshapes, and the columns stay neighbours.
// CHECK-LABEL: func.func @picked_rows
// CHECK: tile.load {{.*}}#tilegpu.access<order = [1, 0], vector = 8>
func.func @picked_rows(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %stride: i32 {tile.divisibility = 8 : i32},
                       %rows: i32 {tile.divisibility = 16 : i32}, %columns: i32 {tile.divisibility = 16 : i32},
                       %indices: tensor<32xi32>) {
  %c = tile.arange 0, 64 : tensor<64xi32>
  %re = tile.reshape %indices : tensor<32xi32> -> tensor<32x1xi32>
  %ce = tile.reshape %c : tensor<64xi32> -> tensor<1x64xi32>
  %s = tile.splat %stride : i32 -> tensor<32x1xi32>
  %rs = arith.muli %re, %s : tensor<32x1xi32>
  %rb = tile.broadcast %rs : tensor<32x1xi32> -> tensor<32x64xi32>
  %cb = tile.broadcast %ce : tensor<1x64xi32> -> tensor<32x64xi32>
  %o = arith.addi %rb, %cb : tensor<32x64xi32>
  %ps = tile.splat %p : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
  %q = tile.addptr %ps, %o : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
  %rn = tile.splat %rows : i32 -> tensor<32x1xi32>
  %cn = tile.splat %columns : i32 -> tensor<1x64xi32>
  %ri = arith.cmpi ult, %re, %rn : tensor<32x1xi32>
  %ci = arith.cmpi ult, %ce, %cn : tensor<1x64xi32>
  %rm = tile.broadcast %ri : tensor<32x1xi1> -> tensor<32x64xi1>
  %cm = tile.broadcast %ci : tensor<1x64xi1> -> tensor<32x64xi1>
  %m = arith.andi %rm, %cm : tensor<32x64xi1>
  %0 = tile.load %q mask %m : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi1> -> tensor<32x64xf16>
  return
}

// Elementwise operations have nothing to choose.
// CHECK-LABEL: func.func @nothing_to_choose
// CHECK-NOT: tilegpu
// CHECK: return
func.func @nothing_to_choose(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = arith.addf %x, %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
