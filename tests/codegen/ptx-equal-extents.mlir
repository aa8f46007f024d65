// Extents that are promised to be equal share one bounds check, with the passes of LLVM that a compile runs.
// RUN: rm -rf %t && split-file %s %t
// RUN: tilec build %t/promised.mlir --emit ptx | FileCheck %s --check-prefix=PROMISED
// RUN: tilec build %t/apart.mlir --emit ptx | FileCheck %s --check-prefix=APART

// PROMISED: .entry promised(
// PROMISED-COUNT-1: setp
// PROMISED-NOT: setp
// PROMISED: ret;

// APART: .entry apart(
// APART-COUNT-2: setp
// APART: ret;

//--- promised.mlir
func.func @promised(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %m: i32, %n: i32) attributes {tile.kernel, tile.warps = 1 : i32} {
  %same = arith.cmpi eq, %n, %m : i32
  tile.assume %same
  %i = tile.arange 0, 32 : tensor<32xi32>
  %ms = tile.splat %m : i32 -> tensor<32xi32>
  %ns = tile.splat %n : i32 -> tensor<32xi32>
  %inP = arith.cmpi slt, %i, %ms : tensor<32xi32>
  %inQ = arith.cmpi slt, %i, %ns : tensor<32xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %atP = tile.addptr %ps, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %atQ = tile.addptr %qs, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %x = tile.load %atP mask %inP other %zero : tensor<32x!tile.ptr<f32>>, tensor<32xi1>, tensor<32xf32> -> tensor<32xf32>
  tile.store %x, %atQ mask %inQ : tensor<32xf32>, tensor<32x!tile.ptr<f32>>, tensor<32xi1>
  return
}

//--- apart.mlir
func.func @apart(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %m: i32, %n: i32) attributes {tile.kernel, tile.warps = 1 : i32} {
  %i = tile.arange 0, 32 : tensor<32xi32>
  %ms = tile.splat %m : i32 -> tensor<32xi32>
  %ns = tile.splat %n : i32 -> tensor<32xi32>
  %inP = arith.cmpi slt, %i, %ms : tensor<32xi32>
  %inQ = arith.cmpi slt, %i, %ns : tensor<32xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %atP = tile.addptr %ps, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %atQ = tile.addptr %qs, %i : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %x = tile.load %atP mask %inP other %zero : tensor<32x!tile.ptr<f32>>, tensor<32xi1>, tensor<32xf32> -> tensor<32xf32>
  tile.store %x, %atQ mask %inQ : tensor<32xf32>, tensor<32x!tile.ptr<f32>>, tensor<32xi1>
  return
}
