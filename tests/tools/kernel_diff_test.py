#!/usr/bin/env python3
"""tools/kernel_diff: tilec against itself, and against a tilec that was doctored."""
import os
import pathlib
import subprocess
import sys
import unittest

from command import Case, kTilec

kProgram = pathlib.Path(__file__).resolve().parent.parent.parent / "tools/kernel_diff"
kVectorAdd, kMatmul = (f"tests/kernels/{name}/1-tile.mlir" for name in ("vector_add", "matmul"))
kKernels = """
#include <tile/tile.h>
using namespace tile;
auto add = kernel("add", [](In<f32, 1> x, Out<f32, 1> y, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i) + 1.0f;
});
auto triple = kernel("triple", [](In<f32, 1> x, Out<f32, 1> y) { y.tile({64})(0) = x.tile({64})(0) * 3.0f; });
"""


class KernelDiff(Case):
    def doctored(self, script, after=""):
        """A tilec whose PTX and JSON go through sed, and then a line of bash, which finds their names in $ptx and $json."""
        path = self.path / "tilec"
        path.write_text(f"""#!/bin/bash
set -e
'{kTilec}' "$@"
while [[ $# -gt 0 ]]; do
  [[ $1 == -o ]] && ptx=$2/5-kernel.ptx
  [[ $1 == --json ]] && json=$2
  shift
done
[[ -z $ptx$json ]] || sed -i '{script}' "${{ptx:-$json}}"
{after}
""")
        path.chmod(0o755)
        return path

    def diff(self, code, after, *words):
        done = subprocess.run([sys.executable, kProgram, "--before", kTilec, "--after", after, *words], timeout=300,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, code, (words, done.stdout[-2000:], done.stderr[-2000:]))
        return done.stdout + done.stderr

    def test_a_build_equals_itself(self):
        # For two targets: the op with its defaults, in f16 and bf16, and of 777 elements.
        self.assertEqual(self.diff(0, kTilec, "op:add"), "8 kernels are equal\n")
        self.assertEqual(self.diff(0, kTilec, kVectorAdd), "2 kernels are equal\n")

    def test_source_lines_do_not_count(self):
        self.assertIn("are equal", self.diff(0, self.doctored(r"s/\.loc\t1 /.loc\t2 /; s/Arithmetic/Other/"), "op:add"))

    def test_another_instruction_is_shown(self):
        text = self.diff(1, self.doctored("s/add\\.rn\\.f16x2/sub.rn.f16x2/; s/add\\.f32/sub.f32/"), "op:add", "--show", "1")
        self.assertIn("differs: op:add --target sm_80\n", text)
        self.assertRegex(text, r"(?m)^- add\.f32 .*\n(-.*\n)*\+ sub\.f32 ")
        self.assertEqual(text.count("--- before"), 1)

    def test_a_missing_kernel_is_named(self):
        text = self.diff(1, self.doctored("", "! grep -q sm_90a $ptx || exit 3"), "op:add")
        self.assertIn("differs: op:add --target sm_90a (no kernel after)\n", text)
        self.assertNotIn("--target sm_80 (no kernel", text)
        self.assertIn("4 of 8 kernels differ", text)

    def test_kernels_of_a_file(self):
        (self.path / "k.cpp").write_text(kKernels)
        include = pathlib.Path(kTilec).parent.parent / "include"
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-shared", "-fPIC", f"-I{include}", "k.cpp", "-o", "k.so"],
                       cwd=self.path, check=True, timeout=300)
        text = self.diff(1, self.doctored("s/mul\\.f32/add.f32/"), str(self.path / "k.so"))
        self.assertIn("2 of 4 kernels differ", text)
        self.assertIn("--kernel triple", text)
        self.assertNotIn("--kernel add", text)

    def test_what_programs_launch(self):
        for name, ptx in ("before", "add"), ("after", "sub"):
            program = self.path / name / "program"
            program.parent.mkdir()
            (program.parent / "tilec").symlink_to(kTilec)
            program.write_text(f"#!/bin/sh\nmkdir $TILE_DUMP/k-1 && echo {ptx} > $TILE_DUMP/k-1/5-kernel.ptx\n")
            program.chmod(0o755)
        for after, code in ("before", 0), ("after", 1):
            text = subprocess.run([sys.executable, kProgram, "--before", self.path / "before/tilec", "--after",
                                   self.path / after / "tilec", "--run", "program", "missing.mlir"],
                                  timeout=300, capture_output=True, text=True)
            self.assertEqual(text.returncode, code, text)
            self.assertIn("2 of 2 kernels differ" if code else "2 kernels are equal", text.stdout)

    def test_remarks_count_unless_ptx_alone_is_asked_for(self):
        told = self.doctored("", "echo 'remark: another' >&2")
        self.assertIn("2 of 2 kernels differ", self.diff(1, told, kVectorAdd))
        self.assertEqual(self.diff(0, told, kVectorAdd, "--ptx-only"), "2 kernels are equal\n")

    def test_how_an_instruction_was_written_does_not_count(self):
        inline = self.doctored(r"s#^\tret;#\t// begin inline asm\n\tret  ;\n\t// end inline asm#")
        self.assertIn("2 of 2 kernels differ", self.diff(1, inline, kVectorAdd))
        inline = self.doctored(r"s#^\tmov\.b32 #\t// begin inline asm\n\tmov.b32\t  #")
        self.assertEqual(self.diff(0, inline, kVectorAdd), "2 kernels are equal\n")

    def test_targets(self):
        self.assertEqual(self.diff(0, kTilec, kVectorAdd, "--targets", "sm_86,sm_89"), "2 kernels are equal\n")
        self.assertIn("knows no target sm_1; known: sm_80, ", self.diff(2, kTilec, "op:add", "--targets", "sm_1"))

    def test_costs_of_equal_kernels(self):
        # Of each of the targets, which are four.
        self.assertEqual(self.diff(0, kTilec, kVectorAdd, "--cost"), "0 of 5 kernels cost more; 0 others have changed\n")

    def cost(self, code, script):
        """What is printed of the product and a tilec that explains another cost; its PTX differs in a comment."""
        other = self.doctored(script, "[[ -z $ptx ]] || echo // other >> $ptx")
        return self.diff(code, other, "--cost", "--targets", "sm_80", kMatmul)

    def test_a_cost_that_rises(self):
        for name, pattern in {"shared bytes": "shared_bytes", "registers": "registers", "registers ": "expected_registers",
                              "spilled bytes": "spill_store_bytes", "loops": "innermost_loops"}.items():
            if pattern == "expected_registers" and self.have_assembler():
                continue
            if pattern in ("registers", "spill_store_bytes", "innermost_loops") and not self.have_assembler():
                continue
            value = r"\[[^]]*\]" if pattern == "innermost_loops" else "[0-9]*"
            another = "[99999]" if pattern == "innermost_loops" else "99999"
            slurp = ":a;N;$!ba; " if pattern == "innermost_loops" else ""
            text = self.cost(1, f'{slurp}s/"{pattern}": {value}/"{pattern}": {another}/')
            self.assertRegex(text, rf"--target sm_80: .*{name.strip()} [\d, none]+ -> 99999 RISES")
            self.assertIn("1 of 1 kernels cost more; 0 others have changed", text)

    def test_a_cost_that_falls_and_one_that_stays(self):
        text = self.cost(0, 's/"shared_bytes": [1-9][0-9]*/"shared_bytes": 1/')
        self.assertRegex(text, r"sm_80: registers \d+; spilled bytes \w+; shared bytes \d+ -> 1; loops ")
        self.assertIn("0 of 1 kernels cost more; 1 others have changed", text)
        text = self.cost(0, "")
        self.assertNotIn("->", text)
        self.assertIn("0 of 1 kernels cost more; 1 others have changed", text)

    def timed(self, factor):
        """A tilec whose kernels are others, and take so many times as long."""
        path = self.doctored("", "[[ -z $ptx ]] || echo // other >> $ptx")
        lines = path.read_text().split("\n", 1)
        times = f"""if [[ $1 == time ]]; then
  '{kTilec}' "$@" | awk -F '\\t' '{{printf "%s\\t%.0f\\n", $1, $2 * {factor}}}'
  exit
fi"""
        path.write_text("\n".join([lines[0], times, lines[1]]))
        return path

    def test_predicted_times(self):
        inputs = ("--time", "--targets", "sm_90a", "op:add", kVectorAdd)
        text = self.diff(1, self.timed(1.5), *inputs)
        self.assertRegex(text, r"op:add --target sm_90a: cycles \d+ -> \d+, 1\.500 SLOWER\n")
        self.assertIn("note: 1 kernels differ and have no predicted times\n", text)
        self.assertIn("4 of 5 kernels are slower; 0 others have changed; geometric mean 1.500\n", text)
        text = self.diff(0, self.timed(0.5), *inputs)
        self.assertRegex(text, r"op:add --target sm_90a: cycles \d+ -> \d+, 0\.500\n")
        self.assertIn("0 of 5 kernels are slower; 4 others have changed; geometric mean 0.500\n", text)
        self.assertEqual(self.diff(0, kTilec, "--time", "--targets", "sm_90a", "op:add"),
                         "0 of 4 kernels are slower; 0 others have changed; geometric mean 1.000\n")

    def test_a_kernel_that_is_missing_costs(self):
        text = self.diff(1, self.doctored("", "[[ -z $ptx ]] || exit 3"), kVectorAdd, "--cost", "--targets", "sm_80")
        self.assertIn(f"{kVectorAdd} --target sm_80: no kernel after\n", text)
        self.assertIn("0 of 0 kernels cost more; 0 others have changed; 1 are missing", text)

    @staticmethod
    def have_assembler():
        return "ok       ptxas" in subprocess.run([kTilec, "doctor"], capture_output=True, text=True).stdout

    def test_nothing_to_compare(self):
        self.assertIn("0 kernels", self.diff(2, kTilec, "missing.mlir"))
        self.assertIn("no-such-commit", self.diff(2, "no-such-commit", "op:add"))
        self.assertIn("no-such-program", self.diff(2, kTilec, "op:add", "--run", "no-such-program"))


if __name__ == "__main__":
    unittest.main()
