// Only views whose parts are known can be lowered.
// RUN: tile-opt %s -tile-lower-views -split-input-file -verify-diagnostics

func.func @chosen_at_run_time(%a: !tile.view<1xf32>, %b: !tile.view<1xf32>, %c: i1) attributes {tile.kernel} {
  %v = arith.select %c, %a, %b : !tile.view<1xf32>
  // expected-error @+1 {{needs a view that is an argument of the kernel}}
  %n = tile.dim %v, 0 : !tile.view<1xf32> -> i32
  return
}

// -----

func.func @access_of_a_chosen_view(%a: !tile.view<1xf32>, %b: !tile.view<1xf32>, %c: i1, %i: i32) attributes {tile.kernel} {
  %v = scf.if %c -> !tile.view<1xf32> {
    scf.yield %a : !tile.view<1xf32>
  } else {
    scf.yield %b : !tile.view<1xf32>
  }
  // expected-error @+1 {{needs a view that is an argument of the kernel}}
  %x = tile.view_load %v[%i] : !tile.view<1xf32> -> tensor<32xf32>
  return
}
