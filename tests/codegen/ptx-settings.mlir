// What a kernel asks of the assembler, and how its arithmetic rounds.
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
// CHECK: .minnctapersm 1
// CHECK-NOT: .maxnreg
// CHECK: add{{(.rn)?}}.ftz.f32
func.func @flushed(%p: !tile.ptr<f32>, %a: f32) attributes {tile.kernel, tile.warps = 4 : i32, tile.ftz} {
  %x = tile.load %p : !tile.ptr<f32> -> f32
  %y = arith.addf %x, %a : f32
  tile.store %y, %p : f32, !tile.ptr<f32>
  return
}
