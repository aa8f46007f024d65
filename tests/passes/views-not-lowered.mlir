// Passes that ask how a view is accessed refuse one that LowerViews has not seen.
// RUN: tile-opt %s -tile-select-variants -split-input-file -verify-diagnostics
// RUN: tile-opt %s -tile-promote-to-shared -split-input-file -verify-diagnostics
// RUN: tile-opt %s -tile-estimate-registers -split-input-file -verify-diagnostics

func.func @load(%p: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %v = tile.make_view %p, extents [%n], strides [%n] : i32 -> !tile.view<1xf32>
  // expected-error @+1 {{has no tilegpu.access; the pass that lowers views has not run}}
  %x = tile.view_load %v[%n] : !tile.view<1xf32> -> tensor<32xf32>
  return
}

// -----

func.func @store(%p: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %v = tile.make_view %p, extents [%n], strides [%n] : i32 -> !tile.view<1xf32>
  %x = arith.constant dense<0.0> : tensor<32xf32>
  // expected-error @+1 {{has no tilegpu.access; the pass that lowers views has not run}}
  tile.view_store %x, %v[%n] : tensor<32xf32>, !tile.view<1xf32>
  return
}
