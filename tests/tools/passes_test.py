#!/usr/bin/env python3
"""Passes that are left out, counted or broken."""
import pathlib
import re
import subprocess
import unittest

from command import Case, floats, kHasFaults, kTileOpt, npy


class Passes(Case):
    def needs_fault_injection(self):
        if not kHasFaults:
            self.skipTest("this build cannot break its own passes")

    def reproduced(self, errors):
        """The file that the message names, and what tile-opt says to it."""
        path = re.search(r"to see it again: tile-opt --run-reproducer (\S+)", errors)[1]
        self.assertTrue(path.startswith(self.folder.name))
        done = subprocess.run([kTileOpt, "--run-reproducer", path], capture_output=True, text=True, timeout=60)
        return pathlib.Path(path).read_text(), done

    def test_a_crash_in_a_pass_leaves_the_ir_it_was_given(self):
        self.needs_fault_injection()
        for command in "build", "explain":
            with self.subTest(command):
                errors = self.run_tilec(70, command, "op:add", TILE_FAULT="pass:crash@tile-assign-layouts")[1]
                self.assertIn("the compiler crashed (Segmentation fault); this is a fault of tilec, please report it", errors)
                text, done = self.reproduced(errors)
                self.assertIn('pipeline: "builtin.module(func.func(tile-assign-layouts))"', text)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("#tilegpu.layout<", done.stdout)

    def test_a_pass_that_leaves_invalid_ir_is_named(self):
        self.needs_fault_injection()
        for name in "tile-promote-to-shared", "tile-lower-to-scalars":
            with self.subTest(name):
                errors = self.run_tilec(70, "build", "op:matmul", TILE_FAULT="pass:invalid@" + name)[1]
                self.assertIn("block with no terminator", errors)
                self.assertIn("the kernel is not at fault; please report it", errors)
                self.assertIn(name, self.reproduced(errors)[0])

    def test_no_reproducer_is_left_of_what_is_not_ours(self):
        self.write("reduce.mlir", "module { func.func @f() { return } }")
        self.run_tilec(2, "build", "reduce.mlir")
        self.run_tilec(0, "build", "op:add", TILE_REPRODUCER=self.path / "kept.mlir")
        self.assertEqual([file.name for file in self.path.iterdir()], ["reduce.mlir"])

    def test_a_reproducer_that_cannot_be_written_is_told(self):
        self.write("x.npy", npy("<f4", [4], floats(range(4))))
        errors = self.run_tilec(0, "run", "op:add", "x.npy", "x.npy", "y.npy", TILE_REPRODUCER="/nonexistent/kept.mlir")[1]
        self.assertIn("TILE_REPRODUCER='/nonexistent/kept.mlir' cannot be written; no IR is kept", errors)

    def test_optional_passes_can_be_left_out(self):
        def ir(*arguments, **environment):
            return self.run_tilec(0, "build", "op:matmul", "--emit", "tilegpu", *arguments, **environment)
        with_cse, without = ir()[0], ir("--disable-passes", "cse,tile-combine-tile-ops")[0]
        self.assertNotEqual(with_cse, without)
        self.assertEqual(without, ir(TILE_DISABLE_PASSES="cse,combine-tile-ops")[0])
        errors = self.run_tilec(2, "build", "op:add", "--disable-passes", "place-barriers")[1]
        self.assertIn("'place-barriers' is no optional pass; there are canonicalize, cse,", errors)
        self.assertIn("is no optional pass", ir(TILE_DISABLE_PASSES="place-barriers")[1])

    def test_bisecting(self):
        def decisions(limit):
            errors = self.run_tilec(0, "build", "op:matmul", "--bisect", limit)[1]
            return re.findall(r"^bisect: +\d+ (run|skip) +(\S+)$", errors, re.M)
        all_of_them = decisions(1000000)
        self.assertEqual({what for what, _ in all_of_them}, {"run"})
        self.assertLessEqual({"canonicalize", "cse", "tile-combine-tile-ops", "instcombine"},
                             {name for _, name in all_of_them})
        self.assertEqual([what for what, _ in decisions(5)][:7], ["run"] * 5 + ["skip"] * 2)
        self.assertIn("bisect:   1 skip", self.run_tilec(0, "build", "op:add", TILE_BISECT="0")[1])


if __name__ == "__main__":
    unittest.main()
