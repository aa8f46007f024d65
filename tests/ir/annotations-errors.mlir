// RUN: tile-opt %s -split-input-file -verify-diagnostics
// What passes tell each other is verified where it is attached: hand-written IR cannot mislead a later pass.

func.func @access_type(%v: !tile.view<1xf32>, %i: i32) {
  // expected-error @+1 {{tilegpu.access must be a #tilegpu.access<...>, got 4 : i32}}
  %x = tile.view_load %v[%i] {tilegpu.access = 4 : i32} : !tile.view<1xf32> -> tensor<32xf32>
  return
}

// -----

func.func @access_place(%x: tensor<32xf32>) {
  // expected-error @+1 {{tilegpu.access belongs on a load, store or prefetch of a tile}}
  %y = arith.addf %x, %x {tilegpu.access = #tilegpu.access<order = [0], vector = 4>} : tensor<32xf32>
  return
}

// -----

func.func @access_of_scalar(%p: !tile.ptr<f32>) {
  // expected-error @+1 {{tilegpu.access belongs on a load, store or prefetch of a tile}}
  %x = tile.load %p {tilegpu.access = #tilegpu.access<order = [0], vector = 1>} : !tile.ptr<f32> -> f32
  return
}

// -----

func.func @access_rank(%v: !tile.view<2xf32>, %i: i32) {
  // expected-error @+1 {{tilegpu.access orders 1 dimensions of a tile of rank 2}}
  %x = tile.view_load %v[%i, %i] {tilegpu.access = #tilegpu.access<order = [0], vector = 1, bounds = [tile]>} : !tile.view<2xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @access_without_bounds(%v: !tile.view<1xf32>, %i: i32, %x: tensor<32xf32>) {
  // expected-error @+1 {{tilegpu.access needs the bounds of an access of a view}}
  tile.view_store %x, %v[%i] {tilegpu.access = #tilegpu.access<order = [0], vector = 4>} : tensor<32xf32>, !tile.view<1xf32>
  return
}

// -----

func.func @bounds_of_pointers(%p: tensor<32x!tile.ptr<f32>>) {
  // expected-error @+1 {{tilegpu.access has bounds, but pointers have none}}
  %x = tile.load %p {tilegpu.access = #tilegpu.access<order = [0], vector = 4, bounds = [none]>} : tensor<32x!tile.ptr<f32>> -> tensor<32xf32>
  return
}

// -----

func.func @order(%p: tensor<4x8x!tile.ptr<f32>>) {
  // expected-error @+1 {{order must list each dimension once, got [0, 0]}}
  tile.prefetch %p level 2 {tilegpu.access = #tilegpu.access<order = [0, 0], vector = 4>} : tensor<4x8x!tile.ptr<f32>>
  return
}

// -----

func.func @vector(%p: tensor<32x!tile.ptr<f32>>) {
  // expected-error @+1 {{vector must be a power of two, got 3}}
  tile.prefetch %p level 2 {tilegpu.access = #tilegpu.access<order = [0], vector = 3>} : tensor<32x!tile.ptr<f32>>
  return
}

// -----

func.func @number_of_bounds(%v: !tile.view<1xf32>, %i: i32) {
  // expected-error @+1 {{bounds must name each of 1 dimensions, got 2}}
  %x = tile.view_load %v[%i] {tilegpu.access = #tilegpu.access<order = [0], vector = 1, bounds = [tile, none]>} : !tile.view<1xf32> -> tensor<32xf32>
  return
}

// -----

func.func @word_of_bounds(%v: !tile.view<1xf32>, %i: i32) {
  // expected-error @+1 {{expected none, tile or element, got each}}
  %x = tile.view_load %v[%i] {tilegpu.access = #tilegpu.access<order = [0], vector = 1, bounds = [each]>} : !tile.view<1xf32> -> tensor<32xf32>
  return
}

// -----

func.func @variant_type(%v: !tile.view<1xf32>, %i: i32) {
  // expected-error @+1 {{tilegpu.variant of a load must be a #tilegpu.load<...>, got "vector"}}
  %x = tile.view_load %v[%i] {tilegpu.variant = "vector"} : !tile.view<1xf32> -> tensor<32xf32>
  return
}

// -----

func.func @variant_place(%x: tensor<32xf32>) {
  // expected-error @+1 {{tilegpu.variant belongs on a load, a store or a dot}}
  %y = arith.addf %x, %x {tilegpu.variant = #tilegpu.dot<fma>} : tensor<32xf32>
  return
}

// -----

func.func @variant_of_a_product(%v: !tile.view<1xf32>, %i: i32) {
  // expected-error @+1 {{tilegpu.variant of a load must be a #tilegpu.load<...>, got #tilegpu.dot<mma_sync>}}
  %x = tile.view_load %v[%i] {tilegpu.variant = #tilegpu.dot<mma_sync>} : !tile.view<1xf32> -> tensor<32xf32>
  return
}

// -----

func.func @variant_of_a_copy(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{tilegpu.variant of a dot must be a #tilegpu.dot<...>, got #tilegpu.load<vector>}}
  %d = tile.dot %a, %a, %c {tilegpu.variant = #tilegpu.load<vector>} : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  return
}

// -----

func.func @refusals(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{refused must hold sentences, got [4 : i32]}}
  %d = tile.dot %a, %a, %c {tilegpu.variant = #tilegpu.dot<fma, refused = [4 : i32]>} : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  return
}

// -----

func.func @warp_grid_type(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{tilegpu.warp_grid must be a #tilegpu.warp_grid<...>, got array<i32: 2>}}
  %d = tile.dot %a, %a, %c {tilegpu.warp_grid = array<i32: 2>} : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  return
}

// -----

func.func @warp_grid_place(%x: tensor<32xf32>) {
  // expected-error @+1 {{tilegpu.warp_grid belongs on a product}}
  %y = arith.addf %x, %x {tilegpu.warp_grid = #tilegpu.warp_grid<rows = 2, columns = 2>} : tensor<32xf32>
  return
}

// -----

func.func @warp_grid(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{warps along a dimension must be a power of two, got 3}}
  %d = tile.dot %a, %a, %c {tilegpu.warp_grid = #tilegpu.warp_grid<rows = 3, columns = 1>} : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  return
}

// -----

// expected-error @+1 {{tilegpu.shared_bytes must be a number of bytes (i32) on a function}}
func.func @shared_bytes() attributes {tilegpu.shared_bytes = -1 : i32} { return }

// -----

// expected-error @+1 {{has the attribute 'tilegpu.vektor', which `tilegpu` does not know}}
func.func @unknown() attributes {tilegpu.vektor = 4 : i32} { return }

// -----

// expected-error @+1 {{has the attribute 'tile.wraps', which `tile` does not know}}
func.func @unknown_of_tile() attributes {tile.wraps = 4 : i32} { return }

// -----

// expected-error @+1 {{has the attribute 'tile.aligned' on argument 0, which `tile` does not know}}
func.func @unknown_of_an_argument(%p: !tile.ptr<f32> {tile.aligned = 4 : i32}) { return }

// -----

// expected-error @+1 {{tile.param must be a #tile.param<...>, got ["pointer", 0 : i32]}}
func.func @param_type(%p: !tile.ptr<f32> {tile.param = ["pointer", 0 : i32]}) { return }

// -----

// expected-error @+1 {{tile.param says extent of an argument of type '!tile.ptr<f32>'}}
func.func @param_of_another_type(%p: !tile.ptr<f32> {tile.param = #tile.param<extent, 0, 0>}) { return }

// -----

// expected-error @+1 {{stride needs a dimension}}
func.func @param_without_dimension(%n: i32 {tile.param = #tile.param<stride, 0>}) { return }

// -----

// expected-error @+1 {{pointer has no dimension}}
func.func @param_with_dimension(%p: !tile.ptr<f32> {tile.param = #tile.param<pointer, 0, 1>}) { return }

// -----

// expected-error @+1 {{must name an argument of the kernel, got -1}}
func.func @param_of_no_argument(%n: i32 {tile.param = #tile.param<scalar, -1>}) { return }

// -----

// expected-error @+1 {{tile.divisibility must be a positive i32}}
func.func @divisibility(%n: i32 {tile.divisibility = 0 : i32}) { return }

// -----

// expected-error @+1 {{tile.access must be "in", "out" or "inout", got "read"}}
func.func @direction(%a: !tile.view<1xf32> {tile.access = "read"}) attributes {tile.kernel} { return }

// -----

func.func @loop_attribute(%x: tensor<32xf32>) {
  // expected-error @+1 {{tile.unroll belongs on a loop}}
  %y = arith.addf %x, %x {tile.unroll = 2 : i32} : tensor<32xf32>
  return
}

// -----

func.func @stages(%n: i32) {
  // expected-error @+1 {{tile.stages must be 1 to 2147483647, got 0}}
  scf.for %i = %n to %n step %n : i32 {
  } {tile.stages = 0 : i32}
  return
}

// -----

func.func @flag(%n: i32) {
  // expected-error @+1 {{tile.no_licm takes no value}}
  scf.for %i = %n to %n step %n : i32 {
  } {tile.no_licm = 1 : i32}
  return
}

// -----

func.func @view_of_something(%p: !tile.ptr<f16>, %n: i32) {
  // expected-error @+1 {{tilegpu.view_of must be a #tilegpu.view_of<...> of its rank on a tile.make_view}}
  %v = tile.make_view %p, extents [%n, %n], strides [%n, %n] {tilegpu.view_of = #tilegpu.view_of<arg = 0, dims = [0]>} : i32 -> !tile.view<2xf16>
  return
}

// -----

// expected-error @+1 {{a view is of distinct dimensions of an argument, got [0, 0] of argument 0}}
#twice = #tilegpu.view_of<arg = 0, dims = [0, 0]>

// -----

// expected-error @+1 {{a tensor map is of 1 to 5 distinct dimensions of an argument, each with an extent of the box}}
#boxless = #tilegpu.tensor_map<arg = 0, element = f16, dims = [1, 0], box = [64], swizzle = 128>

// -----

// expected-error @+1 {{extents of a box are 1 to 256, got 257}}
#wide = #tilegpu.tensor_map<arg = 0, element = f16, dims = [1, 0], box = [64, 257], swizzle = 128>

// -----

// expected-error @+1 {{a swizzle spans 0, 32, 64 or 128 bytes, got 16}}
#narrow = #tilegpu.tensor_map<arg = 0, element = f16, dims = [1, 0], box = [64, 128], swizzle = 16>

// -----

// expected-error @+1 {{elements must be numbers, got}}
#index = #tilegpu.tensor_map<arg = 0, element = !tile.ptr<f16>, dims = [0], box = [64], swizzle = 0>

// -----

func.func @asynchronous_store(%x: tensor<32xf32>, %v: !tile.view<1xf32>, %o: i32) {
  // expected-error @+1 {{tilegpu.variant of a store must be a #tilegpu.store<...>, got #tilegpu.load<cp_async>}}
  tile.view_store %x, %v[%o] {tilegpu.variant = #tilegpu.load<cp_async>} : tensor<32xf32>, !tile.view<1xf32>
  return
}

// -----

func.func @load_in_quads(%v: !tile.view<1xf16>, %o: i32) {
  // expected-error @+1 {{tilegpu.variant of a load must be a #tilegpu.load<...>, got #tilegpu.store<quad>}}
  %x = tile.view_load %v[%o] {tilegpu.variant = #tilegpu.store<quad>} : !tile.view<1xf16> -> tensor<32xf16>
  return
}

// -----

func.func @tile_step(%b: i1) -> i32 {
  %c = arith.constant 0 : i32
  // expected-error @+1 {{tilegpu.tile_step must be a #tilegpu.tile_step<...> on an scf.if without results and without an else}}
  %r = scf.if %b -> i32 {
    scf.yield %c : i32
  } else {
    scf.yield %c : i32
  } {tilegpu.tile_step = #tilegpu.tile_step<last>}
  return %r : i32
}

// -----

func.func @k_major_length(%a: tensor<64x16xf16>, %b: tensor<16x64xf16>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{tilegpu.k_major must be array<i1: ...>, of a and b, on a tile.dot by wgmma}}
  %d = tile.dot %a, %b, %c {tilegpu.variant = #tilegpu.dot<wgmma>, tilegpu.k_major = array<i1: true>} : tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32>
  return
}

// -----

func.func @k_major_variant(%a: tensor<64x16xf16>, %b: tensor<16x64xf16>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{tilegpu.k_major must be array<i1: ...>, of a and b, on a tile.dot by wgmma}}
  %d = tile.dot %a, %b, %c {tilegpu.k_major = array<i1: true, true>} : tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32>
  return
}
