// Products that no instruction of sm_90a computes are refused, not computed wrongly.
// RUN: tile-opt %s -tile-lower-to-scalars=target=sm_90a -split-input-file -verify-diagnostics

#l = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#k = #tilegpu.shared<panel = [6, 5], linear = [1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024], digits = [2048, 2048]>
#n = #tilegpu.shared<panel = [5, 5], linear = [1, 2, 4, 8, 16, 32, 64, 144, 256, 512], digits = [1024, 1024]>
func.func @bytes_along_n(%c: i32) attributes {tile.kernel, tile.warps = 4 : i32} {
  %zero = arith.constant dense<0> : tensor<64x32xi32, #l>
  %a = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<64x32xi8, #k>
  %b = tilegpu.smem_alloc {offset = 2048 : i32} : !tilegpu.smem<32x32xi8, #n>
  // expected-error @+1 {{operands of 8 bits must have their neighbours in memory along K}}
  %d = tilegpu.dot_async %a, %b, %zero : !tilegpu.smem<64x32xi8, #k>, !tilegpu.smem<32x32xi8, #n>, tensor<64x32xi32, #l>
  return
}

// -----

#l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tilegpu.shared<panel = [6, 4], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512], digits = [1024, 1024]>
#b = #tilegpu.shared<panel = [4, 3], linear = [16, 32, 64, 1, 2, 4, 8], digits = [128, 128]>
func.func @without_swizzle() attributes {tile.kernel, tile.warps = 4 : i32} {
  %zero = arith.constant dense<0.0> : tensor<64x8xf32, #l>
  %a = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<64x16xf16, #a>
  %b = tilegpu.smem_alloc {offset = 2048 : i32} : !tilegpu.smem<16x8xf16, #b>
  // expected-error @+1 {{no descriptor reaches the elements where they lie in shared memory}}
  %d = tilegpu.dot_async %a, %b, %zero : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #l>
  return
}

// -----

#l = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tilegpu.shared<panel = [6, 4], linear = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512], digits = [1024, 1024]>
#b = #tilegpu.shared<panel = [4, 3], linear = [1, 2, 4, 8, 16, 32, 72], digits = [128, 128]>
func.func @no_types() attributes {tile.kernel, tile.warps = 4 : i32} {
  %zero = arith.constant dense<0.0> : tensor<64x8xf16, #l>
  %a = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<64x16xf16, #a>
  %b = tilegpu.smem_alloc {offset = 2048 : i32} : !tilegpu.smem<16x8xf16, #b>
  // expected-error @+1 {{no instruction for these types and sizes}}
  %d = tilegpu.dot_async %a, %b, %zero : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf16, #l>
  return
}

// -----

func.func @turn_of_one_group() attributes {tile.kernel, tile.warps = 4 : i32} {
  // expected-error @+1 {{needs 2 to 8 warpgroups, got 4 warps}}
  tilegpu.order_wait
  return
}

// -----

func.func @turn_of_half_a_group() attributes {tile.kernel, tile.warps = 2 : i32} {
  // expected-error @+1 {{needs 2 to 8 warpgroups, got 2 warps}}
  tilegpu.order_arrive
  return
}
