#!/usr/bin/env python3
"""tilec build: stages of good input, refusals of bad input."""
import pathlib
import random
import re
import subprocess
import time
import unittest

from command import Case, kEnvironment, kHasFaults, kTilec


class Build(Case):
    def tile_ir(self, *settings):
        return self.run_tilec(0, "build", "op:add", "--emit", "tile", *settings)[0]

    def test_every_op_of_the_library(self):
        for op in "add", "attention", "layernorm", "matmul", "rmsnorm", "softmax":
            self.assertIn(".entry", self.run_tilec(0, "build", f"op:{op}")[0])
        # Outputs that nobody asked for, of statistics and sums, are no mistake of his.
        for op in "layernorm", "rmsnorm", "add_layernorm", "add_rmsnorm":
            self.assertNotIn("never stored", self.run_tilec(0, "build", f"op:{op}")[1])
        self.assertIn("norm_long", self.run_tilec(0, "build", "op:layernorm", "N=10000")[0])

    def test_ops_that_are_recorded(self):
        """Of these the kernel is found out by running the op without kernels."""
        for words, kernel in ((["op:gelu"], "gelu"), (["op:swiglu_halves_backward", "N=64"], "swiglu"), (["op:sum", "axes=1"], "sum"),
                              (["op:adamw", "dtype=bf16"], "adam"), (["op:embedding"], "embedding"), (["op:einsum"], "matmul")):
            ptx = self.run_tilec(0, "build", *words, "--target", "sm_90a")[0]
            self.assertRegex(ptx, rf"\.entry \w*{kernel}")
        first = self.run_tilec(0, "build", "op:layernorm_backward")[0]
        second = self.run_tilec(0, "build", "op:layernorm_backward", "launch=1")[0]
        self.assertNotEqual(first, second)
        _, told = self.run_tilec(2, "build", "op:gelu", "launch=1")
        self.assertIn("launch=1: the op launches 1 kernel here, numbered from 0", told)
        self.assertIn("nothing is called ZZ here", self.run_tilec(2, "build", "op:gelu", "ZZ=1")[1])
        self.assertIn("M=x", self.run_tilec(2, "build", "op:gelu", "M=x")[1])

    def test_settings_that_the_op_refuses(self):
        """What is built is what the op would launch; what it refuses is refused in its words."""
        for words, told in (("attention D=300", r"attention: q.extent\(3\) is 300 .*: 1 to 256 is supported"),
                            ("attention Hkv=3", r"attention: q.extent\(1\) is 16, but k.extent\(1\) is 3"),
                            ("attention_gradient Hkv=3", r"attention_gradient: q.extent\(1\) is 16, but k.extent\(1\) is 3"),
                            ("softmax dtype=i32", "dtype=i32: f16, bf16, f32 or f64 is expected"),
                            ("matmul M=99999999999", "extents are 0 to 2147483647"),
                            ("matmul result=i8", "matmul: c is i8 4096x4096; supported dtypes"),
                            ("matmul schedule=split_k_3", "schedule=split_k_3: one_tile, split_k_2, .* or ping_pong_multicast is expected"),
                            ("matmul schedule=", "schedule=: one_tile, split_k_2, "),
                            ("matmul schedule=4", "schedule=4: one_tile, split_k_2, "),
                            ("matmul split=2", "nothing is called split here; settings are .*schedule=")):
            self.assertRegex(self.run_tilec(2, "build", *f"op:{words}".split())[1], told, words)

    def test_ping_pong_needs_its_roles(self):
        _, told = self.run_tilec(2, "build", "op:matmul", "dtype=bf16", "M=8192", "N=8192", "K=1024", "--target", "sm_90a",
                                 "--disable-passes", "specialize-warps")
        self.assertIn("the pass specialize-warps is left out, but teams alternate tiles", told)

    def test_ops_are_listed(self):
        lines = self.run_tilec(0, "ops")[0].splitlines()
        self.assertGreater(len(lines), 60)
        self.assertRegex(lines[0], r"^adamw +4 to 5 +a step of AdamW.* \(in place\)$")
        self.assertRegex(self.run_tilec(0, "ops")[0], r"(?m)^matmul +2 +c = a b, the matrix product$")

    def test_stages_of_an_op(self):
        self.run_tilec(0, "build", "op:matmul", "--emit", "tile,tilegpu,llvm,ll,ptx", "-o", "stages")
        names = sorted(file.name for file in (self.path / "stages").iterdir())
        self.assertEqual(names, ["1-tile.mlir", "2-tilegpu.mlir", "3-llvm.mlir", "4-kernel.ll", "5-kernel.ptx"])
        self.assertIn(".target sm_80", (self.path / "stages/5-kernel.ptx").read_text())

    def test_stages_of_a_refused_kernel(self):
        words = "build", "op:matmul", "BM=256", "BN=256", "BK=32", "warps=4"
        text, told = self.run_tilec(2, *words, "--emit", "tilegpu")
        self.assertIn("use more warps or smaller tiles", told)
        self.assertIn("tilegpu.layout", text)
        self.assertIn("tile.dot", text)
        self.run_tilec(2, *words, "--emit", "tile,tilegpu,ptx", "-o", "reached")
        self.assertEqual(sorted(file.name for file in (self.path / "reached").iterdir()), ["1-tile.mlir", "2-tilegpu.mlir"])
        self.assertEqual(self.run_tilec(2, *words)[0], "")

    def test_all_stages_need_no_assembler(self):
        self.run_tilec(0, "build", "op:add", "--emit", "all", "-o", "out", TILE_PTXAS="/nonexistent/ptxas")
        names = {file.name for file in (self.path / "out").iterdir()}
        self.assertLessEqual({"1-tile.mlir", "5-kernel.ptx"}, names)

    def test_settings_and_target_change_the_kernel(self):
        self.assertIn("tensor<512x", self.tile_ir("B=512"))
        self.assertIn("xf16>", self.tile_ir("dtype=f16"))
        self.assertIn(".target sm_90a", self.run_tilec(0, "build", "op:add", "--target", "sm_90a")[0])

    def test_a_file_gives_the_same_code(self):
        self.write("add.mlir", self.tile_ir())

        def code(ptx):
            return re.sub(r"(?m)^\s*\.(loc|file).*\n", "", ptx)
        self.assertEqual(code(self.run_tilec(0, "build", "add.mlir")[0]), code(self.run_tilec(0, "build", "op:add")[0]))

    def test_windows_line_ends(self):
        self.write("crlf.mlir", self.tile_ir().replace("\n", "\r\n"))
        self.assertIn(".entry", self.run_tilec(0, "build", "crlf.mlir")[0])

    def test_times_go_to_stderr(self):
        self.assertRegex(self.run_tilec(0, "build", "op:add", "--time-passes")[1], r"time: [0-9.e-]+ ms  total")

    def test_bad_files(self):
        rng = random.Random(1)
        cases = {
            "empty": (b"", "the file is empty"),
            "junk": (bytes([0x01]) + rng.randbytes(5000), "control character"),
            "nul": (b"module {\n  \0}", "nul.mlir:2: error: the file contains a NUL byte; it is not text, column 3"),
            "latin": (b"module { // \xe9\n}", "not UTF-8"),
            "utf16": ("module {}".encode("utf-16"), "UTF-16"),
            "bytecode": (b"ML\xefR\x01", "bytecode"),
            "parentheses": (b"(" * 100000, "nested deeper than 256"),
            "angles": (b'"a"' + b"<" * 100000, "nested deeper than 256"),
            "regions": (b'"a.b"() ({\n' * 100000, "nested deeper than 256"),
            "signs": ("#m = affine_map<(d0) -> (" + "-" * 100000 + "d0)>", "an affine map is longer than 4096 bytes"),
            "terms": ("#m = affine_set<(d0) : (d0 " + "* d0" * 100000 + " >= 0)>", "an affine map is longer than"),
            "words": ("module {\n  what\n}", "words.mlir:2: error:"),
            "op": ("module {\n  foo.bar\n}", "foo"),
            "cut": ("module {\n", "expected"),
            "nothing": ("module {}", "has no kernel"),
            "type": ("module { func.func @f(%a: !tile.view<9999999999999999999xf32>) { return } }", "error:"),
            "ssa": ("module { func.func @f() attributes {tile.kernel} { tile.print %x : i32 return } }", "error:"),
        }
        for name, (content, message) in cases.items():
            with self.subTest(name):
                self.write(name + ".mlir", content)
                self.assertIn(message, self.run_tilec(2, "build", name + ".mlir")[1])

    def test_what_a_pass_refuses_of_a_file_is_the_files_fault(self):
        cases = {
            "group": ("  tilegpu.order_wait\n", "error: 'tilegpu.order_wait' op needs 2 to 8 warpgroups, got 4 warps"),
            "memory": ("  %r = tilegpu.ring_alloc : !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>\n"
                       "  %i = arith.constant 1 : i32\n"
                       "  tilegpu.producer_acquire %r[%i] : !tilegpu.ring<2 x !tilegpu.smem<32xf32, #s>>\n",
                       "op acquires fill 1 after fill -1"),
        }
        for name, (body, message) in cases.items():
            with self.subTest(name):
                self.write(name + ".mlir", "#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>\n"
                           "func.func @f() attributes {tile.kernel, tile.warps = 4 : i32} {\n" + body + "  return\n}\n")
                errors = self.run_tilec(2, "build", name + ".mlir", "--target", "sm_90a")[1]
                self.assertIn(f"{name}.mlir:{2 + body.count(chr(10))}: ", errors)
                self.assertIn(message, errors)
                self.assertIn("passes refuse this IR; if tilec wrote it, please report it", errors)
                self.assertNotIn("the kernel is not at fault", errors)

    def test_a_compile_dies_with_its_command(self):
        # Each type holds the one before twice, and the message that refuses the last prints it whole.
        types = "!t0 = i32\n" + "".join(f"!t{i + 1} = tuple<!t{i}, !t{i}>\n" for i in range(200))
        self.write("endless.mlir", types + "func.func @f(%a: !t200) attributes {tile.kernel} { return }\n")
        command = subprocess.Popen([kTilec, "build", "endless.mlir"], cwd=self.path, env=kEnvironment,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        time.sleep(1)
        command.kill()
        # The pipe ends when the last process that may write to it is gone.
        self.assertEqual(command.communicate(timeout=10)[0], b"")

    @unittest.skipUnless(kHasFaults, "no faults in this build")
    def test_a_crash_leaves_a_reproducer(self):
        self.write("kernel.mlir", self.tile_ir())
        errors = self.run_tilec(70, "build", "kernel.mlir", TILE_FAULT="pass:crash@tile-assign-layouts")[1]
        folder = pathlib.Path(re.search(r"a reproducer is in (\S+)", errors)[1])
        self.assertEqual(sorted(file.name for file in folder.iterdir()), ["before-the-crash.mlir", "command.txt", "kernel.mlir"])
        self.assertTrue(str(folder).startswith(self.folder.name))

    def test_usage(self):
        self.run_tilec(0, "--help")
        self.assertIn("--emit", self.run_tilec(0, "build", "--help")[0])
        for arguments in [[], ["bogus"], ["build"], ["build", "a", "b"], ["build", "missing.mlir"], ["build", "x.cpp"],
                          ["build", "op:add", "--emit", "what"], ["build", "op:add", "--target", "sm_1"],
                          ["build", "op:add", "--emit", "all"], ["build", "op:add", "-o", "no/such/folder/x"],
                          ["build", "op:add", "B=x"], ["build", "op:add", "B=1", "B=2"]]:
            with self.subTest(arguments):
                self.run_tilec(2, *arguments)
        self.assertIn("there is no op 'nothing'; there are: adamw, add,", self.run_tilec(2, "build", "op:nothing")[1])
        self.assertIn("nothing is called ZZ here; settings are B=", self.run_tilec(2, "build", "op:add", "ZZ=1")[1])

    def test_output_is_whole_or_absent(self):
        self.assertEqual(list(self.path.iterdir()), [])
        self.run_tilec(2, "build", "op:add", "B=0", "-o", "out.ptx")
        self.assertEqual(list(self.path.iterdir()), [])
        with open("/dev/full", "w") as full:
            done = subprocess.run([kTilec, "build", "op:add"], stdout=full, stderr=subprocess.PIPE, env=kEnvironment)
        self.assertEqual(done.returncode, 2, done.stderr)


if __name__ == "__main__":
    unittest.main()
