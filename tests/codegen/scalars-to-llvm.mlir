// RUN: tile-opt %s -tile-scalars-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @kernel(
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 128>
// CHECK-NOT: tile.threads
// CHECK: llvm.br
// CHECK: llvm.cond_br
// CHECK: llvm.return
func.func @kernel(%n: i32) attributes {tile.threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
  }
  return
}

// A function without a block size is called by kernels.
// CHECK-LABEL: llvm.func @helper(
// CHECK-NOT: nvvm.kernel
// CHECK: llvm.fadd
func.func @helper(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  return %y : f32
}

// CHECK-LABEL: llvm.func @functions
func.func @functions(%x: f32) -> f32 {
  // e^x is 2^(x * log2 e).
  // CHECK: %[[S:.*]] = llvm.fmul %{{.*}}, %{{.*}}
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[S]])
  %0 = math.exp %x : f32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  %1 = math.exp2 %0 : f32
  // CHECK: %[[L:.*]] = llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"
  // CHECK: llvm.fmul %[[L]]
  %2 = math.log %1 : f32
  // CHECK: llvm.nvvm.lg2.approx.f
  %3 = math.log2 %2 : f32
  // CHECK: llvm.nvvm.sqrt.approx.f
  %4 = math.sqrt %3 : f32
  // CHECK: llvm.nvvm.rsqrt.approx.f
  %5 = math.rsqrt %4 : f32
  // CHECK: llvm.nvvm.sin.approx.f
  %6 = math.sin %5 : f32
  // CHECK: llvm.nvvm.cos.approx.f
  %7 = math.cos %6 : f32
  // CHECK: tanh.approx.f32
  %8 = math.tanh %7 : f32
  // CHECK: llvm.intr.fabs
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  // CHECK: llvm.intr.copysign
  %9 = math.erf %8 : f32
  // CHECK: llvm.intr.fabs
  %10 = math.absf %9 : f32
  // CHECK: llvm.intr.floor
  %11 = math.floor %10 : f32
  // CHECK: llvm.intr.ceil
  %12 = math.ceil %11 : f32
  // CHECK: llvm.intr.fma
  %13 = math.fma %12, %12, %12 : f32
  return %13 : f32
}

// CHECK-LABEL: llvm.func @divisions
// CHECK: div.full.f32
// CHECK: llvm.fpext %{{.*}} : f16 to f32
// CHECK: div.full.f32
// CHECK: llvm.fptrunc %{{.*}} : f32 to f16
// CHECK: llvm.fdiv %{{.*}} : f64
func.func @divisions(%x: f32, %h: f16, %d: f64) -> (f32, f16, f64) {
  %0 = arith.divf %x, %x : f32
  %1 = arith.divf %h, %h : f16
  %2 = arith.divf %d, %d : f64
  return %0, %1, %2 : f32, f16, f64
}

// CHECK-LABEL: llvm.func @integer_magnitude
// CHECK: llvm.intr.abs
// CHECK-SAME: is_int_min_poison = false
func.func @integer_magnitude(%x: i32) -> i32 {
  %0 = math.absi %x : i32
  return %0 : i32
}

// Functions without a fast form, or asked for in full accuracy, become calls of the library; square roots and quotients do not.
// CHECK-LABEL: llvm.func @library
// CHECK: llvm.call @_Z3sind(%{{.*}}) : (f64) -> f64
// CHECK: llvm.call @_Z3powdd(%{{.*}}, %{{.*}}) : (f64, f64) -> f64
// CHECK: llvm.intr.sqrt(%{{.*}}) : (f64) -> f64
// CHECK: llvm.call @_Z3expf(%{{.*}}) : (f32) -> f32
// CHECK: llvm.call @_Z4fmodff(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// CHECK: llvm.call @_Z5log1pf(%{{.*}}) : (f32) -> f32
// CHECK: llvm.call_intrinsic "llvm.nvvm.div.rn.f"
func.func @library(%d: f64, %x: f32) -> (f64, f32) {
  %0 = math.sin %d : f64
  %1 = math.powf %0, %d : f64
  %2 = math.sqrt %1 : f64
  %3 = math.exp %x {tile.precise} : f32
  %4 = arith.remf %3, %x : f32
  %5 = math.log1p %4 : f32
  %6 = arith.divf %5, %x {tile.precise} : f32
  return %2, %6 : f64, f32
}
