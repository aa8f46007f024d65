#!/usr/bin/env python3
"""tilec time: ops, kernels in C++ and PTX, what is printed, wrong arguments."""
import json
import pathlib
import re
import unittest

from command import Case

kPtx = pathlib.Path(__file__).resolve().parent.parent / "runtime" / "vgpu" / "kernels" / "vector_add.ptx"
kKernel = """
#include <tile/tile.h>
using namespace tile;
auto scale = kernel("scale", [](In<f32, 1> x, Out<f32, 1> y, Scalar<f32> by, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i) * by;
}).named("x", "y", "by", "B");
auto other = kernel("other", [](Out<f32, 1> y, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = zeros(f32, {B});
}).named("y", "B");
"""
# Waits for what nobody writes.
kSpin = """.version 8.0
.target sm_90
.address_size 64
.visible .entry spin(.param .u64 flag) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  .reg .pred %p;
  ld.param.u64 %rd1, [flag];
again:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p, %r1, 0;
  @%p bra again;
  ret;
}
"""
kRow = re.compile(r"^  (\w+) +(.*)$", re.M)


class Time(Case):
    def rows(self, *arguments, **options):
        """What is printed of a single launch: the row of each name."""
        output = self.run_tilec(0, "time", *arguments, **{"timeout": 120, **options})[0]
        return {"output": output, **dict(kRow.findall(output))}

    def cycles(self, *arguments):
        output = self.run_tilec(0, "time", *arguments, "--cycles", timeout=120)[0]
        self.assertRegex(output, r"\A[^\t\n]+\t\d+\n\Z")
        return int(output.split("\t")[1])

    def test_an_op(self):
        rows = self.rows("op:matmul", "M=1024", "N=1024", "K=1024", "dtype=bf16", "--json", "report.json")
        self.assertRegex(rows["output"], r"\Amatmul: grid \d+, block \d+")
        self.assertRegex(rows["time"], r"\A[\d.]+ us.* predicted for h100-sxm")
        self.assertRegex(rows["cycles"], r"\A\d+ at 1\.\d+ GHz")
        self.assertRegex(rows["occupancy"], r"\d+ blocks? a multiprocessor, limited by \w+.*; \d+ registers?.*, \d+ barriers?")
        self.assertRegex(rows["busy"], r"tensor \d+ %")
        self.assertRegex(rows["waits"], r"\d+ %  \w+ +ops/matmul/\w+\.(cpp|h):\d+")
        self.assertRegex(rows["work"], r"TFLOPS \(2\.14\d Gflop\), .* GB/s \(6\.291 MB")  # 2 * 1024^3; 3 matrices of 2 MB
        self.assertLessEqual(len(rows["output"].splitlines()), 18)
        report = json.loads((self.path / "report.json").read_text())
        [launch] = report["launches"]
        self.assertEqual((launch["kernel"], launch["flops"]), ("matmul", 2 * 1024**3))
        self.assertEqual(report["us"], launch["us"])
        self.assertTrue(report["is_calibrated"])
        self.assertAlmostEqual(sum(stall["share"] for stall in launch["stalls"]), 1, 6)

    def test_settings_count(self):
        few, many = (self.cycles("op:softmax", f"M={rows}", "N=1024") for rows in (132, 13200))
        self.assertGreater(many, 5 * few)
        self.assertNotEqual(self.cycles("op:add", "N=1000000", "B=256"), self.cycles("op:add", "N=1000000", "B=4096"))

    def test_ops_of_several_kernels(self):
        self.run_tilec(0, "time", "op:cross_entropy", "--json", "report.json", timeout=120)
        report = json.loads((self.path / "report.json").read_text())
        self.assertGreater(len(report["launches"]), 1)
        self.assertAlmostEqual(report["us"], sum(launch["us"] for launch in report["launches"]))
        output = self.run_tilec(0, "time", "op:cross_entropy", timeout=120)[0]
        self.assertRegex(output, r"\n%d launches: [\d.]+ us .*, \d+ cycles\n\Z" % len(report["launches"]))

    def test_other_targets_are_uncalibrated(self):
        self.assertNotIn("uncalibrated", self.rows("op:softmax", "M=64")["output"])
        self.assertIn("uncalibrated", self.rows("op:softmax", "M=64", "--target", "sm_80")["output"])

    def test_kernels_in_a_file(self):
        self.write("scale.cpp", kKernel)
        rows = self.rows("scale.cpp", "--kernel", "scale", "B=256", "x=100000", "y=100000")
        self.assertIn("scale: grid 391, block 128", rows["output"])
        self.assertIn("scale.cpp:6", rows["output"])
        self.assertIn("(0.8 MB", rows["work"])
        self.assertIn("has several kernels", self.run_tilec(2, "time", "scale.cpp", "B=256", timeout=120)[1])

    def test_ptx(self):
        arguments = ["zeros:f32:1000", "zeros:f32:1000", "zeros:f32:1000", "i32:1000", "--grid", "8"]
        rows = self.rows(kPtx, *arguments, "--block", "128", "--target", "sm_90a")
        self.assertIn("vector_add: grid 8, block 128", rows["output"])
        self.assertNotIn("work", rows)
        self.assertNotIn("uncalibrated", rows["output"])
        self.assertIn("--block is needed", self.run_tilec(2, "time", kPtx, *arguments)[1])
        self.assertIn("takes 4 arguments, got 1", self.run_tilec(2, "time", kPtx, "i32:1", "--grid", "8", "--block", "128")[1])

    def test_loops_without_end(self):
        self.write("spin.ptx", kSpin)
        errors = self.run_tilec(3, "time", "spin.ptx", "zeros:u32:1", "--grid", "1", "--block", "32", TILE_VGPU_MAX_BRANCHES="1000")[1]
        self.assertRegex(errors, r"\Aspin.ptx:12: error: the time model gives up: a warp took 1000 branches, .*\n\Z")

    def test_conditions(self):
        usual = self.rows("op:add", "N=4194304", "--estimate")
        self.assertIn("at 1.000 GHz", self.rows("op:add", "N=4194304", "--clock", "1")["cycles"])
        self.assertIn("(estimated)", usual["occupancy"])
        least = float(self.rows("op:add", "N=4194304", "--clean", "--estimate")["time"].split()[0])
        self.assertLessEqual(least, float(usual["time"].split()[0]))
        slow = self.rows("op:add", "N=4194304", "--set", "dram.gbs=300", "--estimate")
        self.assertGreater(float(slow["time"].split()[0]), 3 * float(usual["time"].split()[0]))

    def test_wrong_arguments(self):
        for fault, *arguments in (
                ("the first word names what to time", ),
                ("'matmul' is neither op:NAME nor a file", "matmul"),
                ("there is no op", "op:nothing"),
                ("nothing is called Q here", "op:softmax", "Q=3"),
                ("takes settings alone", "op:softmax", "in.npy"),
                ("--grid is for FILE.ptx", "op:softmax", "--grid", "4"),
                ("--kernel chooses among", "op:softmax", "--kernel", "k"),
                ("--target sm_99: there are sm_80", "op:softmax", "--target", "sm_99"),
                ("a clock in GHz is expected", "op:softmax", "--clock", "-1"),
                ("no number 'nothing'", "op:softmax", "--set", "nothing=1"),
                ("expected NAME=VALUE", "op:softmax", "--set", "dram.gbs=fast"),
                ("cannot read 'none.jsonl'", "--jobs", "none.jsonl"),
                ("--jobs names all that is timed", "op:softmax", "--jobs", "-"),
                ("--grid is needed", kPtx)):
            with self.subTest(fault):
                output, errors = self.run_tilec(2, "time", *arguments)
                self.assertIn(fault, errors)
                self.assertEqual((output, errors.count("\n")), ("", 1))


if __name__ == "__main__":
    unittest.main()
