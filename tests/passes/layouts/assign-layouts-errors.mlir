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
  %r = tile.dot %a, %a, %c {tilegpu.variant = #tilegpu.dot<mma_sync>} : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf32>
  return
}

// -----

func.func @two_results(%p: !tile.ptr<f32>) attributes {tile.kernel} {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %x = tile.load %ps : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  // expected-error @+1 {{makes tiles, but how they lie over threads is not known for this operation}}
  %s, %c = math.sincos %x : tensor<64xf32>
  return
}

// -----

func.func @too_large(%v: !tile.ptr<f32>) attributes {tile.kernel, tile.warps = 1 : i32} {
  // expected-error @+1 {{registers: a tile of 32768x!tile.ptr<f32> takes 2048 registers a thread with 1 warps, a thread has 255; use smaller tiles or more warps}}
  %r = tile.splat %v : !tile.ptr<f32> -> tensor<32768x!tile.ptr<f32>>
  %x = tile.load %r : tensor<32768x!tile.ptr<f32>> -> tensor<32768xf32>
  return
}

// -----

func.func private @other(tensor<64xf32>) -> tensor<64xf32>
func.func @call(%p: !tile.ptr<f32>) attributes {tile.kernel} {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %x = tile.load %ps : tensor<64x!tile.ptr<f32>> -> tensor<64xf32>
  // expected-error @+1 {{makes tiles, but how they lie over threads is not known for this operation}}
  %y = call @other(%x) : (tensor<64xf32>) -> tensor<64xf32>
  tile.store %y, %ps : tensor<64xf32>, tensor<64x!tile.ptr<f32>>
  return
}
