#layout = #tilegpu.layout<register = [[0, 1], [0, 2], [0, 512]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = [[0, 128], [0, 256]]>
#layout1 = #tilegpu.layout<register = [], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]]>
#layout2 = #tilegpu.layout<register = [], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = [[0, 0], [0, 0]]>
#layout3 = #tilegpu.layout<register = [[1], [2], [512]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]>
#layout4 = #tilegpu.layout<register = [], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = [[0, 1], [0, 2]]>
#layout5 = #tilegpu.layout<register = [[0, 1], [0, 2]], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = [[0, 0], [0, 0]]>
#map = affine_map<()[s0] -> (s0)>
#shared = #tilegpu.shared<panel = [0, 2], linear = [1, 2], digits = [0, 0]>
module {
  func.func @softmax(%arg0: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.param = #tile.param<pointer, 0>}, %arg1: i32 {tile.divisibility = 16 : i32, tile.param = #tile.param<extent, 0, 0>}, %arg2: i32 {tile.divisibility = 1024 : i32, tile.param = #tile.param<extent, 0, 1>}, %arg3: i32 {tile.divisibility = 4 : i32, tile.param = #tile.param<stride, 0, 0>}, %arg4: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.param = #tile.param<pointer, 1>}, %arg5: i32 {tile.divisibility = 16 : i32, tile.param = #tile.param<extent, 1, 0>}, %arg6: i32 {tile.divisibility = 1024 : i32, tile.param = #tile.param<extent, 1, 1>}, %arg7: i32 {tile.divisibility = 4 : i32, tile.param = #tile.param<stride, 1, 0>}) attributes {tile.grid = #map, tile.grid_symbols = [array<i32: 5, -1>], tile.kernel, tile.warps = 4 : i32, tilegpu.shared_bytes = 16 : i32} {
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0xFF800000> : tensor<1x1024xf32, #layout>
    %c1_i32 = arith.constant 1 : i32
    %0 = tile.make_view %arg4, extents [%arg5, %arg6], strides [%arg7, %c1_i32] {tilegpu.view_of = #tilegpu.view_of<arg = 1, dims = [0, 1]>} : i32 -> !tile.view<2xf32>
    %1 = tile.make_view %arg0, extents [%arg1, %arg2], strides [%arg3, %c1_i32] {tilegpu.view_of = #tilegpu.view_of<arg = 0, dims = [0, 1]>} : i32 -> !tile.view<2xf32>
    %2 = tile.arange 0, 1 : tensor<1xi32, #layout1>
    %3 = tile.reshape %2 : tensor<1xi32, #layout1> -> tensor<1x1xi32, #layout2>
    %4 = tile.program_id 0 : i32
    %5 = tile.splat %4 : i32 -> tensor<1x1xi32, #layout2>
    %6 = arith.addi %3, %5 : tensor<1x1xi32, #layout2>
    %7 = tile.splat %arg1 : i32 -> tensor<1x1xi32, #layout2>
    %8 = arith.cmpi ult, %6, %7 : tensor<1x1xi32, #layout2>
    %9 = tile.broadcast %8 : tensor<1x1xi1, #layout2> -> tensor<1x1024xi1, #layout>
    %10 = tile.arange 0, 1024 : tensor<1024xi32, #layout3>
    %11 = tile.reshape %10 : tensor<1024xi32, #layout3> -> tensor<1x1024xi32, #layout>
    %12 = tile.splat %arg2 : i32 -> tensor<1x1024xi32, #layout>
    %13 = arith.cmpi ult, %11, %12 : tensor<1x1024xi32, #layout>
    %14 = arith.andi %9, %13 : tensor<1x1024xi1, #layout>
    %15 = tile.view_load %1[%4, %c0_i32] {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 4, bounds = [tile, tile]>, tilegpu.variant = #tilegpu.load<vector>} : <2xf32> -> tensor<1x1024xf32, #layout>
    %16 = arith.select %14, %15, %cst : tensor<1x1024xi1, #layout>, tensor<1x1024xf32, #layout>
    %17 = tilegpu.reduce_partial %16 axis 1 : tensor<1x1024xf32, #layout> -> tensor<1x4xf32, #layout4> {
    ^bb0(%arg8: f32, %arg9: f32):
      %32 = arith.maxnumf %arg8, %arg9 : f32
      tilegpu.yield %32 : f32
    }
    %18 = tilegpu.smem_alloc {offset = 0 : i32} : <1x4xf32, #shared>
    tilegpu.smem_store %17, %18 : tensor<1x4xf32, #layout4>, <1x4xf32, #shared>
    tilegpu.barrier {reason = "read after write of shared memory bytes 0 to 15"}
    %19 = tilegpu.smem_load %18 : <1x4xf32, #shared> -> tensor<1x4xf32, #layout5>
    %20 = tile.reduce %19 axis 1 : tensor<1x4xf32, #layout5> -> tensor<1xf32, #layout1> {
    ^bb0(%arg8: f32, %arg9: f32):
      %32 = arith.maxnumf %arg8, %arg9 : f32
      tile.yield %32 : f32
    }
    %21 = tile.reshape %20 : tensor<1xf32, #layout1> -> tensor<1x1xf32, #layout2>
    %22 = tile.broadcast %21 : tensor<1x1xf32, #layout2> -> tensor<1x1024xf32, #layout>
    %23 = arith.subf %16, %22 : tensor<1x1024xf32, #layout>
    %24 = math.exp %23 : tensor<1x1024xf32, #layout>
    %25 = tilegpu.reduce_partial %24 axis 1 : tensor<1x1024xf32, #layout> -> tensor<1x4xf32, #layout4> {
    ^bb0(%arg8: f32, %arg9: f32):
      %32 = arith.addf %arg8, %arg9 : f32
      tilegpu.yield %32 : f32
    }
    %26 = tilegpu.smem_alloc {offset = 0 : i32} : <1x4xf32, #shared>
    tilegpu.barrier {reason = "write after read of shared memory bytes 0 to 15"}
    tilegpu.smem_store %25, %26 : tensor<1x4xf32, #layout4>, <1x4xf32, #shared>
    tilegpu.barrier {reason = "read after write of shared memory bytes 0 to 15"}
    %27 = tilegpu.smem_load %26 : <1x4xf32, #shared> -> tensor<1x4xf32, #layout5>
    %28 = tile.reduce %27 axis 1 : tensor<1x4xf32, #layout5> -> tensor<1xf32, #layout1> {
    ^bb0(%arg8: f32, %arg9: f32):
      %32 = arith.addf %arg8, %arg9 : f32
      tile.yield %32 : f32
    }
    %29 = tile.reshape %28 : tensor<1xf32, #layout1> -> tensor<1x1xf32, #layout2>
    %30 = tile.broadcast %29 : tensor<1x1xf32, #layout2> -> tensor<1x1024xf32, #layout>
    %31 = arith.divf %24, %30 : tensor<1x1024xf32, #layout>
    tile.view_store %31, %0[%4, %c0_i32] {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 4, bounds = [tile, tile]>, tilegpu.variant = #tilegpu.store<vector>} : tensor<1x1024xf32, #layout>, <2xf32>
    return
  }
}
