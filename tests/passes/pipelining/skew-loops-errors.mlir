// RUN: tile-opt %s -tile-skew-loops -split-input-file -verify-diagnostics

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
!ring = !tilegpu.ring<3 x !tilegpu.smem<32xf32, #s>>
func.func @no_products(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tilegpu.ring_alloc : !ring
  // expected-error @+1 {{cannot be skewed as it is planned: no product of its body that depends on loads alone comes before one that does not}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.producer_acquire %r[%i] : !ring
    tilegpu.producer_commit %r[%i] : !ring
    %m = tilegpu.consumer_wait %r[%i] : !ring
    tilegpu.consumer_release %r[%i] : !ring
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 3, stages = 3, reason = "as asked", skewed = true>}
  return
}
