// What demands the copy engine for a tile that it cannot store.
// RUN: tile-opt --tile-store-subtiles --split-input-file --verify-diagnostics %s


func.func @no_matrices(%p: !tile.ptr<f16>, %n: i32, %x: tensor<8x64xf16, #tilegpu.layout<register = [[0, 32], [1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = []>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.make_view %p, extents [%n, %n], strides [%n, %c1]
    {tilegpu.view_of = #tilegpu.view_of<arg = 0, dims = [0, 1]>} : i32 -> !tile.view<2xf16>
  // expected-error@+1 {{tma refused: threads do not hold it in matrices, as products leave it}}
  tile.view_store %x, %v[%c0, %c0] {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [element, element]>,
    tilegpu.variant = #tilegpu.store<tma>, tile.variant = 7 : i32} : tensor<8x64xf16, #tilegpu.layout<register = [[0, 32], [1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = []>>, !tile.view<2xf16>
  return
}
