// Passes take a function's first block for the whole body, and refuse any function that has others.
// RUN: tile-opt %s -tile-lower-views -split-input-file -verify-diagnostics
// RUN: tile-opt %s -tile-select-variants -split-input-file -verify-diagnostics
// RUN: tile-opt %s -tile-promote-to-shared -split-input-file -verify-diagnostics
// RUN: tile-opt %s -tile-allocate-shared -split-input-file -verify-diagnostics
// RUN: tile-opt %s -tile-estimate-registers -split-input-file -verify-diagnostics

// expected-error @+1 {{has 2 blocks; a kernel's control flow is scf.for, scf.if and scf.while}}
func.func @several_blocks() attributes {tile.kernel} {
  %c = arith.constant 1 : i32
  cf.br ^next
^next:
  %x = arith.addi %c, %c : i32
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
// expected-error @+1 {{has 3 blocks; a kernel's control flow is scf.for, scf.if and scf.while}}
func.func @memory_across_blocks(%c: i1) attributes {tile.kernel, tile.warps = 1 : i32} {
  %x = arith.constant dense<0.0> : tensor<32xf32, #l>
  %m = tilegpu.smem_alloc : !tilegpu.smem<32xf32, #s>
  cf.cond_br %c, ^store, ^end
^store:
  tilegpu.smem_store %x, %m : tensor<32xf32, #l>, !tilegpu.smem<32xf32, #s>
  cf.br ^end
^end:
  return
}
