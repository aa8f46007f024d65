// What the passes before should have dealt with is refused by name.
// RUN: tile-opt %s -tile-lower-to-scalars -split-input-file -verify-diagnostics

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
#b = #tilegpu.layout<register = [], lane = [[2], [4], [8], [16], [32]], warp = [[1]]>
func.func @change_between_warps() attributes {tile.kernel, tile.warps = 2 : i32} {
  %x = tile.arange 0, 64 : tensor<64xi32, #a>
  // expected-error @+1 {{needs shared memory; the pass that expands such changes has not run}}
  %y = tilegpu.convert_layout %x : tensor<64xi32, #a> -> tensor<64xi32, #b>
  return
}

// -----

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
func.func @reduction_over_warps() attributes {tile.kernel, tile.warps = 2 : i32} {
  %x = tile.arange 0, 64 : tensor<64xi32, #a>
  // expected-error @+1 {{spreads its axis over warps; the pass that expands such reductions has not run}}
  %y = tile.reduce %x axis 0 : tensor<64xi32, #a> -> i32 {
  ^bb0(%l: i32, %r: i32):
    tile.yield %l : i32
  }
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @no_offset() attributes {tile.kernel} {
  // expected-error @+1 {{has no offset; the pass that places allocations has not run}}
  %m = tilegpu.smem_alloc : !tilegpu.smem<32xf32, #s>
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @ring() attributes {tile.kernel} {
  // expected-error @+1 {{has no lowering}}
  %m = tilegpu.ring_alloc : !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
  return
}

// -----

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @different_elements() attributes {tile.kernel} {
  // expected-error @+1 {{only constants with one value everywhere are supported on tiles}}
  %c = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]> : tensor<32xi32, #a>
  return
}
