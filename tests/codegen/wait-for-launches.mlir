// The wait stands before the first operation that may touch global memory: an outermost one, so that every path has it once.
// RUN: tile-opt %s -tile-wait-for-launches=target=sm_90a | FileCheck %s
// RUN: tile-opt %s -tile-wait-for-launches=target=sm_89 2>&1 | FileCheck %s --check-prefix=OLD

// OLD: remark: sm_89 has no launches that start early
// OLD-NOT: nvvm.griddepcontrol

// Indices and barriers stay before it.
// CHECK-LABEL: @kernel(
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK-NEXT: tile.program_id
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.store
// CHECK-NEXT: return
func.func @kernel(%to: !tile.ptr<i32>) attributes {tile.kernel, tile.dependent} {
  %p = tile.program_id 0 : i32
  tilegpu.barrier
  tile.store %p, %to : i32, !tile.ptr<i32>
  tile.store %p, %to : i32, !tile.ptr<i32>
  return
}

// CHECK-LABEL: @loop(
// CHECK: nvvm.griddepcontrol wait
// CHECK-NEXT: scf.for
// CHECK-NOT: nvvm.griddepcontrol
func.func @loop(%to: !tile.ptr<i32>, %n: i32) attributes {tile.kernel, tile.dependent} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.barrier
    tile.store %i, %to : i32, !tile.ptr<i32>
  }
  return
}

// A loop without accesses stays before the wait as well.
// CHECK-LABEL: @arms(
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: tile.store
// CHECK-NEXT: } else {
// CHECK-NEXT: tilegpu.barrier
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: }
// CHECK-NEXT: tile.store
func.func @arms(%to: !tile.ptr<i32>, %n: i32) attributes {tile.kernel, tile.dependent} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.barrier
  }
  %first = arith.cmpi slt, %c0, %n : i32
  scf.if %first {
    tile.store %c1, %to : i32, !tile.ptr<i32>
  } else {
    tilegpu.barrier
  }
  tile.store %c1, %to : i32, !tile.ptr<i32>
  return
}

// What is called may touch anything.
// CHECK-LABEL: @calls(
// CHECK: nvvm.griddepcontrol wait
// CHECK-NEXT: call @other
func.func private @other(%x: i32) -> i32 attributes {tile.callable, tile.warps = 4 : i32} {
  return %x : i32
}
func.func @calls(%n: i32) attributes {tile.kernel, tile.dependent} {
  %x = func.call @other(%n) : (i32) -> i32
  return
}

// CHECK-LABEL: @other_kernel(
// CHECK-NOT: nvvm.griddepcontrol
func.func @other_kernel(%to: !tile.ptr<i32>) attributes {tile.kernel} {
  %p = tile.program_id 0 : i32
  tile.store %p, %to : i32, !tile.ptr<i32>
  return
}
