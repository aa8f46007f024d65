// Teams stay together where a warp loads for all of them; else one comes after the other.
// RUN: tile-opt %s -tile-place-teams | FileCheck %s

#specialized = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", producer = true>

// CHECK-LABEL: func.func @together
// CHECK-SAME: tile.teams = 3 : i32
// CHECK: tile.team_id
// CHECK-NEXT: scf.for
func.func @together(%n: i32) attributes {tile.kernel, tile.teams = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %team = tile.team_id : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
  } {tilegpu.loop_plan = #specialized}
  return
}

// CHECK-LABEL: func.func @one_after_the_other
// CHECK-NOT: tile.teams
// CHECK: scf.for %[[TEAM:.+]] = %c0{{.*}} to %c3{{.*}} step
// CHECK: tile.store %[[TEAM]], %
// CHECK-NOT: tile.team_id
func.func @one_after_the_other(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.teams = 3 : i32} {
  %team = tile.team_id : i32
  tile.store %team, %p : i32, !tile.ptr<i32>
  return
}

// CHECK-LABEL: func.func @alone
// CHECK-NOT: scf.for
// CHECK: tile.store %c0{{.*}}, %
func.func @alone(%p: !tile.ptr<i32>) attributes {tile.kernel} {
  %team = tile.team_id : i32
  tile.store %team, %p : i32, !tile.ptr<i32>
  return
}

// Without a producer warp tiles do not alternate: one team executes all of them.
// CHECK-LABEL: func.func @all_tiles
// CHECK-NOT: tile.teams
// CHECK-SAME: {
// CHECK-NOT: tilegpu.order
// CHECK-NOT: tile.by_role
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %{{.*}} step %c1
// CHECK-NOT: scf.if
// CHECK: return
func.func @all_tiles(%n: i32, %steps: i32) attributes {tile.kernel, tile.teams = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %team = tile.team_id : i32
  %first = tile.by_role %c0, %team : i32
  %step = tile.by_role %c1, %c2 : i32
  tilegpu.order_begin
  scf.for %i = %first to %n step %step : i32 {
    %isFirst = arith.cmpi eq, %i, %c0 : i32
    scf.if %isFirst {
      tilegpu.order_wait
    } {tilegpu.tile_step = #tilegpu.tile_step<first>}
    tilegpu.order_arrive if %isFirst trip_count %steps
  } {tile.ping_pong}
  return
}

// Order that the kernel was written with stays, and so does what a branch does else.
// CHECK-LABEL: func.func @order_of_the_kernel
// CHECK: tilegpu.order_begin
// CHECK: tilegpu.order_wait
// CHECK: tilegpu.order_arrive
// CHECK: tilegpu.order_end
func.func @order_of_the_kernel() attributes {tile.kernel, tile.warps = 8 : i32} {
  tilegpu.order_begin
  tilegpu.order_wait
  tilegpu.order_arrive
  tilegpu.order_end
  return
}

// CHECK-LABEL: func.func private @declared
func.func private @declared(i32) attributes {tile.teams = 2 : i32}
