// What sums over the blocks of a cluster refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @alone(%x: tensor<64xf32>) attributes {tile.warps = 4 : i32} {
  // expected-error @below {{needs a kernel whose programs are divided among several blocks}}
  %y = tile.cluster_sum %x : tensor<64xf32> -> tensor<64xf32>
  return
}

// -----

func.func @shape(%x: tensor<64xf32>) attributes {tile.warps = 4 : i32, tile.cluster = 2 : i32} {
  // expected-error @below {{result must be 'tensor<32xf32>', got 'tensor<64xf32>'}}
  %y = tile.cluster_sum %x scatter : tensor<64xf32> -> tensor<64xf32>
  return
}

// -----

func.func @type(%x: tensor<64xf32>) attributes {tile.warps = 4 : i32, tile.cluster = 2 : i32} {
  // expected-error @below {{result must be 'tensor<64xf32>', got 'tensor<64xf64>'}}
  %y = tile.cluster_sum %x : tensor<64xf32> -> tensor<64xf64>
  return
}

// -----

func.func @odd(%x: tensor<4x96xf32>) attributes {tile.warps = 4 : i32, tile.cluster = 2 : i32} {
  // expected-error @below {{the extents of a sum that is scattered must be powers of two}}
  %y = tile.cluster_sum %x scatter : tensor<4x96xf32> -> tensor<2x96xf32>
  return
}

// -----

func.func @few(%x: tensor<4x64xf32>) attributes {tile.warps = 4 : i32, tile.cluster = 8 : i32} {
  // expected-error @below {{dimension 0 has no part for each of 8 blocks: its extent is 4}}
  %y = tile.cluster_sum %x scatter : tensor<4x64xf32> -> tensor<4x64xf32>
  return
}

// -----

func.func @narrow(%x: tensor<64xf16>) attributes {tile.warps = 4 : i32, tile.cluster = 2 : i32} {
  // expected-error @below {{must be}}
  %y = tile.cluster_sum %x : tensor<64xf16> -> tensor<64xf16>
  return
}
