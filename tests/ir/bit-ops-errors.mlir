// What operations on bits reject.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @of_floats(%x: tensor<8xf32>) {
  // expected-error @+1 {{must be integer or tile of integers}}
  %a = tile.reverse_bits %x : tensor<8xf32>
  return
}

// -----

func.func @of_a_condition(%x: i1) {
  // expected-error @+1 {{must be integer or tile of integers}}
  %a = tile.reverse_bits %x : i1
  return
}
