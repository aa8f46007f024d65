// RUN: tile-opt %s -tile-estimate-registers -split-input-file -verify-diagnostics
// RUN: not tile-opt %s -pass-pipeline='builtin.module(func.func(tile-estimate-registers{target=sm_1}))' -split-input-file 2>&1 | FileCheck %s

// CHECK: unknown target 'sm_1'; known: sm_80, sm_86, sm_89, sm_90a

// 512 registers of one warp's threads.
#l = #tilegpu.layout<register = [[32], [64], [128], [256], [512], [1024], [2048], [4096], [8192]], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [14], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192], digits = [16384]>
// expected-error @+1 {{registers: a thread needs about 518, in blocks of 32 threads it can have 255; use more warps or smaller tiles}}
func.func @too_large() attributes {tile.kernel, tile.warps = 1 : i32} {
  %m = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<16384xf32, #s>
  // expected-note @+1 {{most are in use at tilegpu.smem_load}}
  %x = tilegpu.smem_load %m : !tilegpu.smem<16384xf32, #s> -> tensor<16384xf32, #l>
  tilegpu.barrier
  tilegpu.smem_store %x, %m : tensor<16384xf32, #l>, !tilegpu.smem<16384xf32, #s>
  return
}

// -----

// Sixteen warps leave 128 registers a thread; more warps would leave fewer.
#l = #tilegpu.layout<register = [[512], [1024], [2048], [4096], [8192], [16384], [32768], [65536]], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64], [128], [256]]>
#s = #tilegpu.shared<panel = [17], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536], digits = [131072]>
// expected-error @+1 {{registers: a thread needs about 262, in blocks of 512 threads it can have 128; use smaller tiles}}
func.func @many_threads() attributes {tile.kernel, tile.warps = 16 : i32} {
  %m = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<131072xf32, #s>
  // expected-note @+1 {{most are in use at tilegpu.smem_load}}
  %x = tilegpu.smem_load %m : !tilegpu.smem<131072xf32, #s> -> tensor<131072xf32, #l>
  tilegpu.barrier
  tilegpu.smem_store %x, %m : tensor<131072xf32, #l>, !tilegpu.smem<131072xf32, #s>
  return
}

// -----

// What is near the limit is compiled: the estimate is not that exact.
#l = #tilegpu.layout<register = [[32], [64], [128], [256], [512], [1024], [2048], [4096]], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [13], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096], digits = [8192]>
// expected-remark @+1 {{registers: a thread needs about 262 and can have 255: some of what it holds may be spilled}}
func.func @near() attributes {tile.kernel, tile.warps = 1 : i32} {
  %m = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<8192xf32, #s>
  %x = tilegpu.smem_load %m : !tilegpu.smem<8192xf32, #s> -> tensor<8192xf32, #l>
  tilegpu.barrier
  tilegpu.smem_store %x, %m : tensor<8192xf32, #l>, !tilegpu.smem<8192xf32, #s>
  return
}

// -----

// Who says how many registers a thread may have gets them.
#l = #tilegpu.layout<register = [[32], [64], [128], [256], [512], [1024]], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [11], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024], digits = [2048]>
// expected-remark @+1 {{registers: a thread needs about 70 and can have 32, as the kernel says: some of what it holds may be spilled}}
func.func @said() attributes {tile.kernel, tile.maxnreg = 32 : i32, tile.warps = 1 : i32} {
  %m = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<2048xf32, #s>
  %x = tilegpu.smem_load %m : !tilegpu.smem<2048xf32, #s> -> tensor<2048xf32, #l>
  tilegpu.barrier
  tilegpu.smem_store %x, %m : tensor<2048xf32, #l>, !tilegpu.smem<2048xf32, #s>
  return
}
