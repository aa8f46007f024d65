// Operations for debugging, promises, PTX and hints are read back as they were printed, in their own form and in the
// generic one.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @debug
// CHECK-SAME: %[[X:.*]]: tensor<64xi32>, %[[C:.*]]: tensor<64xi1>, %[[S:.*]]: i1
func.func @debug(%x: tensor<64xi32>, %c: tensor<64xi1>, %s: i1) {
  // CHECK: tile.assert %[[C]], "inside" : tensor<64xi1>
  // CHECK: tile.print "x" hex, %[[X]], %[[C]] unsigned [true, false] : tensor<64xi32>, tensor<64xi1>
  // CHECK: tile.print "here" unsigned []
  // CHECK: tile.debug_barrier
  // CHECK: tile.assume %[[S]]
  tile.assert %c, "inside" : tensor<64xi1>
  tile.print "x" hex, %x, %c unsigned [true, false] : tensor<64xi32>, tensor<64xi1>
  tile.print "here" unsigned []
  tile.debug_barrier
  tile.assume %s
  return
}

// CHECK-LABEL: func.func @promises
func.func @promises(%x: tensor<64x8xi32>, %n: i64) {
  // CHECK: tile.facts %{{.*}} multiple [16, 1] contiguous [4, 1] constancy [1, 8] : tensor<64x8xi32>
  // CHECK: tile.facts %{{.*}} multiple [16] : i64
  %a = tile.facts %x multiple [16, 1] contiguous [4, 1] constancy [1, 8] : tensor<64x8xi32>
  %b = tile.facts %n multiple [16] : i64
  return
}

// CHECK-LABEL: func.func @hints
func.func @hints(%v: !tile.view<1xf32>, %i: i32, %p: tensor<64x!tile.ptr<f32>>, %m: tensor<64xi1>) {
  // CHECK: tile.view_load %{{.*}}[%{{.*}}] cache cg : {{.*}} -> tensor<64xf32>
  // CHECK: tile.view_store %{{.*}}, %{{.*}}[%{{.*}}] evict first : tensor<64xf32>,
  // CHECK: tile.load %{{.*}} mask %{{.*}} volatile : tensor<64x!tile.ptr<f32>>, tensor<64xi1> -> tensor<64xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}} cache wt : tensor<64xf32>, tensor<64x!tile.ptr<f32>>
  // CHECK: tile.prefetch %{{.*}} mask %{{.*}} level 1
  %a = tile.view_load %v[%i] cache cg : !tile.view<1xf32> -> tensor<64xf32>
  tile.view_store %a, %v[%i] evict first : tensor<64xf32>, !tile.view<1xf32>
  %b = tile.load %p mask %m volatile : tensor<64x!tile.ptr<f32>>, tensor<64xi1> -> tensor<64xf32>
  tile.store %b, %p cache wt : tensor<64xf32>, tensor<64x!tile.ptr<f32>>
  tile.prefetch %p mask %m level 1 : tensor<64x!tile.ptr<f32>>, tensor<64xi1>
  return
}

// CHECK-LABEL: func.func @ptx
func.func @ptx(%x: tensor<64xi32>, %h: tensor<64xf16>) {
  // CHECK: tile.inline_ptx "add.s32 $0, $1, 1;" "=r,r" pure %{{.*}} : (tensor<64xi32>) -> tensor<64xi32>
  // CHECK: tile.inline_ptx "neg.f16x2 $0, $1;" "=r,r" pack 2 %{{.*}} : (tensor<64xf16>) -> tensor<64xf16>
  // CHECK: tile.inline_ptx "membar.cta;" "" : () -> ()
  %a = tile.inline_ptx "add.s32 $0, $1, 1;" "=r,r" pure %x : (tensor<64xi32>) -> tensor<64xi32>
  %b = tile.inline_ptx "neg.f16x2 $0, $1;" "=r,r" pack 2 %h : (tensor<64xf16>) -> tensor<64xf16>
  tile.inline_ptx "membar.cta;" "" : () -> ()
  return
}

// CHECK-LABEL: func.func @cuda
func.func @cuda(%x: tensor<64xf32>, %n: tensor<64xi8>) {
  // CHECK: tile.inline_cuda "__device__ float f(float x, unsigned char n);" "f" "f32(f32,u8)" pure %{{.*}}, %{{.*}} : (tensor<64xf32>, tensor<64xi8>) -> tensor<64xf32>
  // CHECK: tile.inline_cuda "__device__ int g();" "g" "i32()" : () -> i32
  %a = tile.inline_cuda "__device__ float f(float x, unsigned char n);" "f" "f32(f32,u8)" pure %x, %n : (tensor<64xf32>, tensor<64xi8>) -> tensor<64xf32>
  %b = tile.inline_cuda "__device__ int g();" "g" "i32()" : () -> i32
  return
}
