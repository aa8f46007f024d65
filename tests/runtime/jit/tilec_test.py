#!/usr/bin/env python3
"""Runs tilec on good and bad input. Usage: tilec_test.py TILEC TILE-OPT faults|nofaults"""
import json
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


kKernels = """
#include <tile/tile.h>
using namespace tile;

auto scale = kernel("scale", [](In<f32, 1> x, Out<f32, 1> y, Scalar<f32> s, // a comment, with a comma
                                Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i) * s;
});
auto twice = kernel("twice", [](In<any, 2> a, Out<any, 2> b, Const BM, Const BN) {
  auto [m, n] = grid2d(b, {BM, BN});
  b.tile({BM, BN})(m, n) = a.tile({BM, BN})(m, n) + a.tile({BM, BN})(m, n);
}).named("from", "to", "rows", "columns");
auto beyond = kernel("beyond", [](In<f32, 1> x, Out<f32, 1> y) {
  store(y.ptr() + arange(0, 128), load(x.ptr() + arange(0, 128)));
});
int main() {}
"""


class Kernels(Case):
    """Kernels of the language in a C++ file, and what is made of them."""

    @classmethod
    def setUpClass(cls):
        """The library once: a compiler takes seconds."""
        cls.built = tempfile.TemporaryDirectory(prefix="tilec-test-")
        cls.addClassCleanup(cls.built.cleanup)
        pathlib.Path(cls.built.name, "k.cpp").write_text(kKernels)
        include = pathlib.Path(kTilec).parent.parent / "include"
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-shared", "-fPIC", f"-I{include}", "k.cpp", "-o", "k.so"],
                       cwd=cls.built.name, check=True, timeout=300)

    def setUp(self):
        super().setUp()
        self.write("k.cpp", kKernels)
        self.write("k.so", pathlib.Path(self.built.name, "k.so").read_bytes())
        self.write("x.npy", npy("<f4", [1000], floats(range(1000))))

    def test_build(self):
        ir = self.run_tilec(0, "build", "k.so", "--kernel", "twice", "rows=32", "columns=64", "from=f16[100x70]",
                            "to=f16:100x70", "--emit", "tile")[0]
        self.assertIn("tensor<32x64xf16>", ir)
        self.assertEqual(ir, self.run_tilec(0, "build", "k.so", "--kernel", "twice", "consts=32,64", "from=f16:100x70",
                                            "to=f16:100x70", "--emit", "tile")[0])

    def test_explain(self):
        text = self.run_tilec(0, "explain", "k.so", "--kernel", "scale", "B=256")[0]
        self.assertIn("k.cpp:8    y.tile({B})(i) = x.tile({B})(i) * s;", text)

    def test_run(self):
        self.run_tilec(0, "run", "k.so", "--kernel", "scale", "B=128", "in:x.npy", "out:y.npy:f32:1000", "f32:0.5")
        self.assertEqual(data_of(self.path / "y.npy", 1000), tuple(i / 2 for i in range(1000)))
        self.write("m.npy", npy("<u2", [3, 5], struct.pack("<15H", *[0x3f80] * 15)))  # bf16 1
        self.run_tilec(0, "run", "k.so", "--kernel", "twice", "rows=4", "columns=8", "warps=1", "in:m.npy:bf16",
                       "out:t.npy:bf16[3x5]")
        self.assertEqual((self.path / "t.npy").read_bytes()[-30:], struct.pack("<15H", *[0x4000] * 15))

    def test_counters_and_json(self):
        output, _ = self.run_tilec(0, "run", "k.so", "--kernel", "scale", "B=256", "in:x.npy", "zeros:f32[1000]", "f32:1",
                                   "--counters", "--json", "report.json")
        report = json.loads((self.path / "report.json").read_text())
        self.assertEqual((report["entry"], report["exit_code"], report["findings"]), ("scale", 0, []))
        self.assertEqual(report["counters"]["global_bytes_used"], 8000)
        self.assertIn(f"global_sectors {report['counters']['global_sectors']}\n", output)

    def test_findings(self):
        output, errors = self.run_tilec(1, "run", "k.so", "--kernel", "beyond", "--grid", "1", "in:x.npy", "zeros:f32:100",
                                        "--json", "report.json")
        self.assertIn("[out of bounds]", errors)
        finding = json.loads((self.path / "report.json").read_text())["findings"][0]
        self.assertEqual((finding["kind"], finding["source"]["line"]), ("out of bounds", 15))

    def test_a_source_file(self):
        ptx = self.run_tilec(0, "build", "k.cpp", "--kernel", "scale", "B=256", "--target", "sm_90a", timeout=300)[0]
        self.assertIn(".entry scale(", ptx)
        self.assertIn(".target sm_90a", ptx)
        self.run_tilec(0, "run", "k.cpp", "--kernel", "scale", "B=64", "in:x.npy", "inout:x.npy:z.npy", "f32:3", timeout=300)
        self.assertEqual(data_of(self.path / "z.npy", 1000), tuple(3.0 * i for i in range(1000)))
        self.assertEqual(sorted(os.listdir(self.path)), ["k.cpp", "k.so", "x.npy", "z.npy"], "nothing is left behind")

    def test_tile_ir(self):
        ir = self.run_tilec(0, "build", "k.so", "--kernel", "scale", "B=128", "x=1000", "y=1000", "--emit", "tile")[0]
        self.write("k.mlir", ir)
        self.run_tilec(0, "run", "k.mlir", "in:x.npy", "out:y.npy:f32[1000]", "f32:2")
        self.assertEqual(data_of(self.path / "y.npy", 1000), tuple(2.0 * i for i in range(1000)))
        for words, message in [(["in:x.npy"], "argument 2 of 'scale': is missing"),
                               (["in:x.npy", "f32:1", "f32:2"], "argument 2 of 'scale': a tensor is expected"),
                               (["in:x.npy", "zeros:f32:9", "zeros:f32:9"], "argument 3 of 'scale': a number is expected"),
                               (["in:x.npy", "zeros:f32:9", "f64:1"], "a number of 4 bytes is expected"),
                               (["in:x.npy", "zeros:f32:9", "f32:1", "f32:1"], "there is no such argument")]:
            self.assertIn(message, self.run_tilec(2, "run", "k.mlir", *words)[1])

    def test_bad_files_and_words(self):
        self.write("bad.cpp", "#include <tile/tile.h>\nint x = ;\n")
        self.write("none.cpp", "#include <tile/tile.h>\n")
        self.write("undefined.cpp", "int there();\nint x = there();\n")
        self.write("dies.cpp", "#include <cstdlib>\nint x = (std::abort(), 1);\n")
        self.write("junk.so", b"\x7fELF junk")
        cases = [(["bad.cpp"], 2, "does not compile 'bad.cpp'"), (["bad.cpp"], 2, "bad.cpp:2"), (["none.cpp"], 2, "has no kernel in a static variable"),
                 (["undefined.cpp"], 2, "cannot load 'undefined.cpp'"), (["junk.so"], 2, "cannot load 'junk.so'"),
                 (["missing.cpp"], 2, "cannot read 'missing.cpp'"), (["dies.cpp"], 70, "crashed (Aborted)"),
                 (["k.so"], 2, "choose one by --kernel: scale, twice, beyond"),
                 (["k.so", "--kernel", "none"], 2, "has no kernel 'none'; it has scale, twice, beyond"),
                 (["k.so", "--kernel", "scale"], 2, "kernel 'scale' needs its constants: B=N"),
                 (["k.so", "--kernel", "twice", "consts=1"], 2, "has 2 constants: rows=N columns=N"),
                 (["k.so", "--kernel", "scale", "B=x"], 2, "an integer is expected"),
                 (["k.so", "--kernel", "scale", "B=64", "ZZ=1"], 2, "nothing is called ZZ here")]
        for words, code, message in cases:
            for command in ["build"] if words[0].endswith(".cpp") else ["build", "run"]:
                with self.subTest(words, command=command):
                    self.assertIn(message, self.run_tilec(code, command, *words, timeout=300)[1])
        self.assertIn("there is no 'no-such-compiler' (CXX)",
                      self.run_tilec(3, "build", "k.cpp", "--kernel", "scale", "B=64", CXX="no-such-compiler")[1])

    def test_bad_arguments(self):
        for word, message in [("x.npy", "expected DTYPE:NUMBER, in:FILE.npy"), ("f32:x", "'x' is no f32"),
                              ("i8:200", "'200' is no i8"), ("u8:-1", "'-1' is no u8"), ("in:x.npy:f64", "their sizes differ"),
                              ("in:missing.npy", "cannot read"), ("out:y.npy:f32", "a dtype and extents are expected"),
                              ("zeros:f32[10", "a dtype and extents are expected"), ("zeros:f32[-1]", "a dtype and extents"),
                              ("in:x", "ends with .npy is expected"), ("zeros:f32[4x4]", "expected rank 1, got rank 2"),
                              ("zeros:f16[4]", "expected ptr<f32>, got ptr<f16>")]:
            with self.subTest(word):
                errors = self.run_tilec(2, "run", "k.so", "--kernel", "scale", "B=64", word, "zeros:f32:4", "f32:1")[1]
                self.assertIn(message, errors)


class Ptx(Case):
    """PTX that nvcc made."""
    kFolder = pathlib.Path(__file__).resolve().parent.parent / "vgpu" / "kernels"

    def setUp(self):
        super().setUp()
        self.write("a.npy", npy("<f4", [1000], floats(range(1000))))
        self.write("b.npy", npy("<f4", [1000], floats([2 * i for i in range(1000)])))
        self.arguments = [self.kFolder / "vector_add.ptx", "in:a.npy", "in:b.npy", "out:c.npy:f32[1000]", "i32:1000"]

    def test_vector_add(self):
        output, errors = self.run_tilec(0, "run", *self.arguments, "--grid", "8", "--block", "128", "--counters")
        self.assertEqual(data_of(self.path / "c.npy", 1000), tuple(3.0 * i for i in range(1000)))
        self.assertRegex(output, r"warp_instructions [1-9]")
        self.assertIn("ran on tilec virtual GPU", errors)

    def test_findings_and_report(self):
        self.arguments[3] = "out:c.npy:f32[500]"
        errors = self.run_tilec(1, "run", *self.arguments, "--grid", "8", "--block", "128", "--json", "r.json")[1]
        self.assertRegex(errors, r"vector_add.ptx:\d+: \[out of bounds\]")
        report = json.loads((self.path / "r.json").read_text())
        self.assertEqual(report["launch"], {"grid": [8, 1, 1], "block": [128, 1, 1], "shared_bytes": 0})
        self.assertEqual(report["exit_code"], 1)
        self.assertTrue((self.path / "c.npy").exists(), "results can be inspected")
        self.run_tilec(0, "run", *self.arguments[:4], "i32:500", "--grid", "8", "--block", "128")

    def test_usage(self):
        self.write("two.ptx", (self.kFolder / "vector_add.ptx").read_text().replace("sm_80", "sm_80") +
                   ".visible .entry other() { ret; }")
        self.write("junk.ptx", "hello")
        self.write("fixed.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n"
                   ".visible .entry f() .reqntid 64 { ret; }\n")
        shape = ["--grid", "8", "--block", "128"]
        cases = [(["--grid", "8"], "--block is needed"), (["--block", "8"], "--grid is needed"),
                 (["--grid", "0", "--block", "8"], "one to three positive numbers"),
                 (["--grid", "1,2,3,4", "--block", "8"], "one to three positive numbers"),
                 ([*shape, "--entry", "none"], "has no entry 'none'; it has vector_add"),
                 ([*shape, "i32:1"], "takes 4 arguments, got 5")]
        for words, message in cases:
            with self.subTest(words):
                self.assertIn(message, self.run_tilec(2, "run", *self.arguments, *words)[1])
        self.assertIn("argument 'i64:1' has 8 bytes, parameter 3 of entry",
                      self.run_tilec(2, "run", *self.arguments[:4], "i64:1", *shape)[1])
        self.assertIn("choose one by --entry: ", self.run_tilec(2, "run", "two.ptx", *shape)[1])
        self.run_tilec(0, "run", "two.ptx", "--entry", "other", *shape)
        self.run_tilec(2, "run", "junk.ptx", *shape)
        self.run_tilec(0, "run", "fixed.ptx", "--grid", "2")
        self.assertIn(".reqntid 64,1,1", self.run_tilec(2, "run", "fixed.ptx", *shape)[1])


class Doctor(Case):
    def test_reports(self):
        report = self.run_tilec(0, "doctor", PATH="", TILE_PTXAS="/nonexistent/ptxas")[0]
        self.assertRegex(report, r"ok +LLVM and MLIR: 22\.")
        self.assertRegex(report, r"missing +ptxas: looked at /nonexistent/ptxas")
        self.assertRegex(report, r"ok +device: virtual:sm_80")
        self.assertIn("kernels run on virtual:sm_80 by default (TILE_DEVICE=virtual)", report)


if __name__ == "__main__":
    unittest.main()
