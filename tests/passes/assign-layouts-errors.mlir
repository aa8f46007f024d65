// RUN: tile-opt %s -tile-assign-layouts -split-input-file -verify-diagnostics

func.func @different_elements() -> i32 {
  // expected-error @+1 {{only constants with one value everywhere are supported on tiles}}
  %c = arith.constant dense<[1, 2]> : tensor<2xi32>
  %r = tile.reduce %c axis 0 : tensor<2xi32> -> i32 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  }
  return %r : i32
}

// -----

func.func @no_fragments(%a: tensor<8x8xf16>, %c: tensor<8x8xf32>) {
  // expected-error @+1 {{the chosen variant has no layout for these shapes}}
  %r = tile.dot %a, %a, %c {tilegpu.variant = "mma_sync"} : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf32>
  return
}
