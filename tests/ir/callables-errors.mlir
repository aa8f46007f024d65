// What functions that are called may not be.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{tile.callable belongs on a function with a body}}
func.func private @external(f32) -> f32 attributes {tile.callable}

// -----

// expected-error @+1 {{takes and returns tiles and scalars, not '!tile.view<1xf32>'}}
func.func private @view(%v: !tile.view<1xf32>) attributes {tile.callable} { return }

// -----

// expected-error @+1 {{takes and returns tiles and scalars, not 'tensor<8x!tile.ptr<f32>>'}}
func.func private @pointers(%p: tensor<8x!tile.ptr<f32>>) attributes {tile.callable} { return }

// -----

func.func private @barrier(%x: f32) -> f32 attributes {tile.callable} {
  // expected-error @+1 {{stands in a function that is called, which computes with values alone}}
  tile.debug_barrier
  return %x : f32
}

// -----

func.func private @itself(%x: f32) -> f32 attributes {tile.callable} {
  // expected-error @+1 {{calls @itself, which must stand before its callers and not call itself}}
  %y = call @itself(%x) : (f32) -> f32
  return %y : f32
}

// -----

func.func @k(%x: f32) attributes {tile.kernel} {
  // expected-error @+1 {{calls @later, which must stand before its callers and not call itself}}
  %y = call @later(%x) : (f32) -> f32
  return
}
func.func private @later(%x: f32) -> f32 attributes {tile.callable} { return %x : f32 }
