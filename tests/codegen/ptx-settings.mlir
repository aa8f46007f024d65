// Settings of a kernel become directives for the assembler, and decide how its arithmetic rounds.
// RUN: %to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK-LABEL: .entry registers(
// CHECK: .minnctapersm 3
// CHECK: .maxnreg 40
// CHECK: fma.rn.f32
func.func @registers(%p: !tile.ptr<f32>, %a: f32)
    attributes {tile.kernel, tile.warps = 4 : i32, tile.maxnreg = 40 : i32, tile.occupancy = 3 : i32} {
  %x = tile.load %p : !tile.ptr<f32> -> f32
  %y = arith.mulf %x, %a : f32
  %z = arith.addf %y, %a : f32
  tile.store %z, %p : f32, !tile.ptr<f32>
  return
}

// CHECK-LABEL: .entry flushed(
// CHECK-NOT: .minnctapersm
// CHECK-NOT: .maxnreg
// CHECK: add{{(.rn)?}}.ftz.f32
func.func @flushed(%p: !tile.ptr<f32>, %a: f32) attributes {tile.kernel, tile.warps = 4 : i32, tile.ftz} {
  %x = tile.load %p : !tile.ptr<f32> -> f32
  %y = arith.addf %x, %a : f32
  tile.store %y, %p : f32, !tile.ptr<f32>
  return
}

// Nothing is said about occupancy above; a tile of 64 registers a thread wants all that there are.
// CHECK-LABEL: .entry large(
// CHECK: .minnctapersm 1
func.func @large(%p: !tile.ptr<f32>) attributes {tile.kernel, tile.warps = 4 : i32} {
  %i = tile.arange 0, 8192 : tensor<8192xi32>
  %all = tile.splat %p : !tile.ptr<f32> -> tensor<8192x!tile.ptr<f32>>
  %at = tile.addptr %all, %i : tensor<8192x!tile.ptr<f32>>, tensor<8192xi32>
  %x = tile.load %at : tensor<8192x!tile.ptr<f32>> -> tensor<8192xf32>
  tile.store %x, %at : tensor<8192xf32>, tensor<8192x!tile.ptr<f32>>
  return
}
