// Calls touch the shared memory of the function that is called, and of those it calls, alone.
// RUN: tile-opt %s -mlir-disable-threading -pass-pipeline='builtin.module(func.func(tile-allocate-shared,tile-place-barriers))' | FileCheck %s

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>

// CHECK-LABEL: func.func private @plain
// CHECK-SAME: tilegpu.shared_bytes = 0 : i32
func.func private @plain(%x: tensor<32xf32, #l>) -> tensor<32xf32, #l> attributes {tile.callable} {
  %y = arith.addf %x, %x : tensor<32xf32, #l>
  return %y : tensor<32xf32, #l>
}

// CHECK-LABEL: func.func private @through
// CHECK-SAME: tilegpu.shared_bytes = 128 : i32
// CHECK: smem_alloc {offset = 0 : i32}
func.func private @through(%x: tensor<32xf32, #l>) -> tensor<32xf32, #l> attributes {tile.callable} {
  %a = tilegpu.smem_alloc : !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  %0 = tilegpu.smem_load %a : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  return %0 : tensor<32xf32, #l>
}

// CHECK-LABEL: func.func private @calling
// CHECK-SAME: tilegpu.shared_bytes = 128 : i32
func.func private @calling(%x: tensor<32xf32, #l>) -> tensor<32xf32, #l> attributes {tile.callable} {
  %y = call @through(%x) : (tensor<32xf32, #l>) -> tensor<32xf32, #l>
  return %y : tensor<32xf32, #l>
}

// The kernel's own memory lies behind; two calls in a row share theirs.
// CHECK-LABEL: func.func @kernel
// CHECK-SAME: tilegpu.shared_bytes = 256 : i32
// CHECK: tilegpu.smem_alloc {offset = 128 : i32}
// CHECK-NEXT: tilegpu.smem_store
// CHECK-NEXT: call @plain
// CHECK-NEXT: call @through
// CHECK-NEXT: tilegpu.barrier {reason = "write after write of shared memory bytes 0 to 127"}
// CHECK-NEXT: call @calling
// CHECK-NEXT: tilegpu.smem_load
func.func @kernel(%x: tensor<32xf32, #l>) {
  %a = tilegpu.smem_alloc : !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  %0 = call @plain(%x) : (tensor<32xf32, #l>) -> tensor<32xf32, #l>
  %1 = call @through(%x) : (tensor<32xf32, #l>) -> tensor<32xf32, #l>
  %2 = call @calling(%x) : (tensor<32xf32, #l>) -> tensor<32xf32, #l>
  %3 = tilegpu.smem_load %a : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  return
}
