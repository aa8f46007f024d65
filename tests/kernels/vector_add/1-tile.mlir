#map = affine_map<()[s0] -> (s0 ceildiv 1024)>
module {
  func.func @vector_add(%arg0: !tile.view<1xf32> {tile.access = "in", tile.alignment = 16 : i32, tile.extent_divisible = array<i64: 1024>, tile.stride_bytes_divisible = array<i64: 4>, tile.unit_stride = array<i32: 0>}, %arg1: !tile.view<1xf32> {tile.access = "in", tile.alignment = 16 : i32, tile.extent_divisible = array<i64: 1024>, tile.stride_bytes_divisible = array<i64: 4>, tile.unit_stride = array<i32: 0>}, %arg2: !tile.view<1xf32> {tile.access = "out", tile.alignment = 16 : i32, tile.extent_divisible = array<i64: 1024>, tile.stride_bytes_divisible = array<i64: 4>, tile.unit_stride = array<i32: 0>}) attributes {tile.grid = #map, tile.grid_symbols = [array<i32: 2, 0>], tile.kernel, tile.warps = 4 : i32} {
    %0 = tile.program_id 0 : i32
    %c1024_i32 = arith.constant 1024 : i32
    %1 = arith.muli %0, %c1024_i32 : i32
    %2 = tile.view_load %arg0[%1] : <1xf32> -> tensor<1024xf32>
    %c1024_i32_0 = arith.constant 1024 : i32
    %3 = arith.muli %0, %c1024_i32_0 : i32
    %4 = tile.view_load %arg1[%3] : <1xf32> -> tensor<1024xf32>
    %5 = arith.addf %2, %4 : tensor<1024xf32>
    %c1024_i32_1 = arith.constant 1024 : i32
    %6 = arith.muli %0, %c1024_i32_1 : i32
    tile.view_store %5, %arg2[%6] : tensor<1024xf32>, <1xf32>
    return
  }
}
