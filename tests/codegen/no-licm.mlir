// A loop that keeps its work says so to LLVM, others do not.
// RUN: tile-opt %s -tile-pipeline -tile-lower-to-scalars -tile-scalars-to-llvm | mlir-translate --mlir-to-llvmir | FileCheck %s

// CHECK-LABEL: define ptx_kernel void @keeps
// CHECK: br {{.*}}, !llvm.loop !
// CHECK-LABEL: define ptx_kernel void @hoists
// CHECK-NOT: !llvm.loop
// CHECK: ret void
// CHECK: !{!"llvm.licm.disable"}
func.func @keeps(%p: !tile.ptr<f32>, %x: f32, %n: i32) attributes {tile.kernel, tile.warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %y = arith.mulf %x, %x : f32
    tile.store %y, %p : f32, !tile.ptr<f32>
  } {tile.no_licm}
  return
}

func.func @hoists(%p: !tile.ptr<f32>, %x: f32, %n: i32) attributes {tile.kernel, tile.warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %y = arith.mulf %x, %x : f32
    tile.store %y, %p : f32, !tile.ptr<f32>
  }
  return
}
