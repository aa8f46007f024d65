// A function that is called twice is one function in PTX, with its tiles spread out, and what it calls another.
// RUN: %to_ptx %t
// RUN: FileCheck %s < %t
// RUN: %if ptxas %{ %ptxas %t 2>&1 | FileCheck %s --check-prefix=ASM %}

// ASM: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// CHECK: .func {{.*}}twice(
// CHECK: .func {{.*}}both(
// CHECK: call.uni {{.*}}twice,
// CHECK: .entry kernel(
// CHECK-COUNT-2: call.uni {{.*}}both,
// CHECK-NOT: call.uni
func.func private @twice(%x: tensor<64xf32>) -> tensor<64xf32> attributes {tile.callable, no_inline, tile.warps = 1 : i32} {
  %y = arith.addf %x, %x : tensor<64xf32>
  return %y : tensor<64xf32>
}
func.func private @both(%x: tensor<64xf32>, %n: i1) -> (tensor<64xf32>, tensor<64xi1>)
    attributes {tile.callable, no_inline, tile.warps = 1 : i32} {
  %y = call @twice(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %m = tile.splat %n : i1 -> tensor<64xi1>
  return %y, %m : tensor<64xf32>, tensor<64xi1>
}
func.func @kernel(%v: !tile.view<1xf32>, %n: i1) attributes {tile.kernel, tile.warps = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %x = tile.view_load %v[%c0] : !tile.view<1xf32> -> tensor<64xf32>
  %y, %m = call @both(%x, %n) : (tensor<64xf32>, i1) -> (tensor<64xf32>, tensor<64xi1>)
  %z, %k = call @both(%y, %n) : (tensor<64xf32>, i1) -> (tensor<64xf32>, tensor<64xi1>)
  %w = arith.select %k, %z, %y : tensor<64xi1>, tensor<64xf32>
  tile.view_store %w, %v[%c0] : tensor<64xf32>, !tile.view<1xf32>
  return
}
