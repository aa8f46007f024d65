// RUN: tile-opt %s -tile-specialize-warps=target=sm_90a -split-input-file -verify-diagnostics

#b = #tilegpu.shared<panel = [1], linear = [1], digits = [2]>
// expected-error @+1 {{a warp cannot fill rings by itself: what is loaded, or how often, follows from an operation with effects}}
func.func @follows_from_effects(%n: i32) attributes {tile.kernel, tile.warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %full = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<2xi64, #b>
  %at = tile.inline_ptx "mov.u32 $0, %clock;" "=r" : () -> i32
  tilegpu.barrier {scope = #tilegpu.scope<block>}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.elect {
      tilegpu.mbarrier_expect 0 at %full[%at] : !tilegpu.smem<2xi64, #b>
    } {scope = #tilegpu.scope<block>}
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", producer = true>}
  return
}

// -----

#b = #tilegpu.shared<panel = [1], linear = [1], digits = [2]>
// expected-error @+1 {{a warp cannot fill rings by itself: what is loaded, or how often, follows from memory that the kernel writes}}
func.func @follows_from_written(%p: !tile.ptr<i32> {tile.param = #tile.param<pointer, 0>}, %n: i32) attributes {tile.kernel, tile.warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %full = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<2xi64, #b>
  tile.store %c1, %p : i32, !tile.ptr<i32>
  %count = tile.load %p : !tile.ptr<i32> -> i32
  tilegpu.barrier {scope = #tilegpu.scope<block>}
  scf.for %i = %c0 to %count step %c1 : i32 {
    tilegpu.elect {
      tilegpu.mbarrier_expect 0 at %full[%c0] : !tilegpu.smem<2xi64, #b>
    } {scope = #tilegpu.scope<block>}
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", producer = true>}
  return
}

// -----

#b = #tilegpu.shared<panel = [1], linear = [1], digits = [2]>
#t = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0], [0]]>
// expected-error @+1 {{a warp cannot fill rings by itself: what is loaded, or how often, follows from a tile}}
func.func @follows_from_tile(%n: i32) attributes {tile.kernel, tile.warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %full = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<2xi64, #b>
  %y = arith.constant dense<1> : tensor<32xi32, #t>
  %count = tile.reduce %y axis 0 : tensor<32xi32, #t> -> i32 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  }
  tilegpu.barrier {scope = #tilegpu.scope<block>}
  scf.for %i = %c0 to %count step %c1 : i32 {
    tilegpu.elect {
      tilegpu.mbarrier_expect 0 at %full[%c0] : !tilegpu.smem<2xi64, #b>
    } {scope = #tilegpu.scope<block>}
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", producer = true>}
  return
}

// -----

#b = #tilegpu.shared<panel = [1], linear = [1], digits = [2]>
// expected-error @+1 {{has 2 blocks; a kernel's control flow is scf.for, scf.if and scf.while}}
func.func @several_blocks(%n: i32) attributes {tile.kernel, tile.warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %full = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<2xi64, #b>
  tilegpu.barrier {scope = #tilegpu.scope<block>}
  cf.br ^next
^next:
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.elect {
      tilegpu.mbarrier_expect 0 at %full[%c0] : !tilegpu.smem<2xi64, #b>
    } {scope = #tilegpu.scope<block>}
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", producer = true>}
  return
}

// -----

#b = #tilegpu.shared<panel = [1], linear = [1], digits = [2]>
// expected-error @+1 {{has a loop with a producer warp, but returns values: roles are of kernels, which return nothing}}
func.func @results(%n: i32) -> i32 attributes {tile.warps = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %full = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<2xi64, #b>
  tilegpu.barrier {scope = #tilegpu.scope<block>}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (i32) : i32 {
    tilegpu.elect {
      tilegpu.mbarrier_expect 0 at %full[%c0] : !tilegpu.smem<2xi64, #b>
    } {scope = #tilegpu.scope<block>}
    %x = arith.addi %a, %i : i32
    scf.yield %x : i32
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 2, stages = 2, reason = "as asked", producer = true>}
  return %r : i32
}
