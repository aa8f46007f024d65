// Changes of layout within a warp: registers are renamed, lanes shuffle; shared memory is not touched.
// RUN: tile-opt %s -tile-lower-to-scalars -canonicalize -cse | FileCheck %s --check-prefix=SCALAR
// RUN: %lower_to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

#pairs = #tilegpu.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
#halves = #tilegpu.layout<register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []>
#quads = #tilegpu.layout<register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []>
#swapped = #tilegpu.layout<register = [[2], [1]], lane = [[4], [8], [16], [32], [64]], warp = []>

// SCALAR-LABEL: func.func @lanes
// SCALAR-COUNT-2: nvvm.shfl.sync idx
// SCALAR-NOT: nvvm.shfl
// CHECK-LABEL: .entry lanes(
// CHECK-COUNT-2: shfl.sync.idx.b32
// CHECK-NOT: shfl
// CHECK-NOT: shared.b
// CHECK: ret;
func.func @lanes(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel, tile.warps = 1 : i32} {
  %r = tile.arange 0, 64 : tensor<64xi32, #pairs>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #pairs>
  %pp = tile.addptr %ps, %r : tensor<64x!tile.ptr<f32>, #pairs>, tensor<64xi32, #pairs>
  %x = tile.load %pp : tensor<64x!tile.ptr<f32>, #pairs> -> tensor<64xf32, #pairs>
  %y = tilegpu.convert_layout %x : tensor<64xf32, #pairs> -> tensor<64xf32, #halves>
  %s = tile.arange 0, 64 : tensor<64xi32, #halves>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #halves>
  %qq = tile.addptr %qs, %s : tensor<64x!tile.ptr<f32>, #halves>, tensor<64xi32, #halves>
  tile.store %y, %qq : tensor<64xf32, #halves>, tensor<64x!tile.ptr<f32>, #halves>
  return
}

// SCALAR-LABEL: func.func @registers
// SCALAR-NOT: nvvm.shfl
// SCALAR: return
// CHECK-LABEL: .entry registers(
// CHECK-NOT: shfl
// CHECK: ret;
func.func @registers(%p: !tile.ptr<f32>) attributes {tile.kernel, tile.warps = 1 : i32} {
  %r = tile.arange 0, 128 : tensor<128xi32, #quads>
  %s = tilegpu.convert_layout %r : tensor<128xi32, #quads> -> tensor<128xi32, #swapped>
  %x = tile.convert %s : tensor<128xi32, #swapped> -> tensor<128xf32, #swapped>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #swapped>
  %pp = tile.addptr %ps, %s : tensor<128x!tile.ptr<f32>, #swapped>, tensor<128xi32, #swapped>
  tile.store %x, %pp : tensor<128xf32, #swapped>, tensor<128x!tile.ptr<f32>, #swapped>
  return
}

// Values of 8 and of 64 bits: widened into a word, or shuffled in halves.
// SCALAR-LABEL: func.func @widths
// SCALAR-COUNT-6: nvvm.shfl.sync idx
// SCALAR-NOT: nvvm.shfl
func.func @widths(%p: !tile.ptr<i64>, %x: i8, %y: i64) attributes {tile.kernel, tile.warps = 1 : i32} {
  %r = tile.arange 0, 64 : tensor<64xi32, #pairs>
  %b = tile.convert %r : tensor<64xi32, #pairs> -> tensor<64xi8, #pairs>
  %l = tile.convert %r : tensor<64xi32, #pairs> -> tensor<64xi64, #pairs>
  %bb = tilegpu.convert_layout %b : tensor<64xi8, #pairs> -> tensor<64xi8, #halves>
  %ll = tilegpu.convert_layout %l : tensor<64xi64, #pairs> -> tensor<64xi64, #halves>
  %w = tile.convert %bb : tensor<64xi8, #halves> -> tensor<64xi64, #halves>
  %sum = arith.addi %w, %ll : tensor<64xi64, #halves>
  %ps = tile.splat %p : !tile.ptr<i64> -> tensor<64x!tile.ptr<i64>, #halves>
  tile.store %sum, %ps : tensor<64xi64, #halves>, tensor<64x!tile.ptr<i64>, #halves>
  return
}
