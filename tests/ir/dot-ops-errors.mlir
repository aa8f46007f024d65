// Every rule of the verifiers of matrix products.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @dot_rank(%a: tensor<4xf32>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{operands must all have rank 2, or rank 3 with the batch first}}
  %t = tile.dot %a, %c, %c : tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @dot_inner(%a: tensor<4x8xf32>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{inner sizes differ: a is 4x8, b is 4x4 (8 != 4)}}
  %t = tile.dot %a, %c, %c : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @dot_acc(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{acc is 4x4, the product 4x16}}
  %t = tile.dot %a, %b, %c : tensor<4x8xf32>, tensor<8x16xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @dot_mixed(%a: tensor<4x4xf16>, %b: tensor<4x4xbf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{operands must have one element type, got 'f16' and 'bf16'}}
  %t = tile.dot %a, %b, %c : tensor<4x4xf16>, tensor<4x4xbf16>, tensor<4x4xf32>
  return
}

// -----

func.func @dot_types(%a: tensor<4x4xbf16>) {
  // expected-error @+1 {{no matrix product of 'bf16' x 'bf16' to 'bf16'; supported: f16 x f16 to f32 or f16, bf16 x bf16 to f32, f32 x f32 to f32, f64 x f64 to f64, i8 x i8 to i32, fp8 x fp8 to f32 or f16}}
  %t = tile.dot %a, %a, %a : tensor<4x4xbf16>, tensor<4x4xbf16>, tensor<4x4xbf16>
  return
}

// -----

func.func @dot_precision(%a: tensor<4x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{precision applies to f32 operands, got 'f16'}}
  %t = tile.dot %a, %a, %c precision tf32 : tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf32>
  return
}

// -----

func.func @dot_ranks_differ(%a: tensor<2x4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<2x4x4xf32>) {
  // expected-error @+1 {{operands must all have rank 2, or rank 3 with the batch first}}
  %t = tile.dot %a, %b, %c : tensor<2x4x4xf32>, tensor<4x4xf32>, tensor<2x4x4xf32>
  return
}

// -----

func.func @dot_batches(%a: tensor<2x4x4xf32>, %b: tensor<3x4x4xf32>) {
  // expected-error @+1 {{batches differ: a has 2, b 3}}
  %t = tile.dot %a, %b, %a : tensor<2x4x4xf32>, tensor<3x4x4xf32>, tensor<2x4x4xf32>
  return
}

// -----

func.func @dot_batched_inner(%a: tensor<2x4x8xf32>, %c: tensor<2x4x4xf32>) {
  // expected-error @+1 {{inner sizes differ: a is 2x4x8, b is 2x4x4 (8 != 4)}}
  %t = tile.dot %a, %c, %c : tensor<2x4x8xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>
  return
}

// -----

func.func @dot_batched_acc(%a: tensor<2x4x4xf32>, %c: tensor<3x4x4xf32>) {
  // expected-error @+1 {{acc is 3x4x4, the product 2x4x4}}
  %t = tile.dot %a, %a, %c : tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<3x4x4xf32>
  return
}

// -----

func.func @dot_narrow_sum(%a: tensor<4x32xi8>, %b: tensor<32x4xi8>, %c: tensor<4x4xi8>) {
  // expected-error @+1 {{no matrix product of 'i8' x 'i8' to 'i8'}}
  %t = tile.dot %a, %b, %c : tensor<4x32xi8>, tensor<32x4xi8>, tensor<4x4xi8>
  return
}

// -----

func.func @dot_fast(%a: tensor<32x32xf16>, %c: tensor<32x32xf32>) {
  // expected-error @+1 {{fast applies to operands of 8-bit floats, got 'f16'}}
  %t = tile.dot %a, %a, %c fast : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
  return
}

// -----

func.func @dot_unsigned(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{unsigned applies to integer operands, got 'f32'}}
  %t = tile.dot %a, %a, %a unsigned : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @resize_rank(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{result must have the operand's rank and element type}}
  %t = tile.resize %a : tensor<4x4xf32> -> tensor<8xf32>
  return
}

// -----

func.func @resize_element(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{result must have the operand's rank and element type}}
  %t = tile.resize %a : tensor<4x4xf32> -> tensor<8x8xf16>
  return
}
