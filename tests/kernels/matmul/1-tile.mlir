#map = affine_map<()[s0, s1] -> ((s0 ceildiv 32) * (s1 ceildiv 32))>
module {
  func.func @matmul(%arg0: !tile.view<2xf16> {tile.access = "in", tile.alignment = 16 : i32, tile.extent_divisible = array<i64: 32, 32>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.unit_stride = array<i32: 1>}, %arg1: !tile.view<2xf16> {tile.access = "in", tile.alignment = 16 : i32, tile.extent_divisible = array<i64: 32, 32>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.unit_stride = array<i32: 1>}, %arg2: !tile.view<2xf16> {tile.access = "out", tile.alignment = 16 : i32, tile.extent_divisible = array<i64: 32, 32>, tile.stride_bytes_divisible = array<i64: 16, 2>, tile.unit_stride = array<i32: 1>}) attributes {tile.grid = #map, tile.grid_symbols = [array<i32: 2, 0>, array<i32: 2, 1>], tile.kernel, tile.warps = 4 : i32} {
    %c0_i32 = arith.constant 0 : i32
    %0 = tile.dim %arg0, 1 : <2xf16> -> i32
    %c31_i32 = arith.constant 31 : i32
    %1 = arith.addi %0, %c31_i32 : i32
    %c32_i32 = arith.constant 32 : i32
    %2 = arith.divsi %1, %c32_i32 : i32
    %c1_i32 = arith.constant 1 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
    %3 = tile.program_id 0 : i32
    %4 = tile.dim %arg2, 1 : <2xf16> -> i32
    %c31_i32_0 = arith.constant 31 : i32
    %5 = arith.addi %4, %c31_i32_0 : i32
    %c32_i32_1 = arith.constant 32 : i32
    %6 = arith.divui %5, %c32_i32_1 : i32
    %c1_i32_2 = arith.constant 1 : i32
    %7 = arith.maxsi %6, %c1_i32_2 : i32
    %8 = arith.divui %3, %7 : i32
    %9 = arith.remui %3, %7 : i32
    %10 = scf.for %arg3 = %c0_i32 to %2 step %c1_i32 iter_args(%arg4 = %cst) -> (tensor<32x32xf32>)  : i32 {
      %c32_i32_5 = arith.constant 32 : i32
      %14 = arith.muli %8, %c32_i32_5 : i32
      %c32_i32_6 = arith.constant 32 : i32
      %15 = arith.muli %arg3, %c32_i32_6 : i32
      %16 = tile.view_load %arg0[%14, %15] : <2xf16> -> tensor<32x32xf16>
      %c32_i32_7 = arith.constant 32 : i32
      %17 = arith.muli %arg3, %c32_i32_7 : i32
      %c32_i32_8 = arith.constant 32 : i32
      %18 = arith.muli %9, %c32_i32_8 : i32
      %19 = tile.view_load %arg1[%17, %18] : <2xf16> -> tensor<32x32xf16>
      %20 = tile.dot %16, %19, %arg4 : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
      scf.yield %20 : tensor<32x32xf32>
    } {tile.stages = 3 : i32}
    %11 = tile.convert %10 : tensor<32x32xf32> -> tensor<32x32xf16>
    %c32_i32_3 = arith.constant 32 : i32
    %12 = arith.muli %8, %c32_i32_3 : i32
    %c32_i32_4 = arith.constant 32 : i32
    %13 = arith.muli %9, %c32_i32_4 : i32
    tile.view_store %11, %arg2[%12, %13] : tensor<32x32xf16>, <2xf16>
    return
  }
}
