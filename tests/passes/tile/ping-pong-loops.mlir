// RUN: tile-opt %s -split-input-file -tile-ping-pong-loops -verify-diagnostics | FileCheck %s --check-prefixes=CHECK,NEST
// RUN: tile-opt %s -split-input-file -tile-ping-pong-loops -tile-flatten-loops | FileCheck %s --check-prefixes=CHECK,FLAT

// Two teams have every second outer index each; the producer warp, which loads for both, has all. A team waits for its turn before the
// steps of a tile and arrives after them. After the loop the team whose tile would come next takes the turn that was passed last.
// The flattened loop has the steps of the ordered barrier in the first and the last step of each tile.
// CHECK-LABEL: func.func @alternate
// CHECK-SAME: %[[M:[^:]*]]: i32, %[[N:[^:]*]]: i32, %[[P:[^:]*]]: !tile.ptr<i32>)
// CHECK-SAME: tile.teams = 2 : i32
// CHECK: %[[TILES:.*]] = arith.maxsi %[[M]], %c0
// CHECK: %[[TEAM:.*]] = tile.team_id
// CHECK: %[[OWNFIRST:.*]] = arith.addi %c0
// CHECK: %[[OWNSTEP:.*]] = arith.muli %c1{{.*}}, %c2
// CHECK: %[[FIRST:.*]] = tile.by_role %c0{{.*}}, %[[OWNFIRST]]
// CHECK: %[[STEP:.*]] = tile.by_role %c1{{.*}}, %[[OWNSTEP]]
// CHECK: %[[NEXT:.*]] = arith.remui %[[TILES]], %c2
// CHECK: %[[ISNEXT:.*]] = arith.cmpi eq, %[[NEXT]], %[[TEAM]]
// NEST: tilegpu.order_begin
// NEST-NEXT: scf.for %{{.*}} = %[[FIRST]] to %[[M]] step %[[STEP]]
// NEST: tilegpu.order_wait
// NEST-NEXT: scf.for
// NEST: } {tile.ping_pong, tile.warp_specialize}
// NEST-NEXT: tilegpu.order_arrive
// NEST-NEXT: tile.store
// NEST: } {tile.flatten}
// NEST-NEXT: scf.if %[[ISNEXT]] {
// NEST-NEXT: tilegpu.order_wait
// FLAT: %[[COUNT:.*]] = arith.maxsi %[[N]], %c0
// FLAT: %[[ALL:.*]] = arith.muli %{{.*}}, %[[COUNT]]
// FLAT: %[[ANY:.*]] = arith.cmpi sgt, %[[ALL]]
// FLAT: %[[OWN:.*]] = arith.muli %{{.*}}, %[[COUNT]]
// FLAT: scf.if %[[ANY]] {
// FLAT-NEXT: tilegpu.order_begin
// FLAT: scf.for {{.*}} to %[[OWN]] {{.*}} iter_args(%[[OUTER:.*]] = %[[FIRST]],
// FLAT: scf.if
// FLAT-NEXT: tilegpu.order_wait
// FLAT-NEXT: } {tilegpu.tile_step = #tilegpu.tile_step<first>}
// FLAT: tilegpu.order_arrive if %[[LAST:.*]] trip_count %[[COUNT]]
// FLAT-NEXT: scf.if %[[LAST]] {
// FLAT-NEXT: tile.store
// FLAT-NEXT: } {tilegpu.tile_step = #tilegpu.tile_step<last>}
// FLAT: arith.addi %[[OUTER]], %[[STEP]]
// FLAT: } {tile.ping_pong, tile.warp_specialize}
// FLAT-NEXT: scf.if %[[ISNEXT]] {
// FLAT-NEXT: tilegpu.order_wait
// FLAT: } else {
// FLAT: scf.for %{{.*}} = %[[FIRST]] to %[[M]] step %[[STEP]]
// FLAT-NOT: tilegpu.order
// FLAT: return
func.func @alternate(%m: i32, %n: i32, %p: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %m step %c1 : i32 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%a = %c0) -> (i32) : i32 {
      %b = arith.addi %a, %j : i32
      scf.yield %b : i32
    } {tile.warp_specialize}
    tile.store %s, %p : i32, !tile.ptr<i32>
  } {tile.flatten, tile.ping_pong}
  return
}

// -----

// CHECK-LABEL: func.func @not_flattened
// CHECK-NOT: order_wait
// CHECK: return
func.func @not_flattened(%m: i32, %n: i32, %p: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{ping_pong: the loop stays as it is: it has no .flatten()}}
  scf.for %i = %c0 to %m step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      tile.store %j, %p : i32, !tile.ptr<i32>
    } {tile.warp_specialize}
  } {tile.ping_pong}
  return
}

// -----

// CHECK-LABEL: func.func @without_a_producer
// CHECK-NOT: order_wait
// CHECK: return
func.func @without_a_producer(%m: i32, %n: i32, %p: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{ping_pong: the loop stays as it is: the loop inside has no .warp_specialize()}}
  scf.for %i = %c0 to %m step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      tile.store %j, %p : i32, !tile.ptr<i32>
    }
  } {tile.flatten, tile.ping_pong}
  return
}

// -----

// CHECK-LABEL: func.func @turns_of_groups
// CHECK-NOT: order_wait
// CHECK: return
func.func @turns_of_groups(%m: i32, %n: i32, %p: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{ping_pong: the loop stays as it is: the loop inside has .overlap_dots(), whose warpgroups take turns by themselves}}
  scf.for %i = %c0 to %m step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      tile.store %j, %p : i32, !tile.ptr<i32>
    } {tile.warp_specialize, tile.overlap_dots}
  } {tile.flatten, tile.ping_pong}
  return
}

// -----

// CHECK-LABEL: func.func @turns_of_other_teams
// CHECK-NOT: order_wait
// CHECK: return
func.func @turns_of_other_teams(%m: i32, %n: i32, %p: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 4 : i32, tile.teams = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{ping_pong: the loop stays as it is: the kernel has teams already}}
  scf.for %i = %c0 to %m step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      tile.store %j, %p : i32, !tile.ptr<i32>
    } {tile.warp_specialize}
  } {tile.flatten, tile.ping_pong}
  return
}

// -----

// CHECK-LABEL: func.func @turns_of_eight_warps
// CHECK-NOT: order_wait
// CHECK: return
func.func @turns_of_eight_warps(%m: i32, %n: i32, %p: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{ping_pong: the loop stays as it is: a team is a warpgroup of four warps, and the kernel has 8}}
  scf.for %i = %c0 to %m step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      tile.store %j, %p : i32, !tile.ptr<i32>
    } {tile.warp_specialize}
  } {tile.flatten, tile.ping_pong}
  return
}

// -----

// CHECK-LABEL: func.func @unrolled
// CHECK-NOT: order_wait
// CHECK: return
func.func @unrolled(%m: i32, %n: i32, %p: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{ping_pong: the loop stays as it is: the loop inside is unrolled, so that an iteration has several steps}}
  scf.for %i = %c0 to %m step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      tile.store %j, %p : i32, !tile.ptr<i32>
    } {tile.warp_specialize, tile.unroll = 2 : i32}
  } {tile.flatten, tile.ping_pong}
  return
}

// -----

// CHECK-LABEL: func.func @index
// CHECK-NOT: order_wait
// CHECK: return
func.func @index(%x: i32, %p: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 7 : index
  %n = arith.constant 9 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      tile.store %x, %p : i32, !tile.ptr<i32>
    } {tile.warp_specialize}
  } {tile.flatten, tile.ping_pong}
  return
}
