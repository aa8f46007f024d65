#!/usr/bin/env python3
"""Compiling ahead of time from outside: which functions are made, what is refused, and headers that compilers take."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from command import Case

kKernels = """
#include <tile/tile.h>
using namespace tile;
auto scale = kernel("scale", [](In<f32, 1> x, Out<f32, 1> y, Scalar<f32> s, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i) * s;
});
auto twice = kernel("twice", [](InOut<f16, 1> x, Scalar<u64> unused, Scalar<i32> n) {
  Value i = grid1d(x, {256});
  x.tile({256})(i) = x.tile({256})(i) * 2.0f;
});
"""
kInclude = __file__.rsplit("/tests/", 1)[0] + "/include"


class Ahead(Case):
    @classmethod
    def setUpClass(cls):
        """The kernels as a library: most of what is asked here does not depend on how they were compiled."""
        folder = tempfile.TemporaryDirectory(prefix="tilec-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.library, source = folder.name + "/kernels.so", pathlib.Path(folder.name) / "kernels.cpp"
        source.write_text(kKernels)  # stays: the names of parameters are read from it
        subprocess.run(["g++", "-std=c++20", "-O0", "-shared", "-fPIC", "-I" + kInclude, source, "-o", cls.library], check=True,
                       timeout=120)

    def setUp(self):
        super().setUp()
        self.write("kernels.cpp", kKernels)
        shutil.copy(self.library, self.path)

    def aot(self, code, *arguments, **environment):
        return self.run_tilec(code, "aot", *arguments, "--no-machine-code", timeout=120, **environment)

    def compiles(self, *command):
        done = subprocess.run(command, cwd=self.path, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace")[-3000:])

    def test_functions_and_their_header(self):
        _, told = self.aot(0, "kernels.cpp", "-f", "scale B=256", "-f", "big = scale B=1024 x=f32[4096]", "-f", "twice",
                           "-o", "out", "--arch", "sm_80")
        self.assertIn("big: sm_80 (6 variants)", told)
        header = (self.path / "out/kernels.h").read_text()
        self.assertIn("With B = 1024. For sm_80.", header)
        self.write("main.cpp", '#include "kernels.h"\n'
                   "void f(const tile::Stream &s, const tile::TensorOf<float> &x, const tile::TensorOf<tile::half> &h) {\n"
                   "  kernels::scale(s, x, x, 1.0f); kernels::big(s, x, x, 2.0f); kernels::twice(s, h, 1u, -3); }\n")
        self.write("main.c", '#include "kernels.h"\n'
                   "tile_status f(tile_stream *s, tile_tensor *x);\n"
                   "tile_status f(tile_stream *s, tile_tensor *x) {\n"
                   "  tile_status a = kernels_scale(s, x, x, 1.0);\n"
                   "  return a ? a : kernels_twice(s, x, 1u, -3); }\n")
        strict = ["-Wall", "-Wextra", "-Werror", "-Iout", "-I" + kInclude, "-fsyntax-only"]
        self.compiles("g++", "-std=c++20", *strict, "main.cpp")
        self.compiles("gcc", "-std=c99", "-pedantic", *strict, "-Wno-unused-function", "main.c")
        self.compiles("gcc", "-std=c99", "-pedantic", *strict, "out/kernels.c")
        self.compiles("g++", "-std=c++20", "-x", "c++", *strict, "out/kernels.c")

    def test_parameters_whose_names_c_does_not_take(self):
        self.write("odd.cpp", """
#include <tile/tile.h>
using namespace tile;
auto copy = [](In<f32, 1> x, Out<f32, 1> y, Scalar<f32> a, Scalar<f32> b) {
  Value i = grid1d(y, {256});
  y.tile({256})(i) = x.tile({256})(i) * a + b;
};
auto own = kernel("own", copy).named("stream", "status", "arguments", "tile_real");
auto words = kernel("words", copy).named("restrict", "int", "_Bool", "in put");
auto twice = kernel("twice", copy).named("a", "a", "a_", "*/");
""")
        self.aot(0, "odd.cpp", "-f", "own", "-f", "words", "-f", "twice", "--arch", "sm_80", "--example-only", "-o", "out")
        self.write("main.c", '#include "odd.h"\ntile_status f(tile_stream *s, tile_tensor *x);\n'
                   "tile_status f(tile_stream *s, tile_tensor *x) {\n"
                   "  return odd_own(s, x, x, 1, 2) + odd_words(s, x, x, 1, 2) + odd_twice(s, x, x, 1, 2); }\n")
        self.write("main.cpp", '#include "odd.h"\n')
        strict = ["-Wall", "-Wextra", "-Werror", "-Iout", "-I" + kInclude, "-fsyntax-only"]
        self.compiles("gcc", "-std=c99", "-pedantic", *strict, "main.c")
        self.compiles("g++", "-std=c++20", *strict, "main.cpp")

    def test_what_functions_are_for(self):
        for options, variants in [((), 6), (("--no-in-place",), 3), (("--example-only",), 2), (("--example-only", "--no-in-place"), 1)]:
            _, told = self.aot(0, "kernels.so", "-f", "scale B=256", "--arch", "sm_80", *options)
            self.assertIn(f"({variants} variant", told)
        _, told = self.aot(0, "kernels.so", "-f", "scale B=256", "--arch", "sm_80,sm_90a", "--dependent")
        self.assertIn("scale: sm_80 (6 variants), sm_90a (6 variants)", told)

    def test_the_only_kernel_or_all(self):
        self.write("one.cpp", kKernels.split("auto twice")[0])
        self.aot(0, "one.cpp", "B=64", "--as", "halve", "--name", "lib", "--arch", "sm_80", "--example-only")
        header = (self.path / "lib.h").read_text()
        self.assertIn('"halve"', header)
        self.assertNotIn('"scale"', header)
        _, told = self.aot(2, "kernels.so")
        self.assertIn("kernel 'scale' needs its constants: B=N", told)
        self.assertFalse((self.path / "kernels.h").exists())
        self.aot(0, "kernels.so", "--kernel", "twice", "--arch", "sm_80", "--example-only")
        self.assertNotIn("scale", (self.path / "kernels.h").read_text())

    def test_ops(self):
        _, told = self.aot(0, "op:layernorm", "-o", "deep/er", "--arch", "sm_90a")
        self.assertIn("layernorm: sm_90a", told)
        self.assertTrue((self.path / "deep/er/layernorm.tilekernels").exists())

    def test_what_is_refused(self):
        for words, why in (
                ([], "one input is expected, op:NAME, FILE.cpp or LIB.so; got 0"),
                (["kernels.cpp", "other.cpp"], "got 2"),
                (["kernels.mlir"], "'kernels.mlir' is neither op:NAME nor a file called something.cpp or .so"),
                (["none.cpp"], "cannot read 'none.cpp'"),
                (["op:nothing"], "nothing"),
                (["kernels.so", "-f", "nothing"], "has no kernel 'nothing'; it has scale, twice"),
                (["kernels.so", "-f", "scale B=64", "-f", "scale B=128"], "two functions are called 'scale'"),
                (["kernels.so", "-f", "double = twice"], "'double' has a meaning in C++"),
                (["kernels.so", "-f", "a-b = twice"], "'a-b' cannot be the name of a function"),
                (["kernels.so", "-f", "scale B=64 C=3"], "C"),
                (["kernels.so", "-f", "scale B=64 twice"], "one kernel or op:NAME is expected"),
                (["-f", "scale B=64"], "the file that has the kernel is missing"),
                (["kernels.so", "-f", "twice", "--as", "x"], "--function says both itself"),
                (["kernels.so", "--as", "x", "B=64"], "--as names one function"),
                (["op:add", "--kernel", "x"], "--kernel chooses among the kernels"),
                (["kernels.so", "-f", "twice", "--arch", "sm_75"], "unknown target 'sm_75'"),
                (["kernels.so", "-f", "namespace = twice"], "'namespace' has a meaning in C++"),
                (["kernels.so", "-f", "twice", "--name", "1x"], "'1x' cannot be the name of a library"),
                (["kernels.so", "-f", "twice", "--name", "for"], "'for' has a meaning in C++"),
                (["kernels.so", "-f", "twice", "--name", "std"], "'std' has a meaning in C++"),
                (["kernels.so", "-f", "twice", "-o", "kernels.so/x"], "cannot make the folder 'kernels.so/x'")):
            with self.subTest(words=words):
                _, told = self.aot(2, *words)
                self.assertIn(why, told)
                self.assertLessEqual(told.count("\n"), 4, told)


if __name__ == "__main__":
    unittest.main()
