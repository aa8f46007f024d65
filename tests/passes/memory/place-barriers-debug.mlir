// A barrier of the program's own serves as any other; foreign text may touch all of global memory.
// RUN: tile-opt %s -tile-pipeline | FileCheck %s

// CHECK-LABEL: func.func @own_barrier
// CHECK: tile.store
// CHECK-NOT: tilegpu.barrier
// CHECK: tile.debug_barrier
// CHECK-NOT: tilegpu.barrier
// CHECK: tile.load
func.func @own_barrier(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %x: f32)
    attributes {tile.kernel, tile.warps = 4 : i32} {
  tile.store %x, %p : f32, !tile.ptr<f32>
  tile.debug_barrier
  %y = tile.load %p : !tile.ptr<f32> -> f32
  tile.store %y, %q : f32, !tile.ptr<f32>
  return
}

// CHECK-LABEL: func.func @foreign
// CHECK: tile.store
// CHECK: tilegpu.barrier
// CHECK: tile.inline_ptx
// CHECK: tilegpu.barrier
// CHECK: tile.load
func.func @foreign(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %x: f32)
    attributes {tile.kernel, tile.warps = 4 : i32} {
  tile.store %x, %p : f32, !tile.ptr<f32>
  tile.inline_ptx "membar.cta;" "" : () -> ()
  %y = tile.load %p : !tile.ptr<f32> -> f32
  tile.store %y, %q : f32, !tile.ptr<f32>
  return
}
