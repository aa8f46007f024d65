// RUN: tile-opt %s -tile-allocate-shared | FileCheck %s

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
#d = #tilegpu.layout<register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []>
#t = #tilegpu.shared<panel = [6], linear = [1, 2, 4, 8, 16, 32], digits = [64]>

// The second one's life begins after the first one's end: one place serves both. The larger decides.
// CHECK-LABEL: func.func @reuse
// CHECK-SAME: tilegpu.shared_bytes = 256 : i32
// CHECK: tilegpu.smem_alloc {offset = 0 : i32} : <32xf32
// CHECK: tilegpu.smem_alloc {offset = 0 : i32} : <64xf32
func.func @reuse(%x: tensor<32xf32, #l>, %y: tensor<64xf32, #d>) {
  %a = tilegpu.smem_alloc : !tilegpu.smem<32xf32, #s>
  %b = tilegpu.smem_alloc : !tilegpu.smem<64xf32, #t>
  tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  %0 = tilegpu.smem_load %a : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  tilegpu.smem_store %y, %b : tensor<64xf32, #d>, !tilegpu.smem<64xf32, #t>
  %1 = tilegpu.smem_load %b : !tilegpu.smem<64xf32, #t> -> tensor<64xf32, #d>
  return
}

// CHECK-LABEL: func.func @alive_together
// CHECK-SAME: tilegpu.shared_bytes = 384 : i32
// CHECK: tilegpu.smem_alloc {offset = 256 : i32} : <32xf32
// CHECK: tilegpu.smem_alloc {offset = 0 : i32} : <64xf32
func.func @alive_together(%x: tensor<32xf32, #l>, %y: tensor<64xf32, #d>) {
  %a = tilegpu.smem_alloc : !tilegpu.smem<32xf32, #s>
  %b = tilegpu.smem_alloc : !tilegpu.smem<64xf32, #t>
  tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %y, %b : tensor<64xf32, #d>, !tilegpu.smem<64xf32, #t>
  %0 = tilegpu.smem_load %a : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  %1 = tilegpu.smem_load %b : !tilegpu.smem<64xf32, #t> -> tensor<64xf32, #d>
  return
}

// CHECK-LABEL: func.func @none
// CHECK-SAME: tilegpu.shared_bytes = 0 : i32
func.func @none() { return }

// Teams have memory of their own before what they have in common, which it shares no bytes with though they are not alive together.
// CHECK-LABEL: func.func @teams
// CHECK-SAME: tilegpu.shared_bytes = 896 : i32
// CHECK-SAME: tilegpu.team_bytes = 256 : i32
// CHECK: tilegpu.smem_alloc {offset = 0 : i32} : <64xf32
// CHECK: tilegpu.smem_alloc {offset = 768 : i32, scope = #tilegpu.scope<block>} : <32xf32
func.func @teams(%x: tensor<32xf32, #l>, %y: tensor<64xf32, #d>) attributes {tile.teams = 3 : i32} {
  %b = tilegpu.smem_alloc : !tilegpu.smem<64xf32, #t>
  %a = tilegpu.smem_alloc {scope = #tilegpu.scope<block>} : !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %x, %a : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  tilegpu.smem_store %y, %b : tensor<64xf32, #d>, !tilegpu.smem<64xf32, #t>
  return
}
