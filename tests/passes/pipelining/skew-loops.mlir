// RUN: tile-opt %s -tile-skew-loops -cse | FileCheck %s
// RUN: tile-opt %s -tile-skew-loops -cse -tile-lower-rings | FileCheck %s --check-prefix=LOWER

#a = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tilegpu.layout<register = [[1, 0], [8, 0], [0, 8]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#c = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#s = #tilegpu.shared<panel = [4, 4], linear = [1, 2, 4, 8, 16, 32, 64, 128], digits = [256, 256]>
#access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [none, none]>
!memory = !tilegpu.smem<16x16xf16, #s>
!ring = !tilegpu.ring<3 x !memory, !memory>
!left = tensor<16x16xf16, #a>
!right = tensor<16x16xf16, #b>
!sums = tensor<16x16xf32, #c>

// The second product of each iteration lags behind: what it multiplies crosses, the second tile of the fill is named again.
// Both products of an iteration stand together. The last iteration fills nothing.
// CHECK-LABEL: func.func @two_products
// CHECK-SAME: %[[N:[^:]*]]: i32
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %c0_i32, %[[N]]
// CHECK: %[[RESULT:.*]] = scf.if %[[ANY]] -> (tensor<16x16xf32
// CHECK: %[[G0:.*]]:2 = tilegpu.consumer_wait %[[R:.*]][%c0_i32]
// CHECK: %[[K0:.*]] = tilegpu.smem_load %[[G0]]#0
// CHECK: %[[S0:.*]] = tile.dot %{{.*}}, %[[K0]], %[[ZERO:.*]] :
// CHECK: %[[NARROW0:.*]] = arith.truncf %[[S0]]
// CHECK: %[[W0:.*]] = tilegpu.convert_layout %[[NARROW0]]
// CHECK: %[[BOUND:.*]] = arith.subi %[[N]], %c1_i32
// CHECK: %[[F:.*]]:3 = scf.for %[[I:.*]] = %c0_i32 to %[[BOUND]] step %c1_i32 iter_args(%[[W:.*]] = %[[W0]], %[[O:.*]] = %[[ZERO]], %{{.*}} = %c0_i32)
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c1_i32
// CHECK: %[[G:.*]]:2 = tilegpu.consumer_wait %[[R]][%[[NEXT]]]
// CHECK: %[[K:.*]] = tilegpu.smem_load %[[G]]#0
// CHECK: %[[SNEXT:.*]] = tile.dot %{{.*}}, %[[K]], %[[ZERO]]
// CHECK: %[[T:.*]]:2 = tilegpu.ring_tiles %[[R]][%[[I]]]
// CHECK: %[[V:.*]] = tilegpu.smem_load %[[T]]#1
// CHECK: %[[ONEXT:.*]] = tile.dot %[[W]], %[[V]], %[[O]]
// CHECK: %[[LATER:.*]] = arith.addi %[[I]], %c2_i32
// CHECK: tilegpu.producer_acquire %[[R]][%[[LATER]]]
// CHECK: tilegpu.ring_copy
// CHECK: %[[NARROW:.*]] = arith.truncf %[[SNEXT]]
// CHECK: tilegpu.consumer_release %[[R]][%[[I]]]
// CHECK: %[[WNEXT:.*]] = tilegpu.convert_layout %[[NARROW]]
// CHECK: tilegpu.producer_commit %[[R]][%[[LATER]]]
// CHECK: scf.yield %[[WNEXT]], %[[ONEXT]], %[[NEXT]]
// CHECK: %[[TL:.*]]:2 = tilegpu.ring_tiles %[[R]][%[[F]]#2]
// CHECK-NOT: tilegpu.producer_acquire
// CHECK: %[[VL:.*]] = tilegpu.smem_load %[[TL]]#1
// CHECK: %[[LAST:.*]] = tile.dot %[[F]]#0, %[[VL]], %[[F]]#1
// CHECK: tilegpu.consumer_release %[[R]][%[[F]]#2]
// CHECK-NOT: tilegpu.producer_commit
// CHECK: scf.yield %[[LAST]]
// CHECK: scf.yield %[[ZERO]]
// CHECK: return %[[RESULT]]

// Fills i + 1, i and i - 1 are carried as distances; the latter's stage is filled again. No group may be on its way.
// LOWER-LABEL: func.func @two_products
// LOWER: tilegpu.async_wait 1
// LOWER: scf.for {{.*}}, %[[NEXT:[^ ]*]] = %c512_i32{{[^,]*}}, %[[NOW:[^ ]*]] = %c0_i32{{[^,]*}}, %[[BEFORE:[^ ]*]] = %c1024_i32
// LOWER: tilegpu.async_wait 0
// LOWER: tilegpu.smem_stage %[[K:.*]] at %[[NEXT]]
// LOWER: tilegpu.smem_stage %[[V:.*]] at %[[NOW]]
// LOWER: tilegpu.smem_stage %[[K]] at %[[BEFORE]]
// LOWER: scf.yield {{.*}}, %[[NEXT]], %[[NOW]] :
func.func @two_products(%n: i32, %v: !tile.view<2xf16>, %q: !left) -> !sums {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %c2_i32 = arith.constant 2 : i32
  %zero = arith.constant dense<0.0> : !sums
  %r = tilegpu.ring_alloc : !ring
  %p0 = arith.cmpi slt, %c0_i32, %n : i32
  %p1 = arith.cmpi slt, %c1_i32, %n : i32
  tilegpu.producer_acquire %r[%c0_i32] : !ring
  tilegpu.ring_copy %v[%c0_i32, %c0_i32], %r[%c0_i32] operand 0 shape [16, 16] if %p0 {tilegpu.access = #access} : !tile.view<2xf16>, !ring
  tilegpu.producer_commit %r[%c0_i32] : !ring
  tilegpu.producer_acquire %r[%c1_i32] : !ring
  tilegpu.ring_copy %v[%c1_i32, %c0_i32], %r[%c1_i32] operand 0 shape [16, 16] if %p1 {tilegpu.access = #access} : !tile.view<2xf16>, !ring
  tilegpu.producer_commit %r[%c1_i32] : !ring
  %o = scf.for %i = %c0_i32 to %n step %c1_i32 iter_args(%sums = %zero) -> !sums : i32 {
    %k, %m = tilegpu.consumer_wait %r[%i] : !ring
    %j = arith.addi %i, %c2_i32 : i32
    %bound = arith.subi %n, %c2_i32 : i32
    %p = arith.cmpi slt, %i, %bound : i32
    tilegpu.producer_acquire %r[%j] : !ring
    tilegpu.ring_copy %v[%j, %c0_i32], %r[%j] operand 0 shape [16, 16] if %p {tilegpu.access = #access} : !tile.view<2xf16>, !ring
    %keys = tilegpu.smem_load %k : !memory -> !right
    %scores = tile.dot %q, %keys, %zero : !left, !right, !sums
    %narrow = arith.truncf %scores : !sums to tensor<16x16xf16, #c>
    %weights = tilegpu.convert_layout %narrow : tensor<16x16xf16, #c> -> !left
    %values = tilegpu.smem_load %m : !memory -> !right
    %next = tile.dot %weights, %values, %sums : !left, !right, !sums
    tilegpu.consumer_release %r[%i] : !ring
    tilegpu.producer_commit %r[%j] : !ring
    scf.yield %next : !sums
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 3, stages = 3, reason = "as asked", skewed = true>}
  return %o : !sums
}

// A ring that is not filled ahead leaves nothing to be ahead with.
// CHECK-LABEL: func.func @not_filled_ahead
// CHECK-NOT: scf.if
// LOWER-LABEL: func.func @not_filled_ahead
func.func @not_filled_ahead(%n: i32, %v: !tile.view<2xf16>, %q: !left) -> !sums {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !sums
  %r = tilegpu.ring_alloc : !tilegpu.ring<1 x !memory, !memory>
  %o = scf.for %i = %c0_i32 to %n step %c1_i32 iter_args(%sums = %zero) -> !sums : i32 {
    tilegpu.producer_acquire %r[%i] : !tilegpu.ring<1 x !memory, !memory>
    tilegpu.producer_commit %r[%i] : !tilegpu.ring<1 x !memory, !memory>
    %k, %m = tilegpu.consumer_wait %r[%i] : !tilegpu.ring<1 x !memory, !memory>
    %keys = tilegpu.smem_load %k : !memory -> !right
    %scores = tile.dot %q, %keys, %zero : !left, !right, !sums
    %narrow = arith.truncf %scores : !sums to tensor<16x16xf16, #c>
    %weights = tilegpu.convert_layout %narrow : tensor<16x16xf16, #c> -> !left
    %values = tilegpu.smem_load %m : !memory -> !right
    %next = tile.dot %weights, %values, %sums : !left, !right, !sums
    tilegpu.consumer_release %r[%i] : !tilegpu.ring<1 x !memory, !memory>
    scf.yield %next : !sums
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 3, stages = 3, reason = "as asked", skewed = true>}
  return %o : !sums
}
