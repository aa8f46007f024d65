// A kernel that may start before the launches ahead of it have ended lets the next one start at once, and waits itself before it
// touches global memory: behind what it does with indices, shared memory and barriers alone.
// RUN: %hopper_to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %to_ptx %t.80
// RUN: FileCheck %s --check-prefix=NONE < %t.80
// RUN: %if ptxas %{ %hopper_ptxas %t %}

// NONE-NOT: griddepcontrol

// CHECK-LABEL: .entry copies(
// CHECK-NOT: {{(ld|st).global}}
// CHECK: griddepcontrol.launch_dependents;
// CHECK-NOT: {{(ld|st).global}}
// CHECK: griddepcontrol.wait;
// CHECK: ld.global
// CHECK: st.global
// CHECK-NOT: griddepcontrol
func.func @copies(%from: !tile.ptr<f32>, %to: !tile.ptr<f32>)
    attributes {tile.kernel, tile.warps = 4 : i32, tile.dependent} {
  %x = tile.load %from : !tile.ptr<f32> -> f32
  tile.store %x, %to : f32, !tile.ptr<f32>
  return
}

// An access in a branch or a loop is waited for before it, on the path without it too.
// CHECK-LABEL: .entry sometimes(
// CHECK-NOT: bra
// CHECK: griddepcontrol.wait;
// CHECK: st.global
// CHECK-NOT: griddepcontrol
func.func @sometimes(%to: !tile.ptr<i32>, %n: i32)
    attributes {tile.kernel, tile.warps = 4 : i32, tile.dependent} {
  %p = tile.program_id 0 : i32
  %first = arith.cmpi slt, %p, %n : i32
  scf.if %first {
    tile.store %p, %to : i32, !tile.ptr<i32>
  }
  return
}

// Of two arms each has a wait of its own; one that touches nothing waits where it ends.
// CHECK-LABEL: .entry arms(
// CHECK: bra
// CHECK-COUNT-2: griddepcontrol.wait;
// CHECK-NOT: griddepcontrol
func.func @arms(%to: !tile.ptr<i32>, %n: i32)
    attributes {tile.kernel, tile.warps = 4 : i32, tile.dependent} {
  %p = tile.program_id 0 : i32
  %c1 = arith.constant 1 : i32
  %first = arith.cmpi slt, %p, %n : i32
  scf.if %first {
    tile.store %p, %to : i32, !tile.ptr<i32>
  } else {
    tile.debug_barrier
  }
  return
}

// A kernel that touches nothing waits as well: the one after the next relies on it.
// CHECK-LABEL: .entry idle(
// CHECK: griddepcontrol.launch_dependents;
// CHECK: griddepcontrol.wait;
// CHECK: ret;
func.func @idle(%n: i32) attributes {tile.kernel, tile.warps = 4 : i32, tile.dependent} {
  return
}

// CHECK-LABEL: .entry plain(
// CHECK-NOT: griddepcontrol
func.func @plain(%to: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 4 : i32} {
  %p = tile.program_id 0 : i32
  tile.store %p, %to : i32, !tile.ptr<i32>
  return
}
