// The fills of a ring become the region of a producer, with the loops and scalars that they alone depend on; the consumers have the rest,
// and not what only fills took.
// RUN: tile-opt %s -tile-specialize-warps=target=sm_90a | FileCheck %s

#s = #tilegpu.shared<panel = [3, 6], linear = [1, 2, 4, 8, 16, 32, 72, 144, 288], digits = [512, 512]>
#b = #tilegpu.shared<panel = [1], linear = [1], digits = [2]>

// CHECK-LABEL: func.func @fills(
// CHECK: %[[STAGES:.*]] = tilegpu.smem_alloc stages 2
// CHECK: %[[FULL:.*]] = tilegpu.smem_alloc {
// CHECK: %[[EMPTY:.*]] = tilegpu.smem_alloc {
// CHECK: tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 8, active = 8, registers = 240>, #tilegpu.role<producer, warps = 4, active = 1, registers = 24>] {
// CHECK:   tilegpu.elect {
// CHECK:     tilegpu.mbarrier_init %[[FULL]]
// CHECK:     tilegpu.mbarrier_init %[[EMPTY]] arrivals 8
// CHECK:   }
// CHECK:   tilegpu.barrier {scope = #tilegpu.scope<block>}
// CHECK:   scf.for
// CHECK-NOT: iter_args
// CHECK:     tilegpu.mbarrier_wait %[[FULL]]
// CHECK:     tilegpu.mbarrier_arrive %[[EMPTY]]
// CHECK-NOT: tensor_copy
// CHECK:   tilegpu.loop_plan
// CHECK:   tilegpu.barrier{{$}}
// CHECK: }, {
// CHECK-NOT: mbarrier_init
// CHECK:   tilegpu.barrier {scope = #tilegpu.scope<block>}
// CHECK:   scf.for %[[I:.*]] = {{.*}} iter_args(%[[AT:.*]] = {{.*}}) -> (i32)
// CHECK:     tilegpu.elect {
// CHECK:       tilegpu.mbarrier_wait %[[EMPTY]]
// CHECK:       tilegpu.mbarrier_expect 1024 at %[[FULL]]
// CHECK:       tilegpu.tensor_copy {{.*}}[%[[AT]], %[[AT]]]
// CHECK:     } {scope = #tilegpu.scope<block>}
// CHECK-NOT: mbarrier_arrive
// CHECK:     %[[NEXT:.*]] = arith.addi %[[AT]],
// CHECK-NOT: tilegpu.loop_plan
// CHECK:     scf.yield %[[NEXT]] : i32
// CHECK-NOT: tilegpu.barrier
// CHECK: return
func.func @fills(%p: !tile.ptr<f16> {tile.param = #tile.param<pointer, 0>}, %n: i32) attributes {tile.kernel, tile.warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.make_view %p, extents [%n, %n], strides [%n, %c1] : i32 -> !tile.view<2xf16>
  %m = tilegpu.smem_alloc stages 2 {alignment = 1024 : i32, offset = 0 : i32} : !tilegpu.smem<8x64xf16, #s>
  %full = tilegpu.smem_alloc {offset = 2048 : i32} : !tilegpu.smem<2xi64, #b>
  %empty = tilegpu.smem_alloc {offset = 2176 : i32} : !tilegpu.smem<2xi64, #b>
  tilegpu.elect {
    tilegpu.mbarrier_init %full : !tilegpu.smem<2xi64, #b>
    tilegpu.mbarrier_init %empty arrivals 8 : !tilegpu.smem<2xi64, #b>
  }
  tilegpu.barrier {scope = #tilegpu.scope<block>}
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%at = %c0) -> i32 : i32 {
    %stage = tilegpu.smem_stage %m at %c0 : !tilegpu.smem<8x64xf16, #s>
    tilegpu.elect {
      tilegpu.mbarrier_wait %empty[%c0] parity %c1 : !tilegpu.smem<2xi64, #b>
      tilegpu.mbarrier_expect 1024 at %full[%c0] : !tilegpu.smem<2xi64, #b>
      tilegpu.tensor_copy %v[%at, %at], %stage, %full[%c0] shape [8, 64]
        {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>}
        : !tile.view<2xf16>, !tilegpu.smem<8x64xf16, #s>, !tilegpu.smem<2xi64, #b>
    } {scope = #tilegpu.scope<block>}
    tilegpu.mbarrier_wait %full[%c0] parity %c0 : !tilegpu.smem<2xi64, #b>
    tilegpu.mbarrier_arrive %empty[%c0] : !tilegpu.smem<2xi64, #b>
    %next = arith.addi %at, %c1 : i32
    scf.yield %next : i32
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", producer = true>}
  tilegpu.barrier
  return
}

// One warpgroup has registers enough; nobody hands any over.
// CHECK-LABEL: func.func @one_group(
// CHECK: tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 4, active = 4>, #tilegpu.role<producer, warps = 4, active = 1>] {
// CHECK: tilegpu.barrier {scope = #tilegpu.scope<block>}
func.func @one_group(%n: i32) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %full = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<2xi64, #b>
  tilegpu.barrier {scope = #tilegpu.scope<block>}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.elect {
      tilegpu.mbarrier_expect 0 at %full[%c0] : !tilegpu.smem<2xi64, #b>
    } {scope = #tilegpu.scope<block>}
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", producer = true>}
  return
}

// Without a loop that asks for it nothing changes.
// CHECK-LABEL: func.func @not_asked(
// CHECK-NOT: warp_specialize
func.func @not_asked() attributes {tile.kernel, tile.warps = 8 : i32} {
  tilegpu.barrier {scope = #tilegpu.scope<block>}
  return
}
