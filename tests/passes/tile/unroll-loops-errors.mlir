// RUN: tile-opt %s -tile-unroll-loops -verify-diagnostics

func.func @far_too_often(%p: !tile.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{not unrolled: 2000000000 copies of the body are more than 256}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tile.store %i, %p : i32, !tile.ptr<i32>
  } {tile.unroll = 2000000000 : i32}
  return
}
