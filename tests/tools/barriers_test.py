#!/usr/bin/env python3
"""Barriers that the compiler places: with them a kernel is free of races, and without any one of them it is not."""
import pathlib
import re
import unittest

from command import Case, floats, npy

kKernels = pathlib.Path(__file__).resolve().parents[2] / "bench" / "kernels"

kTwoReductions = """
func.func @sums(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) attributes {tile.kernel, tile.warps = 4 : i32} {
  %i = tile.arange 0, 512 : tensor<512xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %at = tile.addptr %xs, %i : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  %v = tile.load %at : tensor<512x!tile.ptr<f32>> -> tensor<512xf32>
  %first = tile.reduce %v axis 0 : tensor<512xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  %firsts = tile.splat %first : f32 -> tensor<512xf32>
  %w = arith.subf %v, %firsts : tensor<512xf32>
  %second = tile.reduce %w axis 0 : tensor<512xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.maximumf %a, %b : f32
    tile.yield %s : f32
  }
  tile.store %second, %y : f32, !tile.ptr<f32>
  return
}
"""


class Barriers(Case):
    def check_each(self, kernel, at_least, *arguments):
        self.run_tilec(0, "build", kernel, "--emit", "ptx", "-o", "kernel.ptx")
        ptx = (self.path / "kernel.ptx").read_text()
        barriers = list(re.finditer(r"\n\s*bar\.sync[^\n]*", ptx))
        self.assertGreaterEqual(len(barriers), at_least)
        run = [*arguments, "--grid", "1", "--shared", "98304"]
        self.run_tilec(0, "run", "kernel.ptx", *run)
        for number, barrier in enumerate(barriers):
            with self.subTest(barrier=number):
                self.write("without.ptx", ptx[:barrier.start()] + ptx[barrier.end():])
                self.assertRegex(self.run_tilec(1, "run", "without.ptx", *run)[1], r"\[(warp )?race\]")

    def test_reductions(self):
        self.write("sums.mlir", kTwoReductions)
        self.write("x.npy", npy("<f4", [512], floats(range(512))))
        self.check_each("sums.mlir", 3, "in:x.npy", "out:y.npy:f32:1")

    def test_product(self):
        self.write("a.npy", npy("<f2", [128, 256], bytes(2 * 128 * 256)))
        self.write("b.npy", npy("<f2", [256, 128], bytes(2 * 256 * 128)))
        a, b, c = ("i32:128", "i32:256", "i32:256"), ("i32:256", "i32:128", "i32:128"), ("i32:128",) * 3
        self.check_each(kKernels / "matmul_128x128x64.mlir", 3, "in:a.npy", *a, "in:b.npy", *b, "zeros:f16[128x128]", *c)


if __name__ == "__main__":
    unittest.main()
