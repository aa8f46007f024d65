// What the verifier of scans rejects, one case a message. The rules of combine regions are those of reductions.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @scan_of_nothing() {
  // expected-error @+1 {{needs one result an operand, and at least one operand}}
  "tile.scan"() <{axis = 0 : i32}> ({
    "tile.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @scan_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{axis 1 is outside a rank of 1}}
  %r = tile.scan %x axis 1 : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @scan_shapes(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{operands differ in shape: 4 and 8}}
  %r:2 = tile.scan %x, %y axis 0 : tensor<4xf32>, tensor<8xf32> -> tensor<4xf32>, tensor<8xf32> {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  }
  return
}

// -----

func.func @scan_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{result must be 'tensor<4xf32>', got 'tensor<4xf16>'}}
  %r = tile.scan %x axis 0 : tensor<4xf32> -> tensor<4xf16> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @scan_region(%x: tensor<4xf32>) {
  // expected-error @+1 {{the region needs 2 arguments, got 1}}
  %r = tile.scan %x axis 0 : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}
