// Every operation, attribute and type of `tilegpu` is read back as it was printed.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-DAG: #[[ROWS:layout.*]] = #tilegpu.layout<register = {{\[}}[0, 1]], lane = {{\[}}[0, 2], [0, 4], [1, 0], [2, 0], [0, 0]], warp = {{\[}}[4, 0]]>
// CHECK-DAG: #[[LINE:layout.*]] = #tilegpu.layout<register = [], lane = {{\[}}[1], [2], [4], [8], [16]], warp = {{\[}}[32], [64]]>
// CHECK-DAG: #[[WARPS:layout.*]] = #tilegpu.layout<register = [], lane = {{\[}}[0], [0], [0], [0], [0]], warp = {{\[}}[1], [2]]>
// CHECK-DAG: #[[SWIZZLED:shared.*]] = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 12, 16], digits = [32, 32]>
#rows = #tilegpu.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [0, 0]], warp = [[4, 0]]>
#columns = #tilegpu.layout<register = [[1, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 0]], warp = [[0, 4]]>
#line = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
#warps = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1], [2]]>
#swizzled = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 12, 16], digits = [32, 32]>
#quad = #tilegpu.layout<register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = []>

// An odd factor of an extent is in registers and is not listed: 24 = 8 * 3.
// CHECK-LABEL: func.func @odd_extent
// CHECK-SAME: tensor<24x8xf16, #[[ROWS]]>
func.func @odd_extent(%x: tensor<24x8xf16, #rows>) { return }

// CHECK-LABEL: func.func @convert_layout
// CHECK: tilegpu.convert_layout %{{.*}} : tensor<8x8xf16, #[[ROWS]]> -> tensor<8x8xf16, #{{.*}}>
func.func @convert_layout(%x: tensor<8x8xf16, #rows>) -> tensor<8x8xf16, #columns> {
  %y = tilegpu.convert_layout %x : tensor<8x8xf16, #rows> -> tensor<8x8xf16, #columns>
  return %y : tensor<8x8xf16, #columns>
}

// CHECK-LABEL: func.func @reduce_partial
func.func @reduce_partial(%x: tensor<128xf32, #line>, %i: tensor<128xi32, #line>) {
  // CHECK: tilegpu.reduce_partial %{{.*}}, %{{.*}} axis 0 : tensor<128xf32, #[[LINE]]>, tensor<128xi32, #[[LINE]]> -> tensor<4xf32, #[[WARPS]]>, tensor<4xi32, #[[WARPS]]> {
  // CHECK: tilegpu.yield %{{.*}}, %{{.*}} : f32, i32
  %y, %j = tilegpu.reduce_partial %x, %i axis 0
      : tensor<128xf32, #line>, tensor<128xi32, #line> -> tensor<4xf32, #warps>, tensor<4xi32, #warps> {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %s = arith.addf %a, %b : f32
    %t = arith.addi %ai, %bi : i32
    tilegpu.yield %s, %t : f32, i32
  }
  return
}

// CHECK-LABEL: func.func @shared_memory
func.func @shared_memory(%x: tensor<4x8xf16, #quad>) -> tensor<4x8xf16, #quad> {
  // CHECK: %[[A:.*]] = tilegpu.smem_alloc : <4x8xf16, #[[SWIZZLED]]>
  // CHECK: tilegpu.smem_alloc {offset = 1024 : i32} : <4x8x!tile.ptr<f32>, #[[SWIZZLED]]>
  // CHECK: tilegpu.smem_store %{{.*}}, %[[A]] : tensor<4x8xf16, #{{.*}}>, <4x8xf16, #[[SWIZZLED]]>
  // CHECK: tilegpu.barrier
  // CHECK: tilegpu.smem_load %[[A]] : <4x8xf16, #[[SWIZZLED]]> -> tensor<4x8xf16, #{{.*}}>
  %a = tilegpu.smem_alloc : !tilegpu.smem<4x8xf16, #swizzled>
  %b = tilegpu.smem_alloc {offset = 1024 : i32} : <4x8x!tile.ptr<f32>, #swizzled>
  tilegpu.smem_store %x, %a : tensor<4x8xf16, #quad>, !tilegpu.smem<4x8xf16, #swizzled>
  tilegpu.barrier
  %y = tilegpu.smem_load %a : !tilegpu.smem<4x8xf16, #swizzled> -> tensor<4x8xf16, #quad>
  return %y : tensor<4x8xf16, #quad>
}

// CHECK-LABEL: func.func @rings
func.func @rings(%x: tensor<4x8xf16, #quad>, %v: !tile.view<3xf16>, %o: i32, %fill: i32, %p: i1) {
  // CHECK: %[[R:.*]] = tilegpu.ring_alloc : <3 x !tilegpu.smem<4x8xf16, #[[SWIZZLED]]>, !tilegpu.smem<4x8xf16, #[[SWIZZLED]]>>
  // CHECK: tilegpu.producer_acquire %[[R]][%{{.*}}] : <3 x
  // CHECK: tilegpu.ring_put %{{.*}}, %[[R]][%{{.*}}] operand 0 : tensor<4x8xf16, #{{.*}}>, <3 x
  // CHECK: tilegpu.ring_copy %{{.*}}[%{{.*}}], %[[R]][%{{.*}}] operand 1 shape [1, 4, 8] if %{{.*}} {tilegpu.access
  // CHECK: tilegpu.producer_commit %[[R]][%{{.*}}] : <3 x
  // CHECK: %{{.*}}:2 = tilegpu.consumer_wait %[[R]][%{{.*}}] : <3 x
  // CHECK: tilegpu.consumer_release %[[R]][%{{.*}}] : <3 x
  %r = tilegpu.ring_alloc : !tilegpu.ring<3 x !tilegpu.smem<4x8xf16, #swizzled>, !tilegpu.smem<4x8xf16, #swizzled>>
  tilegpu.producer_acquire %r[%fill] : !tilegpu.ring<3 x !tilegpu.smem<4x8xf16, #swizzled>, !tilegpu.smem<4x8xf16, #swizzled>>
  tilegpu.ring_put %x, %r[%fill] operand 0 : tensor<4x8xf16, #quad>, !tilegpu.ring<3 x !tilegpu.smem<4x8xf16, #swizzled>, !tilegpu.smem<4x8xf16, #swizzled>>
  tilegpu.ring_copy %v[%o, %o, %o], %r[%fill] operand 1 shape [1, 4, 8] if %p
    {tilegpu.access = #tilegpu.access<order = [2, 1, 0], vector = 8, bounds = [element, element, element]>}
    : !tile.view<3xf16>, !tilegpu.ring<3 x !tilegpu.smem<4x8xf16, #swizzled>, !tilegpu.smem<4x8xf16, #swizzled>>
  tilegpu.producer_commit %r[%fill] : !tilegpu.ring<3 x !tilegpu.smem<4x8xf16, #swizzled>, !tilegpu.smem<4x8xf16, #swizzled>>
  %m:2 = tilegpu.consumer_wait %r[%fill] : !tilegpu.ring<3 x !tilegpu.smem<4x8xf16, #swizzled>, !tilegpu.smem<4x8xf16, #swizzled>>
  tilegpu.consumer_release %r[%fill] : !tilegpu.ring<3 x !tilegpu.smem<4x8xf16, #swizzled>, !tilegpu.smem<4x8xf16, #swizzled>>
  return
}

// CHECK-LABEL: func.func @asynchronous_copies
func.func @asynchronous_copies(%v: !tile.view<2xf16>, %o: i32, %distance: i32) {
  // CHECK: %[[M:.*]] = tilegpu.smem_alloc stages 3 {alignment = 1024 : i32} : <4x8xf16, #[[SWIZZLED]]>
  // CHECK: %[[S:.*]] = tilegpu.smem_stage %[[M]] at %{{.*}} : <4x8xf16, #[[SWIZZLED]]>
  // CHECK: tilegpu.copy_async %{{.*}}[%{{.*}}], %[[S]] shape [4, 8] {tilegpu.access
  // CHECK: tilegpu.async_commit
  // CHECK: tilegpu.async_wait 2
  %m = tilegpu.smem_alloc stages 3 {alignment = 1024 : i32} : !tilegpu.smem<4x8xf16, #swizzled>
  %s = tilegpu.smem_stage %m at %distance : !tilegpu.smem<4x8xf16, #swizzled>
  tilegpu.copy_async %v[%o, %o], %s shape [4, 8]
    {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>}
    : !tile.view<2xf16>, !tilegpu.smem<4x8xf16, #swizzled>
  tilegpu.async_commit
  tilegpu.async_wait 2
  return
}
