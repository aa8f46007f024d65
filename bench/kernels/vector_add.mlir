func.func @vector_add(%a: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 1024>}, %b: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 1024>}, %c: !tile.view<1xf32> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 0>, tile.extent_divisible = array<i64: 1024>}) attributes {tile.kernel, tile.warps = 4 : i32, tile.grid = affine_map<()[s0] -> (s0 ceildiv 1024)>, tile.grid_symbols = [array<i32: 2, 0>]} {
  %pid = tile.program_id 0 : i32
  %c1024 = arith.constant 1024 : i32
  %o = arith.muli %pid, %c1024 : i32
  %x = tile.view_load %a[%o] : !tile.view<1xf32> -> tensor<1024xf32>
  %y = tile.view_load %b[%o] : !tile.view<1xf32> -> tensor<1024xf32>
  %z = arith.addf %x, %y : tensor<1024xf32>
  tile.view_store %z, %c[%o] : tensor<1024xf32>, !tile.view<1xf32>
  return
}
