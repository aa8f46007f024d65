func.func @matmul(%a: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible = array<i64: 16, 1>, tile.extent_divisible = array<i64: 128, 64>}, %b: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible=array<i64: 16, 1>, tile.extent_divisible = array<i64: 64, 128>}, %c: !tile.view<2xf16> {tile.alignment = 16 : i32, tile.unit_stride = array<i32: 1>, tile.stride_bytes_divisible=array<i64: 16, 1>, tile.extent_divisible = array<i64: 128, 128>}) attributes {tile.kernel, tile.warps = 4 : i32} {
  %m = tile.program_id 0 : i32
  %n = tile.program_id 1 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c63 = arith.constant 63 : i32
  %om = arith.muli %m, %c128 : i32
  %on = arith.muli %n, %c128 : i32
  %K = tile.dim %a, 1 : !tile.view<2xf16> -> i32
  %K2 = arith.addi %K, %c63 : i32
  %kt = arith.divsi %K2, %c64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %acc = scf.for %k = %c0 to %kt step %c1 iter_args(%s = %zero) -> tensor<128x128xf32> : i32 {
    %ok = arith.muli %k, %c64 : i32
    %x = tile.view_load %a[%om, %ok] : !tile.view<2xf16> -> tensor<128x64xf16>
    %y = tile.view_load %b[%ok, %on] : !tile.view<2xf16> -> tensor<64x128xf16>
    %d = tile.dot %x, %y, %s : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %r = tile.convert %acc : tensor<128x128xf32> -> tensor<128x128xf16>
  tile.view_store %r, %c[%om, %on] : tensor<128x128xf16>, !tile.view<2xf16>
  return
}
