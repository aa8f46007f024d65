// A function without a form in PTX is named, not dropped.
// RUN: tile-opt %s -tile-scalars-to-llvm -split-input-file -verify-diagnostics

func.func @sines_of_f16_are_widened_before(%x: f16) -> f16 {
  // expected-error @+1 {{failed to legalize operation 'math.sin'}}
  %0 = math.sin %x : f16
  return %0 : f16
}

// -----

func.func @not_lowered(%x: f32) {
  // expected-error @+1 {{failed to legalize operation 'tile.program_id'}}
  %0 = tile.program_id 0 : i32
  return
}
