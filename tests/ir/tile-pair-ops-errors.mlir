// What the verifiers of operations that pair up or mirror elements reject, one case a message.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @item_of_many(%x: tensor<2xf32>) {
  // expected-error @+1 {{needs a tile of one element, got 2}}
  %r = tile.item %x : tensor<2xf32> -> f32
  return
}

// -----

func.func @item_type(%x: tensor<1xf32>) {
  // expected-error @+1 {{result must be 'f32', got 'i32'}}
  %r = tile.item %x : tensor<1xf32> -> i32
  return
}

// -----

func.func @join_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{a tile whose halves are 'tensor<4xf32>' is 'tensor<4x2xf32>', not 'tensor<8xf32>'}}
  %r = tile.join %x, %x : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

func.func @half_type(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{a tile whose halves are 'tensor<4xf16>' is 'tensor<4x2xf16>', not 'tensor<4x2xf32>'}}
  %r = tile.half %x, 0 : tensor<4x2xf32> -> tensor<4xf16>
  return
}

// -----

func.func @half_index(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{index must be 0 or 1, got 2}}
  %r = tile.half %x, 2 : tensor<4x2xf32> -> tensor<4xf32>
  return
}

// -----

func.func @join_too_large(%x: tensor<1048576xf32>) {
  // expected-error @+1 {{elements}}
  %r = tile.join %x, %x : tensor<1048576xf32> -> tensor<1048576x2xf32>
  return
}

// -----

func.func @flip_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{axis 1 is outside a rank of 1}}
  %r = tile.flip %x axis 1 : tensor<4xf32>
  return
}
