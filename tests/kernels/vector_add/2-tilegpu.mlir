#layout = #tilegpu.layout<register = [[1], [2], [512]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]>
#map = affine_map<()[s0] -> (s0 ceildiv 1024)>
module {
  func.func @vector_add(%arg0: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.param = #tile.param<pointer, 0>}, %arg1: i32 {tile.divisibility = 1024 : i32, tile.param = #tile.param<extent, 0, 0>}, %arg2: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.param = #tile.param<pointer, 1>}, %arg3: i32 {tile.divisibility = 1024 : i32, tile.param = #tile.param<extent, 1, 0>}, %arg4: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.param = #tile.param<pointer, 2>}, %arg5: i32 {tile.divisibility = 1024 : i32, tile.param = #tile.param<extent, 2, 0>}) attributes {tile.grid = #map, tile.grid_symbols = [array<i32: 5, -1>], tile.kernel, tile.warps = 4 : i32, tilegpu.shared_bytes = 0 : i32} {
    %c1024_i32 = arith.constant 1024 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = tile.make_view %arg4, extents [%arg5], strides [%c1_i32] {tilegpu.view_of = #tilegpu.view_of<arg = 2, dims = [0]>} : i32 -> !tile.view<1xf32>
    %1 = tile.make_view %arg2, extents [%arg3], strides [%c1_i32] {tilegpu.view_of = #tilegpu.view_of<arg = 1, dims = [0]>} : i32 -> !tile.view<1xf32>
    %2 = tile.make_view %arg0, extents [%arg1], strides [%c1_i32] {tilegpu.view_of = #tilegpu.view_of<arg = 0, dims = [0]>} : i32 -> !tile.view<1xf32>
    %3 = tile.program_id 0 : i32
    %4 = arith.muli %3, %c1024_i32 : i32
    %5 = tile.view_load %2[%4] {tilegpu.access = #tilegpu.access<order = [0], vector = 4, bounds = [tile]>, tilegpu.variant = #tilegpu.load<vector>} : <1xf32> -> tensor<1024xf32, #layout>
    %6 = tile.view_load %1[%4] {tilegpu.access = #tilegpu.access<order = [0], vector = 4, bounds = [tile]>, tilegpu.variant = #tilegpu.load<vector>} : <1xf32> -> tensor<1024xf32, #layout>
    %7 = arith.addf %5, %6 : tensor<1024xf32, #layout>
    tile.view_store %7, %0[%4] {tilegpu.access = #tilegpu.access<order = [0], vector = 4, bounds = [tile]>, tilegpu.variant = #tilegpu.store<vector>} : tensor<1024xf32, #layout>, <1xf32>
    return
  }
}
