#map = affine_map<()[s0] -> (s0)>
module {
  func.func @softmax(%arg0: !tile.view<2xf32> {tile.access = "in", tile.alignment = 16 : i32, tile.extent_divisible = array<i64: 16, 1024>, tile.stride_bytes_divisible = array<i64: 16, 4>, tile.unit_stride = array<i32: 1>}, %arg1: !tile.view<2xf32> {tile.access = "out", tile.alignment = 16 : i32, tile.extent_divisible = array<i64: 16, 1024>, tile.stride_bytes_divisible = array<i64: 16, 4>, tile.unit_stride = array<i32: 1>}) attributes {tile.grid = #map, tile.grid_symbols = [array<i32: 1, 0>], tile.kernel, tile.warps = 4 : i32} {
    %0 = tile.arange 0, 1 : tensor<1xi32>
    %1 = tile.reshape %0 : tensor<1xi32> -> tensor<1x1xi32>
    %2 = tile.program_id 0 : i32
    %3 = tile.splat %2 : i32 -> tensor<1x1xi32>
    %4 = arith.addi %1, %3 : tensor<1x1xi32>
    %5 = tile.dim %arg0, 0 : <2xf32> -> i32
    %6 = tile.splat %5 : i32 -> tensor<1x1xi32>
    %7 = arith.cmpi ult, %4, %6 : tensor<1x1xi32>
    %8 = tile.broadcast %7 : tensor<1x1xi1> -> tensor<1x1024xi1>
    %9 = tile.arange 0, 1024 : tensor<1024xi32>
    %10 = tile.reshape %9 : tensor<1024xi32> -> tensor<1x1024xi32>
    %cst = arith.constant dense<0> : tensor<1x1024xi32>
    %11 = arith.addi %10, %cst : tensor<1x1024xi32>
    %12 = tile.dim %arg0, 1 : <2xf32> -> i32
    %13 = tile.splat %12 : i32 -> tensor<1x1024xi32>
    %14 = arith.cmpi ult, %11, %13 : tensor<1x1024xi32>
    %15 = arith.andi %8, %14 : tensor<1x1024xi1>
    %c0_i32 = arith.constant 0 : i32
    %16 = tile.view_load %arg0[%2, %c0_i32] : <2xf32> -> tensor<1x1024xf32>
    %cst_0 = arith.constant dense<0xFF800000> : tensor<1x1024xf32>
    %17 = arith.select %15, %16, %cst_0 : tensor<1x1024xi1>, tensor<1x1024xf32>
    %18 = tile.reduce %17 axis 1 : tensor<1x1024xf32> -> tensor<1xf32> {
    ^bb0(%arg2: f32, %arg3: f32):
      %27 = arith.maxnumf %arg2, %arg3 : f32
      tile.yield %27 : f32
    }
    %19 = tile.reshape %18 : tensor<1xf32> -> tensor<1x1xf32>
    %20 = tile.broadcast %19 : tensor<1x1xf32> -> tensor<1x1024xf32>
    %21 = arith.subf %17, %20 : tensor<1x1024xf32>
    %22 = math.exp %21 : tensor<1x1024xf32>
    %23 = tile.reduce %22 axis 1 : tensor<1x1024xf32> -> tensor<1xf32> {
    ^bb0(%arg2: f32, %arg3: f32):
      %27 = arith.addf %arg2, %arg3 : f32
      tile.yield %27 : f32
    }
    %24 = tile.reshape %23 : tensor<1xf32> -> tensor<1x1xf32>
    %25 = tile.broadcast %24 : tensor<1x1xf32> -> tensor<1x1024xf32>
    %26 = arith.divf %22, %25 : tensor<1x1024xf32>
    %c0_i32_1 = arith.constant 0 : i32
    tile.view_store %26, %arg1[%2, %c0_i32_1] : tensor<1x1024xf32>, <2xf32>
    return
  }
}
