#!/usr/bin/env python3
"""Kernels of the language in C++ files and libraries."""
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

from command import Case, data_of, floats, kTilec, npy


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
auto asks = kernel("asks", [](Out<f32, 1> y, Scalar<i32> n) { y.tile({specialize(n)})(0) = 1; });
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

    def test_values_that_a_kernel_asks_for(self):
        ir = self.run_tilec(0, "build", "k.so", "--kernel", "asks", "n=48", "--emit", "tile")[0]
        self.assertIn("tensor<48xf32>", ir)
        _, errors = self.run_tilec(2, "build", "k.so", "--kernel", "asks", "--emit", "tile")
        self.assertIn("specialize: the kernel is traced without the value of argument 2", errors)

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

    def test_no_element_counts_as_unwritten_before_the_launch_ends(self):
        for schedule in "eager", "lazy", "random":
            _, told = self.run_tilec(0, "run", "k.so", "--kernel", "scale", "B=128", "in:x.npy", "out:y.npy:f32:1000", "f32:0.5",
                                     "--schedule", schedule)
            self.assertNotIn("never written", told, schedule)
            self.assertEqual(data_of(self.path / "y.npy", 1000), tuple(0.5 * i for i in range(1000)))

    def test_arguments_are_called_as_in_the_source(self):
        self.write("p.cpp", """#include <tile/tile.h>
using namespace tile;
auto product = kernel("product", [](In<f16, 2> left, In<f16, 2> right, Out<f32, 2> out, Out<f32, 1> spare) {
  auto sum = var(zeros(f32, {32, 32}));
  for (auto k : range(cdiv(left.dim(1), 32)))
    sum = dot(left.tile({32, 32})(0, k), right.tile({32, 32})(k, 0), sum);
  out.tile({32, 32})(0, 0) = sum;
});
""")
        text, _ = self.run_tilec(0, "explain", "p.cpp", "left=f16[32x1024]", "right=f16[1024x32]", "out=f32[32x32]", timeout=300)
        self.assertIn("filled by cp.async of argument 'left' at line 6", text)
        self.assertIn("output 'spare' is never stored to", text)

    def test_counters_and_json(self):
        output, _ = self.run_tilec(0, "run", "k.so", "--kernel", "scale", "B=256", "in:x.npy", "zeros:f32[1000]", "f32:1",
                                   "--counters", "--json", "report.json")
        report = json.loads((self.path / "report.json").read_text())
        self.assertEqual((report["entry"], report["exit_code"], report["findings"]), ("scale", 0, []))
        self.assertEqual(report["counters"]["global_bytes_used"], 8000)
        self.assertRegex(output, f"global sectors +{report['counters']['global_sectors']} ")
        self.assertEqual(report["counters"]["global_distinct_sectors_loaded"], 125)
        self.assertEqual(report["counters"]["global_distinct_sectors_stored"], 125)
        self.assertRegex(output, "distinct sectors +250 +of each launch: 125 loaded, 125 stored")

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

    def test_static_variables_that_throw_exit_or_never_end(self):
        """The user's code runs while a file is loaded. Whatever it does, nothing is left behind but what is told of."""
        for name, body, code, told in [
                ("throws", 'throw std::runtime_error("no such thing");', 2,
                 "error: cannot load 'throws.cpp': a static variable of it throws: no such thing"),
                ("exits", "std::exit(0);", 2, "error: cannot load 'exits.cpp': a static variable of it ends the process"),
                ("hangs", "for (volatile int i = 0;;) i = 1;", 70, "did not end within 10 s"),
                ("crashes", "std::abort();", 70, "crashed (Aborted)")]:
            with self.subTest(name):
                self.write(name + ".cpp", "#include <cstdlib>\n#include <stdexcept>\n"
                           f"static int made = []() -> int {{ {body} return 1; }}();\n")
                output, errors = self.run_tilec(code, "build", name + ".cpp", TILE_COMPILE_SECONDS="10")
                self.assertEqual(output, "")
                self.assertIn(told, errors)
                left = [entry for entry in os.listdir(self.path) if entry.startswith("tilec-")]
                self.assertEqual([entry for entry in left if not entry.startswith("tilec-crash-")], [])

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


if __name__ == "__main__":
    unittest.main()
