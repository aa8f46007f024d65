// RUN: tile-opt %s -tile-lower-rings -split-input-file -verify-diagnostics

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @two_slots() {
  // expected-error @+1 {{has 2 slots; rings filled by plain stores have one slot}}
  %r = tilegpu.ring_alloc : !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @ring_escapes() -> !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>> {
  %r = tilegpu.ring_alloc : !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
  // expected-error @+1 {{is not an operation on rings that this pass knows}}
  return %r : !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
}
