// Accesses of arguments that may overlap are kept in order as those of one argument; others are not.
// RUN: tile-opt %s -tile-place-barriers | FileCheck %s

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>

// CHECK-LABEL: func.func @apart
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @apart(%p: !tile.ptr<i32> {tile.param = #tile.param<pointer, 0>},
                 %q: !tile.ptr<i32> {tile.param = #tile.param<pointer, 1>}, %x: tensor<32xi32, #l>) {
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #l>
  %qs = tile.splat %q : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #l>
  %a = tile.load %ps : tensor<32x!tile.ptr<i32>, #l> -> tensor<32xi32, #l>
  tile.store %a, %qs : tensor<32xi32, #l>, tensor<32x!tile.ptr<i32>, #l>
  return
}

// Either of two aliasing arguments may name the other; the numbers are those of the source kernel's arguments.
// CHECK-LABEL: func.func @overlapping
// CHECK: %[[A:.*]] = tile.load
// CHECK-NEXT: tilegpu.barrier {reason = "write after read of global memory"}
// CHECK-NEXT: tile.store %[[A]]
// CHECK-NEXT: tile.store
// CHECK-NEXT: tilegpu.barrier {reason = "read after write of global memory"}
// CHECK-NEXT: tile.load
// CHECK-NEXT: return
func.func @overlapping(%p: !tile.ptr<i32> {tile.param = #tile.param<pointer, 0>},
                       %n: i32 {tile.param = #tile.param<extent, 0, 0>},
                       %q: !tile.ptr<i32> {tile.may_alias = array<i32: 0>, tile.param = #tile.param<pointer, 1>},
                       %r: !tile.ptr<i32> {tile.param = #tile.param<pointer, 2>}, %x: tensor<32xi32, #l>) {
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #l>
  %qs = tile.splat %q : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #l>
  %rs = tile.splat %r : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #l>
  %a = tile.load %ps : tensor<32x!tile.ptr<i32>, #l> -> tensor<32xi32, #l>
  tile.store %a, %qs : tensor<32xi32, #l>, tensor<32x!tile.ptr<i32>, #l>
  tile.store %a, %rs : tensor<32xi32, #l>, tensor<32x!tile.ptr<i32>, #l>
  %b = tile.load %ps : tensor<32x!tile.ptr<i32>, #l> -> tensor<32xi32, #l>
  return
}
