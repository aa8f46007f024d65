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

// -----

// expected-error @+1 {{has 2 blocks; a kernel's control flow is scf.for, scf.if and scf.while}}
func.func @branches(%v: !tile.view<1xf32>, %i: i32) attributes {tile.kernel} {
  cf.br ^next
^next:
  return
}

// -----

func.func @switch(%n: i32, %x: f32, %y: f32, %p: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = arith.index_cast %n : i32 to index
  // expected-error @+1 {{is not supported in a kernel; its control flow is scf.for, scf.if and scf.while}}
  %z = scf.index_switch %i -> f32
  case 0 {
    scf.yield %x : f32
  }
  default {
    scf.yield %y : f32
  }
  return
}
