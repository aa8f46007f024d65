// A function without a form in PTX is named, not dropped.
// RUN: tile-opt %s -tile-scalars-to-llvm -split-input-file -verify-diagnostics

func.func @f64_has_no_fast_sine(%x: f64) -> f64 {
  // expected-error @+1 {{failed to legalize operation 'math.sin'}}
  %0 = math.sin %x : f64
  return %0 : f64
}

// -----

func.func @not_lowered(%x: f32) {
  // expected-error @+1 {{failed to legalize operation 'tile.program_id'}}
  %0 = tile.program_id 0 : i32
  return
}
