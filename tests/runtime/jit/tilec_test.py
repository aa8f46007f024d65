#!/usr/bin/env python3
"""Runs tilec on good and bad input. Usage: tilec_test.py TILEC TILE-OPT faults|nofaults"""
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest

kTilec = os.path.abspath(sys.argv.pop(1))
kTileOpt = os.path.abspath(sys.argv.pop(1))
kHasFaults = sys.argv.pop(1) == "faults"  # TILE_FAULT breaks passes in builds with asserts
kEnvironment = {**os.environ, "TILE_DEVICE": "virtual", "TMPDIR": ""}


def tilec(*arguments, cwd, timeout=60, **environment):
    return subprocess.run([kTilec, *map(str, arguments)], cwd=cwd, timeout=timeout, capture_output=True,
                          env={**kEnvironment, "TMPDIR": str(cwd), **environment})


def npy(descr, shape, data, order="False", version=1):
    extents = "".join(f"{extent}, " for extent in shape)
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({extents}), }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + size + header + data


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def data_of(path, count):
    return struct.unpack(f"<{count}f", path.read_bytes()[-4 * count:])


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tilec-test-")
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def run_tilec(self, code, *arguments, **options):
        done = tilec(*arguments, cwd=self.path, **options)
        self.assertEqual(done.returncode, code, (arguments, done.stdout[-2000:], done.stderr[-2000:]))
        return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def write(self, name, content):
        (self.path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return name


class Build(Case):
    def tile_ir(self, *settings):
        return self.run_tilec(0, "build", "op:add", "--emit", "tile", *settings)[0]

    def test_stages_of_an_op(self):
        self.run_tilec(0, "build", "op:matmul", "--emit", "tile,tilegpu,llvm,ll,ptx", "-o", "stages")
        names = sorted(file.name for file in (self.path / "stages").iterdir())
        self.assertEqual(names, ["1-tile.mlir", "2-tilegpu.mlir", "3-llvm.mlir", "4-kernel.ll", "5-kernel.ptx"])
        self.assertIn(".target sm_80", (self.path / "stages/5-kernel.ptx").read_text())

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

    def test_a_crash_leaves_a_reproducer(self):
        # An affine expression of a million signs overflows the stack of MLIR's parser.
        self.write("deep.mlir", "#m = affine_map<(d0) -> (" + "-" * 1000000 + "d0)>\n")
        errors = self.run_tilec(70, "build", "deep.mlir")[1]
        folder = pathlib.Path(re.search(r"a reproducer is in (\S+)", errors)[1])
        self.assertEqual(sorted(file.name for file in folder.iterdir()), ["command.txt", "deep.mlir"])
        self.assertTrue(str(folder).startswith(self.folder.name))

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

    def test_malformed_variables_are_warnings(self):
        expected = self.run_tilec(0, "build", "op:add")[0]
        for name, value in [("TILE_BISECT", "-1"), ("TILE_BISECT", "1e9G"), ("TILE_TIME_PASSES", "maybe"),
                            ("TILE_DISABLE_PASSES", "nothing"), ("TILE_COMPILE_SECONDS", "soon")]:
            with self.subTest(name, value=value):
                output, errors = self.run_tilec(0, "build", "op:add", **{name: value})
                self.assertEqual(output, expected)
                self.assertEqual(errors.count(f"tile: warning: {name}='{value}'"), 1, errors)

    def test_usage(self):
        self.run_tilec(0, "--help")
        self.assertIn("--emit", self.run_tilec(0, "build", "--help")[0])
        for arguments in [[], ["bogus"], ["build"], ["build", "a", "b"], ["build", "missing.mlir"], ["build", "x.cpp"],
                          ["build", "op:add", "--emit", "what"], ["build", "op:add", "--target", "sm_1"],
                          ["build", "op:add", "--emit", "all"], ["build", "op:add", "-o", "no/such/folder/x"],
                          ["build", "op:add", "B=x"], ["build", "op:add", "B=1", "B=2"]]:
            with self.subTest(arguments):
                self.run_tilec(2, *arguments)
        self.assertIn("there is no op 'nothing'; there are: add,", self.run_tilec(2, "build", "op:nothing")[1])
        self.assertIn("nothing is called ZZ here; settings are B=", self.run_tilec(2, "build", "op:add", "ZZ=1")[1])

    def test_output_is_whole_or_absent(self):
        self.assertEqual(list(self.path.iterdir()), [])
        self.run_tilec(2, "build", "op:add", "B=0", "-o", "out.ptx")
        self.assertEqual(list(self.path.iterdir()), [])
        with open("/dev/full", "w") as full:
            done = subprocess.run([kTilec, "build", "op:add"], stdout=full, stderr=subprocess.PIPE, env=kEnvironment)
        self.assertEqual(done.returncode, 2, done.stderr)


class Run(Case):
    def setUp(self):
        super().setUp()
        self.write("a.npy", npy("<f4", [1000], floats(range(1000))))
        self.write("b.npy", npy("<f4", [1000], floats([2 * i for i in range(1000)])))

    def test_add(self):
        self.run_tilec(0, "run", "op:add", "a.npy", "b.npy", "c.npy")
        self.assertEqual(data_of(self.path / "c.npy", 1000), tuple(3.0 * i for i in range(1000)))
        self.run_tilec(0, "run", "op:add", "a.npy", "c.npy", "d.npy", "--device", "virtual:sm_90a", "--check", "none")
        self.assertEqual(data_of(self.path / "d.npy", 1000), tuple(4.0 * i for i in range(1000)))

    def test_matmul(self):
        rows, inner, columns = 5, 7, 3
        self.write("m.npy", npy("<f2", [rows, inner], struct.pack("<35e", *range(35)), version=2))
        self.write("n.npy", npy("<f2", [inner, columns], struct.pack("<21e", *range(21))))
        self.run_tilec(0, "run", "op:matmul", "m.npy", "n.npy", "out.npy", "--check", "memory,race")
        content = (self.path / "out.npy").read_bytes()
        header = content[10:10 + struct.unpack("<H", content[8:10])[0]].decode()
        form, size = ("e", 2) if "<f2" in header else ("f", 4)
        got = struct.unpack(f"<15{form}", content[-15 * size:])
        expected = [sum((r * inner + k) * (k * columns + c) for k in range(inner))
                    for r in range(rows) for c in range(columns)]
        for have, want in zip(got, expected):
            self.assertAlmostEqual(have, want, delta=want * 1e-3)

    def test_empty_arrays(self):
        self.write("e.npy", npy("<f4", [0], b""))
        self.run_tilec(0, "run", "op:add", "e.npy", "e.npy", "c.npy")
        self.assertIn(b"'shape': (0,)", (self.path / "c.npy").read_bytes())

    def test_bad_arrays(self):
        good = (self.path / "a.npy").read_bytes()
        cases = {
            "empty": (b"", "magic"),
            "magic": (b"NUMPY" + good, "magic"),
            "version": (good[:6] + b"\x09" + good[7:], "format version 9"),
            "data": (good[:3000], "its shape needs 4000 bytes of data, the file has 2872"),
            "header": (good[:60], "cut off"),
            "longer": (good + b"x", "4001"),
            "long": (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "cut off or too long"),
            "order": (npy("<f4", [2], b"8 bytes.", order="True"), "Fortran order"),
            "endian": (npy(">f4", [2], b"8 bytes."), "'>f4' is not one of"),
            "object": (npy("|O", [2], b"8 bytes."), "'|O' is not one of"),
            "overflow": (npy("<f4", [1 << 62, 1 << 62], b""), "more than 2^64 bytes"),
            "negative": (npy("<f4", [-1], b""), "an extent of the shape"),
            "rank": (npy("<f4", [1] * 9, b"4by."), "more than 8 dimensions"),
            "python": (b"\x93NUMPY\x01\x00\x10\x00" + b"[1, 2, 3]".ljust(16), "'{' expected"),
            "unclosed": (b"\x93NUMPY\x01\x00\x10\x00" + b"{'descr".ljust(16), "unfinished"),
        }
        for name, (content, message) in cases.items():
            with self.subTest(name):
                self.write("x.npy", content)
                errors = self.run_tilec(2, "run", "op:add", "x.npy", "b.npy", "c.npy")[1]
                self.assertIn("'x.npy' is not a usable .npy file: ", errors)
                self.assertIn(message, errors)
                self.assertFalse((self.path / "c.npy").exists())

    def test_flipped_headers_never_crash(self):
        rng = random.Random(2)
        good = (self.path / "a.npy").read_bytes()
        for i in range(40):
            content = bytearray(good)
            for _ in range(1 + i % 3):
                content[rng.randrange(128)] ^= 1 << rng.randrange(8)
            self.write("x.npy", bytes(content))
            done = tilec("run", "op:add", "x.npy", "b.npy", "c.npy", cwd=self.path)
            self.assertIn(done.returncode, (0, 2), (content[:128], done.stderr))

    def test_usage(self):
        for arguments in [[], ["a.npy"], ["op:nothing", "a.npy"], ["op:add"], ["op:add", "a.npy", "b.npy"],
                          ["op:add", "missing.npy", "b.npy", "c.npy"], ["op:add", "a.npy", "b.npy", "no/folder/c.npy"],
                          ["op:add", "a.npy", "b.npy", "c.npy", "--check", "what"],
                          ["op:add", "a.npy", "b.npy", "c.npy", "--device", "what"],
                          ["op:add", "a.npy", "b.npy", "c.npy", "--device", "cuda:0", "--check", "all"]]:
            with self.subTest(arguments):
                self.run_tilec(2, "run", *arguments)


class Doctor(Case):
    def test_reports(self):
        report = self.run_tilec(0, "doctor", PATH="", TILE_PTXAS="/nonexistent/ptxas")[0]
        self.assertRegex(report, r"ok +LLVM and MLIR: 22\.")
        self.assertRegex(report, r"missing +ptxas: looked at /nonexistent/ptxas")
        self.assertRegex(report, r"ok +device: virtual:sm_80")
        self.assertIn("kernels run on virtual:sm_80 by default (TILE_DEVICE=virtual)", report)


if __name__ == "__main__":
    unittest.main()
