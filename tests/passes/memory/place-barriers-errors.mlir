// RUN: tile-opt %s -split-input-file -allow-unregistered-dialect -tile-place-barriers -verify-diagnostics
// What the pass does not know is refused: an access that it overlooked would race.

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @unknown_user(%x: tensor<32xf32, #l>) {
  %m = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %m : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  // expected-error @+1 {{touches shared memory, but does not say which bytes: barriers cannot be placed}}
  "other.read"(%m) : (!tilegpu.smem<32xf32, #s>) -> ()
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @ring_that_was_not_lowered(%x: tensor<32xf32, #l>, %stage: i32) {
  // expected-error @+1 {{touches shared memory, but does not say which bytes}}
  %r = tilegpu.ring_alloc : !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
  tilegpu.ring_put %x, %r[%stage] operand 0 : tensor<32xf32, #l>, !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @unknown_body(%x: tensor<32xf32, #l>) {
  %m = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<32xf32, #s>
  // expected-error @+1 {{has a body that accesses memory, but barriers cannot be placed in it}}
  scf.execute_region {
    tilegpu.smem_store %x, %m : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
    scf.yield
  }
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
// Bodies that compute with values alone are no concern of barriers.
func.func @known_body(%x: tensor<32xf32, #l>) -> f32 {
  %y = tile.reduce %x axis 0 : tensor<32xf32, #l> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  return %y : f32
}
