// RUN: tile-opt %s -pass-pipeline='builtin.module(func.func(tile-allocate-shared{target=sm_86}))' -split-input-file -verify-diagnostics
// RUN: not tile-opt %s -pass-pipeline='builtin.module(func.func(tile-allocate-shared{target=sm_1}))' -split-input-file 2>&1 | FileCheck %s

// CHECK: unknown target 'sm_1'; known: sm_80, sm_86, sm_89, sm_90, sm_90a

#l = #tilegpu.layout<register = [[32], [64], [128], [256], [512], [1024], [2048], [4096], [8192]], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [14], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192], digits = [16384]>
// expected-error @+2 {{shared memory: the kernel needs 131072 bytes a block, sm_86 allows 101376; use smaller tiles}}
// expected-note-re @+1 {{most for a tile of 16384 f32 (65536 bytes, {{.*}}allocate-shared-errors.mlir:{{[0-9]+}}), a tile of 16384 f32 (65536 bytes, {{.*}}allocate-shared-errors.mlir:{{[0-9]+}})}}
func.func @too_much(%x: tensor<16384xf32, #l>) {
  %a = tilegpu.smem_alloc : !tilegpu.smem<16384xf32, #s>
  %b = tilegpu.smem_alloc : !tilegpu.smem<16384xf32, #s>
  tilegpu.smem_store %x, %a : tensor<16384xf32, #l>, !tilegpu.smem<16384xf32, #s>
  tilegpu.smem_store %x, %b : tensor<16384xf32, #l>, !tilegpu.smem<16384xf32, #s>
  %0 = tilegpu.smem_load %a : !tilegpu.smem<16384xf32, #s> -> tensor<16384xf32, #l>
  %1 = tilegpu.smem_load %b : !tilegpu.smem<16384xf32, #s> -> tensor<16384xf32, #l>
  return
}
