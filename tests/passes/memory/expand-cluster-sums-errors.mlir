// Where blocks do not see each other's memory, or may not all come to a sum, it is refused.
// RUN: tile-opt %s -tile-expand-cluster-sums=target=sm_90a -split-input-file -verify-diagnostics
// RUN: not tile-opt %s -tile-expand-cluster-sums=target=sm_80 -split-input-file 2>&1 | FileCheck %s

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>

// CHECK: error: cluster_sum: blocks of sm_80 do not see each other's memory, those of sm_90 do
func.func @branch(%x: tensor<32xf32, #l>) attributes {tile.warps = 1 : i32, tile.cluster = 2 : i32} {
  %rank = tile.cluster_rank : i32
  %c0 = arith.constant 0 : i32
  %first = arith.cmpi eq, %rank, %c0 : i32
  scf.if %first {
    // expected-error @below {{cluster_sum: all blocks of the cluster meet at it, but the loop or branch around it may be another one in each}}
    %y = tile.cluster_sum %x : tensor<32xf32, #l> -> tensor<32xf32, #l>
  }
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>

func.func @loop(%x: tensor<32xf32, #l>) attributes {tile.warps = 1 : i32, tile.cluster = 2 : i32} {
  %rank = tile.cluster_rank : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %rank step %c1 : i32 {
    // expected-error @below {{cluster_sum: all blocks of the cluster meet at it}}
    %y = tile.cluster_sum %x : tensor<32xf32, #l> -> tensor<32xf32, #l>
  }
  return
}
