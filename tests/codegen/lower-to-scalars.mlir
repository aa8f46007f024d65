// RUN: tile-opt %s -tile-lower-to-scalars -canonicalize | FileCheck %s

#l = #tilegpu.layout<register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64], [128]]>
#copies = #tilegpu.layout<register = [[1]], lane = [[2], [4], [8], [16], [0]], warp = []>
#odd = #tilegpu.layout<register = [], lane = [[1], [2], [0], [0], [0]], warp = []>
#row = #tilegpu.layout<register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[0, 64], [0, 128]]>

// The block's shared memory is one symbol, its threads an attribute; pointers are LLVM's.
// CHECK: llvm.mlir.global external @tile_shared() {addr_space = 3 : i32, alignment = 128
// CHECK-LABEL: func.func @signature(
// CHECK-SAME: !llvm.ptr<1>, %{{.*}}: i32, %{{.*}}: f16) attributes {tile.threads = 256 : i32}
func.func @signature(%p: !tile.ptr<f16>, %n: i32, %x: f16) attributes {tile.kernel, tile.warps = 8 : i32} { return }

// A thread's element numbers: 2 * lane + 64 * warp, and one more.
// CHECK-LABEL: func.func @arange
// CHECK-DAG: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[T:.*]] = arith.xori
// CHECK: %[[A:.*]] = arith.addi %[[T]], %[[C10:.*]] : i32
// CHECK: %[[N:.*]] = arith.xori %[[T]], %{{.*}} : i32
// CHECK: %[[B:.*]] = arith.addi %[[N]], %[[C10]] : i32
// CHECK: arith.muli %[[A]], %[[A]]
// CHECK: arith.muli %[[B]], %[[B]]
func.func @arange(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 4 : i32} {
  %r = tile.arange 10, 266 : tensor<256xi32, #l>
  %s = arith.muli %r, %r : tensor<256xi32, #l>
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<256x!tile.ptr<i32>, #l>
  tile.store %s, %ps : tensor<256xi32, #l>, tensor<256x!tile.ptr<i32>, #l>
  return
}

// Threads that hold copies leave the store to the first one.
// CHECK-LABEL: func.func @copies
// CHECK: %[[BITS:.*]] = arith.andi %{{.*}}, %c16_i32
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[BITS]], %c0_i32
// CHECK: llvm.inline_asm {{.*}}st.global{{.*}}%[[FIRST]]
func.func @copies(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 1 : i32} {
  %r = tile.arange 0, 32 : tensor<32xi32, #copies>
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #copies>
  tile.store %r, %ps : tensor<32xi32, #copies>, tensor<32x!tile.ptr<i32>, #copies>
  return
}

// 12 = 4 * 3: three registers, four elements apart.
// CHECK-LABEL: func.func @odd_extent
// CHECK-COUNT-3: arith.muli
// CHECK-NOT: arith.muli
// CHECK: return
func.func @odd_extent(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 1 : i32} {
  %r = tile.arange 0, 12 : tensor<12xi32, #odd>
  %s = arith.muli %r, %r : tensor<12xi32, #odd>
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<12x!tile.ptr<i32>, #odd>
  tile.store %s, %ps : tensor<12xi32, #odd>, tensor<12x!tile.ptr<i32>, #odd>
  return
}

// Control flow stays; a carried tile is as many values as a thread has registers.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (f32, f32)
// CHECK: scf.if %{{.*}} -> (f32, f32)
// CHECK: scf.yield %{{.*}}, %{{.*}} : f32, f32
func.func @loop(%p: !tile.ptr<f32>, %n: i32, %c: i1, %y: f32) attributes {tile.kernel, tile.warps = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = tile.splat %y : f32 -> tensor<256xf32, #l>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<256xf32, #l> : i32 {
    %b = scf.if %c -> tensor<256xf32, #l> {
      %t = arith.addf %a, %x : tensor<256xf32, #l>
      scf.yield %t : tensor<256xf32, #l>
    } else {
      scf.yield %a : tensor<256xf32, #l>
    }
    scf.yield %b : tensor<256xf32, #l>
  }
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>, #l>
  tile.store %r, %ps : tensor<256xf32, #l>, tensor<256x!tile.ptr<f32>, #l>
  return
}

// Shapes rename registers; nothing moves.
// CHECK-LABEL: func.func @shapes
// CHECK-NOT: nvvm.shfl
// CHECK: return
func.func @shapes(%p: !tile.ptr<i32>) attributes {tile.kernel, tile.warps = 4 : i32} {
  %r = tile.arange 0, 256 : tensor<256xi32, #l>
  %e = tile.expand_dims %r, 0 : tensor<256xi32, #l> -> tensor<1x256xi32, #row>
  %f = tile.reshape %e : tensor<1x256xi32, #row> -> tensor<256xi32, #l>
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<256x!tile.ptr<i32>, #l>
  tile.store %f, %ps : tensor<256xi32, #l>, tensor<256x!tile.ptr<i32>, #l>
  return
}

// A scalar is everybody's; one thread stores it.
// CHECK-LABEL: func.func @scalar_store
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32
// CHECK: llvm.inline_asm {{.*}}st.global{{.*}}%[[FIRST]]
func.func @scalar_store(%p: !tile.ptr<f32>, %x: f32) attributes {tile.kernel} {
  tile.store %x, %p : f32, !tile.ptr<f32>
  return
}

// Conversions: saturating to integers, through f32 between the 16-bit floats.
// CHECK-LABEL: func.func @conversions
// CHECK: llvm.call_intrinsic "llvm.fptosi.sat"
// CHECK: llvm.call_intrinsic "llvm.fptoui.sat"
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.cmpf une
// CHECK: arith.extui
func.func @conversions(%p: !tile.ptr<i8>, %q: !tile.ptr<bf16>, %x: f32, %h: f16) attributes {tile.kernel} {
  %a = tile.convert %x : f32 -> i8
  %b = tile.convert %x result_unsigned : f32 -> i8
  %c = tile.convert %h : f16 -> bf16
  %d = tile.convert %x : f32 -> i1
  %e = tile.convert %d : i1 -> i8
  tile.store %a, %p : i8, !tile.ptr<i8>
  tile.store %b, %p : i8, !tile.ptr<i8>
  tile.store %c, %q : bf16, !tile.ptr<bf16>
  tile.store %e, %p : i8, !tile.ptr<i8>
  return
}

// Runs of 4 registers lie on one side of a bound that is a multiple of 4: the thread compares twice.
#runs = #tilegpu.layout<register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [[0], [0]]>
// CHECK-LABEL: func.func @compared_by_runs
// CHECK-COUNT-2: arith.cmpi slt
// CHECK-NOT: arith.cmpi
// CHECK-COUNT-8: arith.select
func.func @compared_by_runs(%p: !tile.ptr<i32>, %n: i32 {tile.divisibility = 4 : i32}) attributes {tile.kernel, tile.warps = 4 : i32} {
  %i = tile.arange 0, 256 : tensor<256xi32, #runs>
  %s = tile.splat %n : i32 -> tensor<256xi32, #runs>
  %m = arith.cmpi slt, %i, %s : tensor<256xi32, #runs>
  %z = arith.select %m, %i, %s : tensor<256xi1, #runs>, tensor<256xi32, #runs>
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<256x!tile.ptr<i32>, #runs>
  tile.store %z, %ps : tensor<256xi32, #runs>, tensor<256x!tile.ptr<i32>, #runs>
  return
}

// Functions that are no kernels stay as they are.
// CHECK-LABEL: func.func @callee
// CHECK: tile.splat
func.func @callee(%x: f32) -> tensor<256xf32> {
  %t = tile.splat %x : f32 -> tensor<256xf32>
  return %t : tensor<256xf32>
}
