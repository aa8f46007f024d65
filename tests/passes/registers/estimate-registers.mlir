// Words that are in use at the worst place, and what a kernel has besides: six, eight more where the assembler is told to take
// all registers that there are.
// RUN: tile-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(tile-estimate-registers{target=sm_90a tell-always=true}))'

// A tile of 16 registers of f32 is loaded and doubled; of f16 it takes half as many. What only the next operation takes has no
// registers of its own, nor has a parameter, which instructions read from constant memory.
#l = #tilegpu.layout<register = [[1], [2], [128], [256]], lane = [[4], [8], [16], [32], [64]], warp = []>
func.func @elementwise(%p: !tile.ptr<f32>, %n: i32) attributes {tile.kernel, tile.warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.make_view %p, extents [%n], strides [%c1] : i32 -> !tile.view<1xf32>
  // expected-remark @+1 {{registers: a thread needs about 22, 22 of 255 are expected}}
  %x = tile.view_load %v[%c0] {tilegpu.access = #tilegpu.access<order = [0], vector = 4, bounds = [none]>} : !tile.view<1xf32> -> tensor<512xf32, #l>
  %y = arith.addf %x, %x : tensor<512xf32, #l>
  tile.view_store %y, %v[%c0] {tilegpu.access = #tilegpu.access<order = [0], vector = 4, bounds = [none]>} : tensor<512xf32, #l>, !tile.view<1xf32>
  return
}

// -----

#l = #tilegpu.layout<register = [[1], [2], [128], [256]], lane = [[4], [8], [16], [32], [64]], warp = []>
func.func @narrow(%p: !tile.ptr<f16>, %n: i32) attributes {tile.kernel, tile.warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.make_view %p, extents [%n], strides [%c1] : i32 -> !tile.view<1xf16>
  // expected-remark @+1 {{registers: a thread needs about 14, 14 of 255 are expected}}
  %x = tile.view_load %v[%c0] {tilegpu.access = #tilegpu.access<order = [0], vector = 4, bounds = [none]>} : !tile.view<1xf16> -> tensor<512xf16, #l>
  tile.view_store %x, %v[%c0] {tilegpu.access = #tilegpu.access<order = [0], vector = 4, bounds = [none]>} : tensor<512xf16, #l>, !tile.view<1xf16>
  return
}

// -----

// What a loop carries and what is computed for the next iteration are alive together; 32 registers each.
#l = #tilegpu.layout<register = [[32], [64], [128], [256], [512]], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @carried(%n: i32) attributes {tile.kernel, tile.warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1> : tensor<1024xi32, #l>
  %m = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<1024xi32, #tilegpu.shared<panel = [10], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512], digits = [1024]>>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %one) -> tensor<1024xi32, #l> : i32 {
    // expected-remark @+1 {{registers: a thread needs about 71, 72 of 255 are expected}}
    %x = tilegpu.smem_load %m : !tilegpu.smem<1024xi32, #tilegpu.shared<panel = [10], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512], digits = [1024]>> -> tensor<1024xi32, #l>
    %next = arith.addi %sum, %x : tensor<1024xi32, #l>
    scf.yield %next : tensor<1024xi32, #l>
  }
  tilegpu.smem_store %last, %m : tensor<1024xi32, #l>, !tilegpu.smem<1024xi32, #tilegpu.shared<panel = [10], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512], digits = [1024]>>
  return
}

// -----

// Warps that compute and those that fill rings have limits of their own.
#l = #tilegpu.layout<register = [[256], [512], [1024], [2048], [4096], [8192]], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64], [128]]>
#s = #tilegpu.shared<panel = [14], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192], digits = [16384]>
#b = #tilegpu.shared<panel = [1], linear = [1], digits = [2]>
func.func @roles(%n: i32) attributes {tile.kernel, tile.warps = 8 : i32} {
  %m = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<16384xf32, #s>
  %full = tilegpu.smem_alloc {offset = 65536 : i32} : !tilegpu.smem<2xi64, #b>
  tilegpu.warp_specialize [#tilegpu.role<consumers, warps = 8, active = 8, registers = 240>,
                           #tilegpu.role<producer, warps = 4, active = 1, registers = 24>] {
    // expected-remark @+1 {{registers: a thread that computes needs about 70, 75 of 240 are expected}}
    %x = tilegpu.smem_load %m : !tilegpu.smem<16384xf32, #s> -> tensor<16384xf32, #l>
    tilegpu.smem_store %x, %m : tensor<16384xf32, #l>, !tilegpu.smem<16384xf32, #s>
  }, {
    // expected-remark @+1 {{registers: a thread that fills rings needs about 7, 7 of 24 are expected}}
    %at = arith.muli %n, %n : i32
    tilegpu.elect {
      tilegpu.mbarrier_expect 0 at %full[%at] : !tilegpu.smem<2xi64, #b>
    } {scope = #tilegpu.scope<block>}
  }
  return
}

// -----

// A factor in registers stays there until the product's wait: 64 registers of sums, 32 of the factor, in pairs.
#acc = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#v = #tilegpu.shared<panel = [7, 6], linear = [1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048, 4096], digits = [0, 8192]>
#p = #tilegpu.shared<panel = [6, 7], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096], digits = [0, 0]>
func.func @in_flight() attributes {tile.kernel, tile.warps = 4 : i32} {
  %values = tilegpu.smem_alloc {alignment = 1024 : i32, offset = 0 : i32} : !tilegpu.smem<128x128xf16, #v>
  %weights = tilegpu.smem_alloc {offset = 32768 : i32} : !tilegpu.smem<64x128xf16, #p>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32, #acc>
  %w = tilegpu.smem_load %weights : !tilegpu.smem<64x128xf16, #p> -> tensor<64x128xf16, #acc>
  // expected-remark @+1 {{registers: a thread needs about 102, 107 of 255 are expected}}
  %begun = tilegpu.dot_async %w, %values, %zero {tilegpu.a_from_registers, tilegpu.variant = #tilegpu.dot<wgmma>}
    : tensor<64x128xf16, #acc>, !tilegpu.smem<128x128xf16, #v>, tensor<64x128xf32, #acc>
  %sums = tilegpu.dot_wait %begun pending 0 : !tilegpu.in_flight<tensor<64x128xf32, #acc>> -> tensor<64x128xf32, #acc>
  %narrow = tile.convert %sums : tensor<64x128xf32, #acc> -> tensor<64x128xf16, #acc>
  tilegpu.smem_store %narrow, %weights : tensor<64x128xf16, #acc>, !tilegpu.smem<64x128xf16, #p>
  return
}
