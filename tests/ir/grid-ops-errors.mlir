// What sums over the programs of a launch refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @one(%v: f32) attributes {tile.kernel} {
  %x = tile.splat %v : f32 -> tensor<64xf32>
  // expected-error @below {{adds up tiles of 2 to 256 programs, not of 1}}
  %y, %last = tile.grid_sum %x of 1 : tensor<64xf32>
  return
}

// -----

func.func @inBranch(%v: f32, %c: i1) attributes {tile.kernel} {
  %x = tile.splat %v : f32 -> tensor<64xf32>
  scf.if %c {
    // expected-error @below {{must be carried out by all programs, once: not in a loop, a branch or a function that is called}}
    %y, %last = tile.grid_sum %x of 2 : tensor<64xf32>
  }
  return
}

// -----

func.func @called(%x: tensor<64xf32>) {
  // expected-error @below {{must be carried out by all programs, once: not in a loop, a branch or a function that is called}}
  %y, %last = tile.grid_sum %x of 2 : tensor<64xf32>
  return
}

// -----

func.func @cluster(%v: f32) attributes {tile.kernel, tile.cluster = 2 : i32} {
  %x = tile.splat %v : f32 -> tensor<64xf32>
  // expected-error @below {{is for programs that are one block and one team}}
  %y, %last = tile.grid_sum %x of 2 : tensor<64xf32>
  return
}

// -----

func.func @narrow(%v: f16) attributes {tile.kernel} {
  %x = tile.splat %v : f16 -> tensor<64xf16>
  // expected-error @below {{must be}}
  %y, %last = tile.grid_sum %x of 2 : tensor<64xf16>
  return
}

// -----

// expected-error @below {{a workspace is of one program at least, got 16 bytes, 1 counters, a multiple of 0 programs}}
func.func @none() attributes {tile.kernel, tilegpu.workspace = #tilegpu.workspace<bytes = 16, counters = 1, programs = 0>} {
  return
}

// -----

func.func @unlaid(%x: tensor<64xf32>, %p: !tile.ptr<i8>) {
  // expected-error @below {{needs a layout}}
  tilegpu.workspace_store %x, %p : tensor<64xf32>, !tile.ptr<i8>
  return
}

// -----

func.func @unlaid(%p: !tile.ptr<i8>) -> tensor<64xf32> {
  // expected-error @below {{needs a layout}}
  %x = tilegpu.workspace_load %p : !tile.ptr<i8> -> tensor<64xf32>
  return %x : tensor<64xf32>
}

// -----

// expected-error @below {{workspace is of no argument, got 2}}
func.func @ofArgument(%p: !tile.ptr<i8> {tile.param = #tile.param<workspace, 2>}) {
  return
}
