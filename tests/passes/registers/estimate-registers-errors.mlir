// RUN: tile-opt %s -tile-estimate-registers=target=sm_90a -split-input-file -verify-diagnostics
// RUN: not tile-opt %s -pass-pipeline='builtin.module(func.func(tile-estimate-registers{target=sm_1}))' -split-input-file 2>&1 | FileCheck %s

// CHECK: unknown target 'sm_1'; known: sm_80, sm_86, sm_89, sm_90, sm_90a

// 512 registers of a thread.
#l = #tilegpu.layout<register = [[128], [256], [512], [1024], [2048], [4096], [8192], [16384], [32768]], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
#s = #tilegpu.shared<panel = [16], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768], digits = [65536]>
#acc = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tilegpu.shared<panel = [6, 4], linear = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512], digits = [1024, 1024]>
#b = #tilegpu.shared<panel = [4, 3], linear = [16, 32, 64, 1, 2, 4, 8], digits = [128, 128]>
// expected-error @+1 {{registers: a thread needs about 522, in blocks of 128 threads it can have 255; use more warps or smaller tiles}}
func.func @too_large() attributes {tile.kernel, tile.warps = 4 : i32} {
  %m = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<65536xf32, #s>
  %a = tilegpu.smem_alloc {alignment = 1024 : i32, offset = 0 : i32} : !tilegpu.smem<64x16xf16, #a>
  %b = tilegpu.smem_alloc {alignment = 1024 : i32, offset = 2048 : i32} : !tilegpu.smem<16x8xf16, #b>
  %zero = arith.constant dense<0.0> : tensor<64x8xf32, #acc>
  %x = tilegpu.smem_load %m : !tilegpu.smem<65536xf32, #s> -> tensor<65536xf32, #l>
  // expected-note @+1 {{most are in use at tilegpu.dot_async}}
  %d = tilegpu.dot_async %a, %b, %zero : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #acc>
  %e = tilegpu.dot_wait %d pending 0 : !tilegpu.in_flight<tensor<64x8xf32, #acc>> -> tensor<64x8xf32, #acc>
  tilegpu.barrier
  tilegpu.smem_store %x, %m : tensor<65536xf32, #l>, !tilegpu.smem<65536xf32, #s>
  return
}

// -----

// Sixteen warps leave 128 registers a thread; more warps would leave fewer.
#l = #tilegpu.layout<register = [[512], [1024], [2048], [4096], [8192], [16384], [32768], [65536]], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64], [128], [256]]>
#s = #tilegpu.shared<panel = [17], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536], digits = [131072]>
#acc = #tilegpu.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [0, 0], [0, 0]]>
#a = #tilegpu.shared<panel = [6, 4], linear = [1, 2, 4, 8, 16, 32, 72, 128, 256, 512], digits = [1024, 1024]>
#b = #tilegpu.shared<panel = [4, 3], linear = [16, 32, 64, 1, 2, 4, 8], digits = [128, 128]>
// expected-error @+1 {{registers: a thread needs about 266, in blocks of 512 threads it can have 128; use smaller tiles}}
func.func @many_threads() attributes {tile.kernel, tile.warps = 16 : i32} {
  %m = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<131072xf32, #s>
  %a = tilegpu.smem_alloc {alignment = 1024 : i32, offset = 0 : i32} : !tilegpu.smem<64x16xf16, #a>
  %b = tilegpu.smem_alloc {alignment = 1024 : i32, offset = 2048 : i32} : !tilegpu.smem<16x8xf16, #b>
  %zero = arith.constant dense<0.0> : tensor<64x8xf32, #acc>
  %x = tilegpu.smem_load %m : !tilegpu.smem<131072xf32, #s> -> tensor<131072xf32, #l>
  // expected-note @+1 {{most are in use at tilegpu.dot_async}}
  %d = tilegpu.dot_async %a, %b, %zero : !tilegpu.smem<64x16xf16, #a>, !tilegpu.smem<16x8xf16, #b>, tensor<64x8xf32, #acc>
  %e = tilegpu.dot_wait %d pending 0 : !tilegpu.in_flight<tensor<64x8xf32, #acc>> -> tensor<64x8xf32, #acc>
  tilegpu.barrier
  tilegpu.smem_store %x, %m : tensor<131072xf32, #l>, !tilegpu.smem<131072xf32, #s>
  return
}

// -----

// Where no product is the estimate is too far off to refuse anything.
#l = #tilegpu.layout<register = [[32], [64], [128], [256], [512], [1024], [2048], [4096], [8192]], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [14], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192], digits = [16384]>
// expected-remark @+1 {{registers: a thread needs about 518 and can have 255: some of what it holds may be spilled}}
func.func @no_product() attributes {tile.kernel, tile.warps = 1 : i32} {
  %m = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<16384xf32, #s>
  %x = tilegpu.smem_load %m : !tilegpu.smem<16384xf32, #s> -> tensor<16384xf32, #l>
  tilegpu.barrier
  tilegpu.smem_store %x, %m : tensor<16384xf32, #l>, !tilegpu.smem<16384xf32, #s>
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
