// Programs store what they have, count, and the last one adds up what all have stored, in the order of programs.
// RUN: tile-opt %s -tile-expand-grid-sums -cse | FileCheck %s

#l = #tilegpu.layout<register = [[32], [64]], lane = [[1], [2], [4], [8], [16]], warp = []>

// Of each program 512 bytes and a counter.
// CHECK-LABEL: func.func @one
// CHECK-SAME: %[[MEMORY:arg1]]: !tile.ptr<i8> {tile.param = #tile.param<workspace>}
// CHECK-SAME: %[[COUNTERS:arg2]]: !tile.ptr<i32> {tile.param = #tile.param<counters>}
// CHECK-SAME: tilegpu.workspace = #tilegpu.workspace<bytes = 512, counters = 1, programs = 3>
// CHECK: %[[X:.*]] = tile.splat
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
// CHECK: %[[REST:.*]] = arith.remui %[[PROGRAM:.*]], %[[C3]]
// CHECK: %[[FIRST:.*]] = arith.subi %[[PROGRAM]], %[[REST]]
// CHECK: arith.extui %[[PROGRAM]]
// CHECK: %[[OWN:.*]] = tile.addptr %[[MEMORY]]
// CHECK: tilegpu.workspace_store %[[X]], %[[OWN]]
// CHECK: %[[COUNTER:.*]] = tile.addptr %[[COUNTERS]]
// CHECK: %[[OLD:.*]] = tile.atomic_rmw add acq_rel gpu
// CHECK: %[[BEFORE:.*]] = tile.item %[[OLD]]
// CHECK: %[[C2:.*]] = arith.constant 2 : i32
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[BEFORE]], %[[C2]]
// CHECK: scf.if %[[LAST]]
// CHECK: tile.store {{.*}}, %[[COUNTER]]
// CHECK: arith.extui %[[FIRST]]
// CHECK: %[[PART:.*]] = tilegpu.workspace_load
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[PART]])
// CHECK: %[[NEXT:.*]] = tilegpu.workspace_add %[[SUM]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: else
// CHECK-NEXT: scf.yield %[[X]]
// CHECK: scf.if %[[LAST]]
func.func @one(%v: f32) attributes {tile.kernel, tile.warps = 1 : i32} {
  %x = tile.splat %v : f32 -> tensor<128xf32, #l>
  %y, %last = tile.grid_sum %x of 3 : tensor<128xf32, #l>
  scf.if %last {
    tile.print "", %y unsigned [false] : tensor<128xf32, #l>
  }
  return
}

// Each sum has memory and a counter of its own; launches are multiples of both numbers of programs.
// CHECK-LABEL: func.func @two
// CHECK-SAME: #tilegpu.workspace<bytes = 1024, counters = 2, programs = 6>
// CHECK: arith.addi
// CHECK: tilegpu.workspace_store
// CHECK: %[[AT:.*]] = arith.constant 512 : i64
// CHECK: arith.addi {{.*}}, %[[AT]]
// CHECK: tilegpu.workspace_store
// CHECK: arith.addi %{{.*}} : i32
func.func @two(%v: i32) attributes {tile.kernel, tile.warps = 1 : i32} {
  %x = tile.splat %v : i32 -> tensor<128xi32, #l>
  %y, %last = tile.grid_sum %x of 2 : tensor<128xi32, #l>
  %z, %alsoLast = tile.grid_sum %x of 3 : tensor<128xi32, #l>
  return
}

// CHECK-LABEL: func.func @none(
// CHECK-NOT: workspace
func.func @none(%v: i32) attributes {tile.kernel} {
  return
}
