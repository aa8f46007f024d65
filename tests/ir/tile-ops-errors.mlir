// What the verifiers of `tile` reject, one case a message.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a pointer's element type must be a supported number, got 'i4'}}
func.func @pointer_to_i4(%p: !tile.ptr<i4>) { return }

// -----

// expected-error @+1 {{a pointer's element type must be a supported number, got 'index'}}
func.func @pointer_to_index(%p: !tile.ptr<index>) { return }

// -----

// expected-error @+1 {{a pointer's element type must be a supported number, got 'ui32'}}
func.func @pointer_to_unsigned(%p: !tile.ptr<ui32>) { return }

// -----

// expected-error @+1 {{a view's rank must be 1 to 8, got 0}}
func.func @view_rank(%v: !tile.view<0xf32>) { return }

// -----

// expected-error @+1 {{a view's rank must be 1 to 8, got 9}}
func.func @view_rank(%v: !tile.view<9xf32>) { return }

// -----

// expected-error @+1 {{a view's element type must be a supported number, got 'f80'}}
func.func @view_element(%v: !tile.view<1xf80>) { return }

// -----

// expected-error @+1 {{expected a rank and an element type, such as <2xf16>}}
func.func @view_text(%v: !tile.view<2x3xf32>) { return }

// -----

// expected-error @+1 {{'builtin.module' op tile.kernel belongs on a func.func}}
module attributes {tile.kernel} {}

// -----

// expected-error @+1 {{a kernel needs a body}}
func.func private @kernel_elsewhere(%x: f32) attributes {tile.kernel}

// -----

// expected-error @+1 {{a kernel returns nothing}}
func.func @kernel_returns(%x: f32) -> f32 attributes {tile.kernel} { return %x : f32 }

// -----

// expected-error @+1 {{a kernel's arguments are views, pointers and scalars, got 'tensor<4xf32>'}}
func.func @kernel_takes_tile(%x: tensor<4xf32>) attributes {tile.kernel} { return }

// -----

// expected-error @+1 {{tile.warps must be an i32}}
func.func @warps_type() attributes {tile.warps = 4 : i64} { return }

// -----

// expected-error @+1 {{tile.warps must be an i32}}
func.func @warps_text() attributes {tile.warps = "4"} { return }

// -----

// expected-error @+1 {{tile.warps must be a power of two from 1 to 32, got 7}}
func.func @warps_seven() attributes {tile.warps = 7 : i32} { return }

// -----

// expected-error @+1 {{tile.warps must be a power of two from 1 to 32, got 0}}
func.func @warps_zero() attributes {tile.warps = 0 : i32} { return }

// -----

// expected-error @+1 {{tile.warps must be a power of two from 1 to 32, got 64}}
func.func @warps_many() attributes {tile.warps = 64 : i32} { return }

// -----

// expected-error @+1 {{tile.grid must be an affine map over symbols with 1 to 3 results}}
func.func @grid_dims() attributes {tile.grid = affine_map<(d0) -> (d0)>} { return }

// -----

// expected-error @+1 {{tile.grid must be an affine map over symbols with 1 to 3 results}}
func.func @grid_results() attributes {tile.grid = affine_map<() -> (1, 1, 1, 1)>, tile.grid_symbols = []} { return }

// -----

// expected-error @+1 {{tile.grid_symbols must name one [argument, dimension] pair a symbol of tile.grid}}
func.func @grid_without_symbols() attributes {tile.grid = affine_map<()[s0] -> (s0)>} { return }

// -----

// expected-error @+1 {{tile.grid_symbols must be an array on a function}}
func.func @symbols_form() attributes {tile.grid_symbols = 1 : i32} { return }

// -----

// expected-error @+1 {{tile.grid_symbols must hold pairs array<i32: argument, dimension>}}
func.func @symbols_pairs(%n: i32) attributes {tile.grid_symbols = [array<i32: 0>]} { return }

// -----

// expected-error @+1 {{tile.grid_symbols names argument 1, which does not exist}}
func.func @symbols_argument(%n: i32) attributes {tile.grid_symbols = [array<i32: 1, -1>]} { return }

// -----

// expected-error @+1 {{tile.grid_symbols names dimension 2 of argument 0, which has none}}
func.func @symbols_dimension(%v: !tile.view<2xf32>) attributes {tile.grid_symbols = [array<i32: 0, 2>]} { return }

// -----

// expected-error @+1 {{tile.grid_symbols names dimension -1 of argument 0, which has none}}
func.func @symbols_float(%x: f32) attributes {tile.grid_symbols = [array<i32: 0, -1>]} { return }

// -----

func.func @program_id() {
  // expected-error @+1 {{axis must be 0, 1 or 2, got 3}}
  %a = tile.program_id 3 : i32
  return
}

// -----

func.func @num_programs() {
  // expected-error @+1 {{axis must be 0, 1 or 2, got -1}}
  %a = tile.num_programs -1 : i32
  return
}

// -----

func.func @make_view_count(%p: !tile.ptr<f32>, %n: i32) {
  // expected-error @+1 {{needs 2 extents, got 1}}
  %v = tile.make_view %p, extents [%n], strides [%n] : i32 -> !tile.view<2xf32>
  return
}

// -----

func.func @make_view_strides(%p: !tile.ptr<f32>, %n: i32) {
  // expected-error @+1 {{extents and strides differ in number}}
  %v = tile.make_view %p, extents [%n, %n], strides [%n] : i32 -> !tile.view<2xf32>
  return
}

// -----

func.func @make_view_generic(%p: !tile.ptr<f32>, %n: i32) {
  // expected-error @+1 {{extents and strides differ in number}}
  %v = "tile.make_view"(%p, %n, %n, %n) : (!tile.ptr<f32>, i32, i32, i32) -> !tile.view<1xf32>
  return
}

// -----

func.func @make_view_widths(%p: !tile.ptr<f32>, %n: i32, %l: i64) {
  // expected-error @+1 {{extents and strides must all be i32 or all be i64}}
  %v = "tile.make_view"(%p, %n, %l) : (!tile.ptr<f32>, i32, i64) -> !tile.view<1xf32>
  return
}

// -----

func.func @make_view_element(%p: !tile.ptr<f32>, %n: i32) {
  // expected-error @+1 {{the pointer's element type 'f32' is not the view's 'f16'}}
  %v = "tile.make_view"(%p, %n, %n) : (!tile.ptr<f32>, i32, i32) -> !tile.view<1xf16>
  return
}

// -----

func.func @dim(%v: !tile.view<2xf32>) {
  // expected-error @+1 {{axis 2 is outside a rank of 2}}
  %d = tile.dim %v, 2 : !tile.view<2xf32> -> i32
  return
}

// -----

func.func @stride(%v: !tile.view<2xf32>) {
  // expected-error @+1 {{axis -1 is outside a rank of 2}}
  %d = tile.stride %v, -1 : !tile.view<2xf32> -> i32
  return
}

// -----

func.func @base(%v: !tile.view<2xf32>) {
  // expected-error @+1 {{the pointer's element type must be the view's, 'f32'}}
  %d = tile.base %v : !tile.view<2xf32> -> !tile.ptr<f16>
  return
}

// -----

func.func @permute_view_length(%v: !tile.view<2xf32>) {
  // expected-error @+1 {{order must be a permutation of the 2 dimensions}}
  %d = tile.permute_view %v, [0] : !tile.view<2xf32>
  return
}

// -----

func.func @permute_view_twice(%v: !tile.view<2xf32>) {
  // expected-error @+1 {{order must be a permutation of the 2 dimensions}}
  %d = tile.permute_view %v, [1, 1] : !tile.view<2xf32>
  return
}

// -----

func.func @tile_rank(%v: !tile.view<1xf32>, %i: i32) {
  // expected-error @+1 {{the tile has rank 2, the view 1}}
  %t = tile.view_load %v[%i] : !tile.view<1xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @offset_count(%v: !tile.view<2xf32>, %i: i32) {
  // expected-error @+1 {{needs 2 offsets, got 1}}
  %t = tile.view_load %v[%i] : !tile.view<2xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @access_element(%v: !tile.view<1xf32>, %i: i32, %x: tensor<4xf16>) {
  // expected-error @+1 {{the tile holds 'f16', the view 'f32'}}
  tile.view_store %x, %v[%i] : tensor<4xf16>, !tile.view<1xf32>
  return
}

// -----

func.func @hinted_addition(%v: !tile.view<1xf32>, %i: i32, %x: tensor<4xf32>) {
  // expected-error @+1 {{add takes no hints}}
  tile.view_store %x, %v[%i] add cache cs : tensor<4xf32>, !tile.view<1xf32>
  return
}

// -----

func.func @narrow_addition(%v: !tile.view<1xi16>, %i: i32, %x: tensor<4xi16>) {
  // expected-error @+1 {{no atomic add of 'i16'}}
  tile.view_store %x, %v[%i] add : tensor<4xi16>, !tile.view<1xi16>
  return
}

// -----

func.func @pad_nan(%v: !tile.view<1xi32>, %i: i32) {
  // expected-error @+1 {{pad nan needs a float element type, got 'i32'}}
  %t = tile.view_load %v[%i] pad nan : !tile.view<1xi32> -> tensor<4xi32>
  return
}

// -----

func.func @too_many_elements(%v: !tile.view<2xf32>, %i: i32) {
  // expected-error @+1 {{a tile has at most 1048576 elements}}
  %t = tile.view_load %v[%i, %i] : !tile.view<2xf32> -> tensor<1024x2048xf32>
  return
}

// -----

func.func @product_overflows(%x: f32) {
  // expected-error @+1 {{a tile has at most 1048576 elements}}
  %t = tile.splat %x : f32 -> tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @zero_extent(%x: f32) {
  // expected-error @+1 {{a tile's extents must be at least 1, got 0}}
  %t = tile.splat %x : f32 -> tensor<4x0xf32>
  return
}

// -----

func.func @too_many_dimensions(%x: f32) {
  // expected-error @+1 {{a tile has at most 8 dimensions, got 9}}
  %t = tile.splat %x : f32 -> tensor<1x1x1x1x1x1x1x1x1xf32>
  return
}

// -----

func.func @dynamic_extent(%x: f32) {
  // expected-error @+1 {{op result #0 must be tile of supported number or Pointer to one element in global memory values, but got 'tensor<?xf32>'}}
  %t = tile.splat %x : f32 -> tensor<?xf32>
  return
}

// -----

func.func @unsupported_element(%x: i4) {
  // expected-error @+1 {{op operand #0 must be}}
  %t = tile.splat %x : i4 -> tensor<4xi4>
  return
}

// -----

func.func @addptr_shape(%p: tensor<4x!tile.ptr<f32>>, %o: tensor<8xi32>) {
  // expected-error @+1 {{the pointer is 4, the offset is 8}}
  %q = tile.addptr %p, %o : tensor<4x!tile.ptr<f32>>, tensor<8xi32>
  return
}

// -----

func.func @addptr_scalar(%p: tensor<4x!tile.ptr<f32>>, %o: i32) {
  // expected-error @+1 {{the pointer is 4, the offset is scalar}}
  %q = tile.addptr %p, %o : tensor<4x!tile.ptr<f32>>, i32
  return
}

// -----

func.func @load_element(%p: !tile.ptr<f32>) {
  // expected-error @+1 {{the pointer points at 'f32', the value is 'f16'}}
  %x = tile.load %p : !tile.ptr<f32> -> f16
  return
}

// -----

func.func @load_shape(%p: tensor<4x!tile.ptr<f32>>) {
  // expected-error @+1 {{the pointer is 4, the result is 2x2}}
  %x = tile.load %p : tensor<4x!tile.ptr<f32>> -> tensor<2x2xf32>
  return
}

// -----

func.func @load_mask(%p: tensor<4x!tile.ptr<f32>>, %m: tensor<8xi1>) {
  // expected-error @+1 {{the pointer is 4, the mask is 8}}
  %x = tile.load %p mask %m : tensor<4x!tile.ptr<f32>>, tensor<8xi1> -> tensor<4xf32>
  return
}

// -----

func.func @load_other_alone(%p: tensor<4x!tile.ptr<f32>>, %o: tensor<4xf32>) {
  // expected-error @+1 {{other needs a mask}}
  %x = "tile.load"(%p, %o) <{operandSegmentSizes = array<i32: 1, 0, 1>}>
      : (tensor<4x!tile.ptr<f32>>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @load_other_type(%p: tensor<4x!tile.ptr<f32>>, %m: tensor<4xi1>, %o: tensor<4xf16>) {
  // expected-error @+1 {{other must have the result's type 'tensor<4xf32>'}}
  %x = tile.load %p mask %m other %o : tensor<4x!tile.ptr<f32>>, tensor<4xi1>, tensor<4xf16> -> tensor<4xf32>
  return
}

// -----

func.func @store_element(%p: !tile.ptr<f32>, %x: i32) {
  // expected-error @+1 {{the pointer points at 'f32', the value is 'i32'}}
  tile.store %x, %p : i32, !tile.ptr<f32>
  return
}

// -----

func.func @store_shape(%p: tensor<4x!tile.ptr<f32>>, %x: f32) {
  // expected-error @+1 {{the pointer is 4, the value is scalar}}
  tile.store %x, %p : f32, tensor<4x!tile.ptr<f32>>
  return
}

// -----

func.func @store_mask(%p: tensor<4x!tile.ptr<f32>>, %x: tensor<4xf32>, %m: i1) {
  // expected-error @+1 {{the pointer is 4, the mask is scalar}}
  tile.store %x, %p mask %m : tensor<4xf32>, tensor<4x!tile.ptr<f32>>, i1
  return
}

// -----

func.func @splat_element(%x: f32) {
  // expected-error @+1 {{the tile's element type must be the value's, 'f32'}}
  %t = tile.splat %x : f32 -> tensor<4xf16>
  return
}

// -----

func.func @arange_order() {
  // expected-error @+1 {{needs start < end, got 4 and 4}}
  %t = tile.arange 4, 4 : tensor<1xi32>
  return
}

// -----

func.func @arange_extremes() {
  // expected-error @+1 {{the result must have 4294967295 elements}}
  %t = tile.arange -2147483648, 2147483647 : tensor<1xi32>
  return
}

// -----

func.func @arange_length() {
  // expected-error @+1 {{the result must have 4 elements}}
  %t = tile.arange 0, 4 : tensor<8xi32>
  return
}

// -----

func.func @reshape_element(%x: tensor<4xf32>) {
  // expected-error @+1 {{cannot change the element type}}
  %t = tile.reshape %x : tensor<4xf32> -> tensor<4xf16>
  return
}

// -----

func.func @reshape_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{cannot reshape 4 into 2x3: the number of elements differs}}
  %t = tile.reshape %x : tensor<4xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @permute_order(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{order must be a permutation of the 2 dimensions}}
  %t = tile.permute %x, [0, 2] : tensor<4x8xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @permute_element(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{result must have the operand's rank and element type}}
  %t = tile.permute %x, [1, 0] : tensor<4x8xf32> -> tensor<8x4xf16>
  return
}

// -----

func.func @permute_shape(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{result dimension 0 must be 8, got 4}}
  %t = tile.permute %x, [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @expand_dims_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{axis 2 is outside a rank of 2}}
  %t = tile.expand_dims %x, 2 : tensor<4xf32> -> tensor<4x1xf32>
  return
}

// -----

func.func @expand_dims_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{result must be 4x1 of 'f32'}}
  %t = tile.expand_dims %x, 1 : tensor<4xf32> -> tensor<1x4xf32>
  return
}

// -----

func.func @broadcast_rank(%x: tensor<4xf32>) {
  // expected-error @+1 {{result must have the operand's rank and element type}}
  %t = tile.broadcast %x : tensor<4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcast_shape(%x: tensor<2x1xf32>) {
  // expected-error @+1 {{cannot broadcast 2x1 to 4x4}}
  %t = tile.broadcast %x : tensor<2x1xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @convert_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{all non-scalar operands/results must have the same shape and base type}}
  %t = tile.convert %x : tensor<4xf32> -> tensor<8xf16>
  return
}

// -----

func.func @reduce_nothing() {
  // expected-error @+1 {{needs one result an operand, and at least one operand}}
  "tile.reduce"() <{axis = 0 : i32}> ({
  ^bb0:
    tile.yield
  }) : () -> ()
  return
}

// -----

func.func @reduce_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{axis 1 is outside a rank of 1}}
  %r = tile.reduce %x axis 1 : tensor<4xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_shapes(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{operands differ in shape: 4 and 8}}
  %r:2 = tile.reduce %x, %y axis 0 : tensor<4xf32>, tensor<8xf32> -> f32, f32 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  }
  return
}

// -----

func.func @reduce_result(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{result must be 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %r = tile.reduce %x axis 1 : tensor<4x8xf32> -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_arguments(%x: tensor<4xf32>) {
  // expected-error @+1 {{the region needs 2 arguments, got 1}}
  %r = tile.reduce %x axis 0 : tensor<4xf32> -> f32 {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_yield(%x: tensor<4xf32>) {
  // expected-error @+1 {{the region must yield 1 values}}
  %r = tile.reduce %x axis 0 : tensor<4xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield
  }
  return
}

// -----

func.func @reduce_types(%x: tensor<4xf32>) {
  // expected-error @+1 {{the region's arguments and results 0 must be 'f32'}}
  %r = tile.reduce %x axis 0 : tensor<4xf32> -> f32 {
  ^bb0(%a: f16, %b: f16):
    tile.yield %a : f16
  }
  return
}

// -----

func.func @reduce_effects(%x: tensor<4xf32>, %p: !tile.ptr<f32>) {
  %r = tile.reduce %x axis 0 : tensor<4xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    // expected-error @+1 {{is not allowed in a combine region: only pure scalar operations are}}
    tile.store %a, %p : f32, !tile.ptr<f32>
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_tiles_inside(%x: tensor<4xf32>) {
  %r = tile.reduce %x axis 0 : tensor<4xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    // expected-error @+1 {{is not allowed in a combine region: only pure scalar operations are}}
    %t = tile.splat %a : f32 -> tensor<4xf32>
    tile.yield %a : f32
  }
  return
}

// -----

func.func @yield_elsewhere(%x: f32) {
  // expected-error @+1 {{expects parent op to be one of 'tile.reduce, tile.scan'}}
  tile.yield %x : f32
}

// -----

func.func @convert_rounding(%x: tensor<4xi32>) {
  // expected-error @+1 {{rounding rtz applies to floats, got 'i32' to 'f16'}}
  %t = tile.convert %x rounding rtz : tensor<4xi32> -> tensor<4xf16>
  return
}

// -----

func.func @variant_of_no_access(%x: tensor<4xf32>) {
  // expected-error @+1 {{tile.variant belongs on a load, a store or a product}}
  %t = arith.addf %x, %x {tile.variant = 1 : i32} : tensor<4xf32>
  return
}
