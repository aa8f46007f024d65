#layout = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 16]]>
#layout1 = #tilegpu.layout<register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 0]]>
#layout2 = #tilegpu.layout<register = [[1, 0], [8, 0], [16, 0], [0, 8]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 16]]>
#layout3 = #tilegpu.layout<register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#map = affine_map<()[s0, s1] -> ((s0 ceildiv 32) * (s1 ceildiv 32))>
#shared = #tilegpu.shared<panel = [5, 5], linear = [1, 2, 4, 8, 16, 32, 72, 144, 256, 512], digits = [0, 0]>
#shared1 = #tilegpu.shared<panel = [5, 5], linear = [1, 4, 2, 160, 80, 8, 32, 16, 256, 512], digits = [0, 0]>
module {
  func.func @matmul(%arg0: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.param = #tile.param<pointer, 0>}, %arg1: i32 {tile.divisibility = 32 : i32, tile.param = #tile.param<extent, 0, 0>}, %arg2: i32 {tile.divisibility = 32 : i32, tile.param = #tile.param<extent, 0, 1>}, %arg3: i32 {tile.divisibility = 8 : i32, tile.param = #tile.param<stride, 0, 0>}, %arg4: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.param = #tile.param<pointer, 1>}, %arg5: i32 {tile.divisibility = 32 : i32, tile.param = #tile.param<extent, 1, 0>}, %arg6: i32 {tile.divisibility = 32 : i32, tile.param = #tile.param<extent, 1, 1>}, %arg7: i32 {tile.divisibility = 8 : i32, tile.param = #tile.param<stride, 1, 0>}, %arg8: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.param = #tile.param<pointer, 2>}, %arg9: i32 {tile.divisibility = 32 : i32, tile.param = #tile.param<extent, 2, 0>}, %arg10: i32 {tile.divisibility = 32 : i32, tile.param = #tile.param<extent, 2, 1>}, %arg11: i32 {tile.divisibility = 8 : i32, tile.param = #tile.param<stride, 2, 0>}) attributes {tile.grid = #map, tile.grid_symbols = [array<i32: 9, -1>, array<i32: 10, -1>], tile.kernel, tile.warps = 4 : i32, tilegpu.shared_bytes = 12288 : i32} {
    %0 = tilegpu.smem_alloc stages 3 {offset = 0 : i32} : <32x32xf16, #shared>
    %1 = tilegpu.smem_alloc stages 3 {offset = 6144 : i32} : <32x32xf16, #shared>
    %c0_i32 = arith.constant 0 : i32
    %c31_i32 = arith.constant 31 : i32
    %c32_i32 = arith.constant 32 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32, #layout>
    %c1_i32 = arith.constant 1 : i32
    %2 = tile.make_view %arg8, extents [%arg9, %arg10], strides [%arg11, %c1_i32] {tilegpu.view_of = #tilegpu.view_of<arg = 2, dims = [0, 1]>} : i32 -> !tile.view<2xf16>
    %3 = tile.make_view %arg4, extents [%arg5, %arg6], strides [%arg7, %c1_i32] {tilegpu.view_of = #tilegpu.view_of<arg = 1, dims = [0, 1]>} : i32 -> !tile.view<2xf16>
    %4 = tile.make_view %arg0, extents [%arg1, %arg2], strides [%arg3, %c1_i32] {tilegpu.view_of = #tilegpu.view_of<arg = 0, dims = [0, 1]>} : i32 -> !tile.view<2xf16>
    %5 = arith.addi %arg2, %c31_i32 : i32
    %6 = arith.divsi %5, %c32_i32 : i32
    %7 = tile.program_id 0 : i32
    %8 = arith.addi %arg10, %c31_i32 : i32
    %9 = arith.divui %8, %c32_i32 : i32
    %10 = arith.maxsi %9, %c1_i32 : i32
    %11 = arith.divui %7, %10 : i32
    %12 = arith.remui %7, %10 : i32
    %13 = arith.muli %11, %c32_i32 : i32
    %14 = arith.muli %12, %c32_i32 : i32
    %15 = arith.cmpi slt, %c0_i32, %6 : i32
    %16 = arith.muli %c0_i32, %c32_i32 : i32
    %17 = tilegpu.smem_stage %0 at %c0_i32 : <32x32xf16, #shared>
    tilegpu.copy_async %4[%13, %16], %17 shape [32, 32] if %15 {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [tile, tile]>, tilegpu.variant = #tilegpu.load<cp_async>} : <2xf16>, <32x32xf16, #shared>
    %18 = tilegpu.smem_stage %1 at %c0_i32 : <32x32xf16, #shared>
    tilegpu.copy_async %3[%16, %14], %18 shape [32, 32] if %15 {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [tile, tile]>, tilegpu.variant = #tilegpu.load<cp_async>} : <2xf16>, <32x32xf16, #shared>
    tilegpu.async_commit
    %19 = arith.subi %6, %c1_i32 : i32
    %20 = arith.cmpi slt, %c0_i32, %19 : i32
    %21 = arith.muli %c1_i32, %c32_i32 : i32
    %c2048_i32 = arith.constant 2048 : i32
    %22 = tilegpu.smem_stage %0 at %c2048_i32 : <32x32xf16, #shared>
    tilegpu.copy_async %4[%13, %21], %22 shape [32, 32] if %20 {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [tile, tile]>, tilegpu.variant = #tilegpu.load<cp_async>} : <2xf16>, <32x32xf16, #shared>
    %23 = tilegpu.smem_stage %1 at %c2048_i32 : <32x32xf16, #shared>
    tilegpu.copy_async %3[%21, %14], %23 shape [32, 32] if %20 {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [tile, tile]>, tilegpu.variant = #tilegpu.load<cp_async>} : <2xf16>, <32x32xf16, #shared>
    tilegpu.async_commit
    %c4096_i32 = arith.constant 4096 : i32
    %24:3 = scf.for %arg12 = %c0_i32 to %6 step %c1_i32 iter_args(%arg13 = %cst, %arg14 = %c0_i32, %arg15 = %c4096_i32) -> (tensor<32x32xf32, #layout>, i32, i32)  : i32 {
      tilegpu.async_wait 1
      tilegpu.barrier {reason = "what all threads copied arrives, and what they have read may be overwritten"}
      %28 = tilegpu.smem_stage %0 at %arg14 : <32x32xf16, #shared>
      %29 = tilegpu.smem_stage %1 at %arg14 : <32x32xf16, #shared>
      %c2_i32 = arith.constant 2 : i32
      %30 = arith.addi %arg12, %c2_i32 : i32
      %31 = arith.subi %6, %c2_i32 : i32
      %32 = arith.cmpi slt, %arg12, %31 : i32
      %33 = arith.muli %30, %c32_i32 : i32
      %34 = tilegpu.smem_stage %0 at %arg15 : <32x32xf16, #shared>
      tilegpu.copy_async %4[%13, %33], %34 shape [32, 32] if %32 {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [tile, tile]>, tilegpu.variant = #tilegpu.load<cp_async>} : <2xf16>, <32x32xf16, #shared>
      %35 = tilegpu.smem_stage %1 at %arg15 : <32x32xf16, #shared>
      tilegpu.copy_async %3[%33, %14], %35 shape [32, 32] if %32 {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [tile, tile]>, tilegpu.variant = #tilegpu.load<cp_async>} : <2xf16>, <32x32xf16, #shared>
      %36 = tilegpu.smem_load %28 : <32x32xf16, #shared> -> tensor<32x32xf16, #layout1>
      %37 = tilegpu.smem_load %29 : <32x32xf16, #shared> -> tensor<32x32xf16, #layout2>
      %38 = tile.dot %36, %37, %arg13 {tilegpu.variant = #tilegpu.dot<mma_sync>, tilegpu.warp_grid = #tilegpu.warp_grid<rows = 2, columns = 2>} : tensor<32x32xf16, #layout1>, tensor<32x32xf16, #layout2>, tensor<32x32xf32, #layout>
      tilegpu.async_commit
      %39 = arith.cmpi eq, %arg14, %c4096_i32 : i32
      %40 = arith.addi %arg14, %c2048_i32 : i32
      %41 = arith.select %39, %c0_i32, %40 : i32
      scf.yield %38, %41, %arg14 : tensor<32x32xf32, #layout>, i32, i32
    } {tile.stages = 3 : i32, tilegpu.loop_plan = #tilegpu.loop_plan<asked = 3, stages = 3, reason = "as asked">}
    %25 = tile.convert %24#0 : tensor<32x32xf32, #layout> -> tensor<32x32xf16, #layout>
    %26 = tilegpu.smem_alloc {offset = 0 : i32} : <32x32xf16, #shared1>
    tilegpu.barrier {reason = "write after write of shared memory bytes 0 to 2047"}
    tilegpu.smem_store %25, %26 : tensor<32x32xf16, #layout>, <32x32xf16, #shared1>
    tilegpu.barrier {reason = "read after write of shared memory bytes 0 to 2047"}
    %27 = tilegpu.smem_load %26 : <32x32xf16, #shared1> -> tensor<32x32xf16, #layout3>
    tile.view_store %27, %2[%13, %14] {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [tile, tile]>, tilegpu.variant = #tilegpu.store<vector>} : tensor<32x32xf16, #layout3>, <2xf16>
    return
  }
}
