// Operations that earlier passes should have removed are refused by name.
// RUN: tile-opt %s -allow-unregistered-dialect -tile-lower-to-scalars -split-input-file -verify-diagnostics

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
#b = #tilegpu.layout<register = [], lane = [[2], [4], [8], [16], [32]], warp = [[1]]>
func.func @change_between_warps() attributes {tile.kernel, tile.warps = 2 : i32} {
  %x = tile.arange 0, 64 : tensor<64xi32, #a>
  // expected-error @+1 {{needs shared memory; the pass that expands such changes has not run}}
  %y = tilegpu.convert_layout %x : tensor<64xi32, #a> -> tensor<64xi32, #b>
  return
}

// -----

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]>
func.func @reduction_over_warps() attributes {tile.kernel, tile.warps = 2 : i32} {
  %x = tile.arange 0, 64 : tensor<64xi32, #a>
  // expected-error @+1 {{spreads its axis over warps; the pass that expands such reductions has not run}}
  %y = tile.reduce %x axis 0 : tensor<64xi32, #a> -> i32 {
  ^bb0(%l: i32, %r: i32):
    tile.yield %l : i32
  }
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @no_offset() attributes {tile.kernel} {
  // expected-error @+1 {{has no offset; the pass that places allocations has not run}}
  %m = tilegpu.smem_alloc : !tilegpu.smem<32xf32, #s>
  return
}

// -----

#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @ring() attributes {tile.kernel} {
  // expected-error @+1 {{has no lowering}}
  %m = tilegpu.ring_alloc : !tilegpu.ring<1 x !tilegpu.smem<32xf32, #s>>
  return
}

// -----

#a = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @different_elements() attributes {tile.kernel, tile.warps = 1 : i32} {
  // expected-error @+1 {{only constants with one value everywhere are supported on tiles}}
  %c = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]> : tensor<32xi32, #a>
  return
}

// -----

// expected-error @+1 {{has branches between blocks; a kernel's control flow is structured}}
func.func @blocks() attributes {tile.kernel} {
  cf.br ^next
^next:
  return
}

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>
func.func @memory_chosen_at_run_time(%c: i1) attributes {tile.kernel, tile.warps = 1 : i32} {
  %a = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<32xf32, #s>
  %b = tilegpu.smem_alloc {offset = 128 : i32} : !tilegpu.smem<32xf32, #s>
  %m = scf.if %c -> !tilegpu.smem<32xf32, #s> {
    // expected-error @+1 {{passes on a view or shared memory, whose place must be known at compile time}}
    scf.yield %a : !tilegpu.smem<32xf32, #s>
  } else {
    scf.yield %b : !tilegpu.smem<32xf32, #s>
  }
  %x = tilegpu.smem_load %m : !tilegpu.smem<32xf32, #s> -> tensor<32xf32, #l>
  return
}

// -----

func.func @no_layout() attributes {tile.kernel} {
  // expected-error @+1 {{makes a tile without a layout; the pass that assigns layouts has not run}}
  %x = tile.arange 0, 64 : tensor<64xi32>
  return
}

// -----

// expected-error @+1 {{has a view for an argument; the pass that lowers views has not run}}
func.func @view_argument(%v: !tile.view<1xf32>) attributes {tile.kernel} { return }

// -----

#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @no_access(%p: !tile.ptr<f32>, %n: i32) attributes {tile.kernel, tile.warps = 1 : i32} {
  %v = tile.make_view %p, extents [%n], strides [%n] : i32 -> !tile.view<1xf32>
  // expected-error @+1 {{has no tilegpu.access; the pass that lowers views has not run}}
  %x = tile.view_load %v[%n] : !tile.view<1xf32> -> tensor<32xf32, #l>
  return
}

// -----

func.func @unregistered() attributes {tile.kernel} {
  // expected-error @+1 {{has no lowering}}
  "use"() : () -> ()
  return
}

// -----

func.func @arithmetic_on_float8(%x: f8E4M3FN) attributes {tile.kernel} {
  // expected-error @+1 {{computes on 8-bit floats, which are only stored and converted: convert to f16 or f32 first}}
  %y = arith.addf %x, %x : f8E4M3FN
  return
}
