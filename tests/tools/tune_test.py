#!/usr/bin/env python3
"""Tuning from outside: what is found is kept, goes on where it was stopped, and survives kernels that crash or hang."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from command import Case, kEnvironment, kTilec

kRecordings = pathlib.Path(__file__).resolve().parents[2] / "bench" / "recordings"
# What goes wrong with which blocks is said by variables of the environment, so that one library serves all tests.
kKernel = """
#include <tile/tile.h>
#include <cstdlib>
#include <sstream>
#include <unistd.h>
using namespace tile;
static bool isFor(const char *variable, int block) {
  const char *value = std::getenv(variable);
  std::istringstream blocks(value ? value : "");
  for (int each; blocks >> each;)
    if (each == block)
      return true;
  return false;
}
auto scale = kernel("scale", [](In<f32, 1> x, Out<f32, 1> y, Const block) {
  if (isFor("ABORTS", block)) abort();
  if (isFor("PAUSES", block)) pause();
  if (isFor("SLEEPS", block)) sleep(1);
  Value i = grid1d(y, {block});
  y.tile({block})(i) = x.tile({block})(i) * (isFor("WRONG", block) ? 2.f : 3.f);
}).named("x", "y", "block").tunable("block", pow2(64, 1024), 256)
  .where("blocks are not of 512", [](const Config &c, const Problem &) { return c["block"] != 512; })
  .work([](const Config &c, const Problem &p) {
    Work work;
    work.bytesRead = work.bytesWritten = double(c["block"]) * 4;
    work.programs = double(p.extent(1, 0)) / double(c["block"]);
    work.distinctBytes = double(p.extent(1, 0)) * 8;
    return work;
  });
"""
kEveryBlock = "64 128 256 1024"


class Tune(Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tilec-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.library = os.path.join(folder.name, "libscale.so")
        include = os.path.join(os.path.dirname(os.path.dirname(kTilec)), "include")
        subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", f"-I{include}", "-x", "c++", "-", "-o", cls.library],
                       input=kKernel, text=True, check=True)

    def setUp(self):
        super().setUp()
        self.database = self.path / "tuned.sqlite"
        self.surroundings = {"TILE_TUNE_DB": str(self.database), "TILE_DEVICE": "virtual:sm_90a"}

    def tune(self, code, *arguments, **environment):
        return self.run_tilec(code, "tune", *arguments, timeout=300, **{**self.surroundings, **environment})

    def results(self):
        self.tune(0, "--export", "table.jsonl")
        return [json.loads(line) for line in (self.path / "table.jsonl").read_text().splitlines()]

    def test_finds_and_keeps(self):
        self.write("scale.cpp", kKernel)
        found, told = self.tune(0, "scale.cpp", "x=4096", "y=4096")
        self.assertIn("best: block=", found)
        self.assertIn("by the model", found)  # no time is pretended
        self.assertIn("1 left out: blocks are not of 512 (block=512)", found)
        self.assertEqual(told.count(" ms by the model"), 4)
        [best] = self.results()
        self.assertEqual((best["kernel"], best["status"], best["chosen"]), ("scale", "modelled", True))
        self.assertEqual(best["problem"], "f32[4096]:0+16 f32[4096]:0+16")
        # What is known is not tried again, unless that is asked for.
        again, _ = self.tune(0, "scale.cpp", "x=4096", "y=4096")
        self.assertEqual(again, found)
        self.tune(0, self.library, "x=4096", "y=4096", "--fresh", "--in-process")

    def test_crashes_hangs_and_wrong_results(self):
        faults = {"ABORTS": "128", "PAUSES": "64", "WRONG": "1024"}
        found, told = self.tune(0, self.library, "x=4096", "y=4096", "--limit", "15", "--jobs", "1", **faults)
        self.assertIn("block=128: crashed: the process that tried it was killed by Aborted", told)
        self.assertIn("block=64: timed out: no answer after 15 s", told)
        self.assertIn("block=1024: wrong: output 0: element", told)
        self.assertIn("best: block=256", found)
        # Neither is ever tried again.
        again, told = self.tune(0, self.library, "x=4096", "y=4096", "--fresh", "--limit", "15", "--jobs", "1", **faults)
        self.assertNotIn("block=128", told)
        self.assertNotIn("block=64", told)

    def test_own_settings_that_crash_spoil_no_others(self):
        self.write("scale.cpp", kKernel)
        self.write("compiler", '#!/bin/sh\necho >>compiled\nexec c++ "$@"\n')
        (self.path / "compiler").chmod(0o700)
        found, told = self.tune(0, "scale.cpp", "x=4096", "y=4096", "--jobs", "1", ABORTS="256", CXX="./compiler")
        # Once for all processes, those that follow a dead one among them.
        self.assertEqual((self.path / "compiled").read_text(), "\n")
        self.assertEqual(told.count("crashed"), 1, told)
        self.assertIn("best: block=", found)
        self.assertIn("4 results of 'scale' forgotten", self.tune(0, "--forget", "scale")[1])
        self.assertEqual(self.results(), [])

    def test_nothing_works(self):
        found, _ = self.tune(1, self.library, "x=4096", "y=4096", "--jobs", "1", ABORTS=kEveryBlock)
        self.assertIn("nothing worked: launches take what the kernel says", found)

    def test_an_interrupt_keeps_what_was_found(self):
        process = subprocess.Popen([kTilec, "tune", self.library, "x=4096", "y=4096", "--jobs", "1"], cwd=self.path,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**kEnvironment, **self.surroundings, "TMPDIR": str(self.path),
                                        "SLEEPS": "64 128 1024"})
        self.assertIn("block=256", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        found, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0)
        self.assertIn("cut short; the same command goes on", found)
        self.assertEqual(len(self.results()), 1)

    def test_tables_go_out_and_in(self):
        self.tune(0, self.library, "x=4096", "y=4096", "--quiet")
        [best] = self.results()
        best["config"]["block"] = 64
        self.write("mine.jsonl", json.dumps(best) + "\n")
        (self.database).unlink()
        self.assertIn("1 results taken", self.tune(0, "--import", "mine.jsonl")[1])
        self.assertEqual(self.results()[0]["config"], {"block": 64})
        # Merged: one of more samples stays, whichever comes last, and all that was tried goes out.
        better = {**best, "ms": 2 * best["ms"], "samples": 50, "chosen": False}
        tried = {**best, "config": {"block": 128}, "chosen": False}
        for table in [better, tried], [best]:
            self.write("theirs.jsonl", "".join(json.dumps(line) + "\n" for line in table))
            self.tune(0, "--import", "theirs.jsonl")
        [chosen] = self.results()
        self.assertEqual((chosen["samples"], chosen["ms"]), (50, better["ms"]))
        self.assertIn("2 results written", self.tune(0, "--export", "all.jsonl", "--all")[1])
        self.assertIn("--all is for --export", self.tune(2, "--all")[1])

    def test_reports(self):
        self.tune(0, self.library, "x=4096", "y=4096", "--jobs", "1", "--report", "out.html", ABORTS="128")
        page = (self.path / "out.html").read_text()
        root = xml.etree.ElementTree.fromstring(page.replace("<!doctype html>", "").replace("<meta charset='utf-8'>", "")
                                                .replace("<br>", ""))
        self.assertEqual(len(root.findall(".//circle")), 4)
        self.assertIn("killed by Aborted", page)
        self.assertIn("blocks are not of 512", page)
        self.assertIn("% of the roofline", page)
        self.tune(2, self.library, "x=4096", "y=4096", "--report", "no/folder.html")

    def test_explains_without_trying(self):
        told, _ = self.tune(0, self.library, "x=4096", "y=4096", "--explain")
        self.assertIn("5 combinations, 4 to try, by the model's time", told)
        self.assertIn("the kernel's own: block=256", told)
        self.assertFalse(self.database.exists())

    def test_a_gpu_has_a_clock(self):
        libraries = pathlib.Path(kTilec).resolve().parent.parent / "lib"
        gpu = {"TILE_DEVICE": "cuda:0", "TILE_LIBCUDA": str(libraries / "libcuda_fake.so")}
        for nvml, expected in [(libraries / "libnvml_fake.so", "its clock: 1980 MHz, 43 degrees Celsius, 121 W"),
                               ("/nowhere", "its clock: not known: there is no NVML: /nowhere: ")]:
            told, _ = self.tune(0, self.library, "x=4096", "y=4096", "--explain", TILE_LIBNVML=str(nvml), **gpu)
            self.assertIn(expected, told)
        self.tune(0, self.library, "x=4096", "y=4096", "--quiet", TILE_LIBNVML=str(libraries / "libnvml_fake.so"), **gpu)
        [best] = self.results()
        self.assertEqual((best["status"], best["clock"]), ("timed", 1980))

    def test_shapes(self):
        self.write("shapes.jsonl", '{"kernel":"scale","args":["f32[1000]","f32[1000]"]}\n\n'
                                   '{"kernel":"other","args":["f32"]}\n'
                                   '{"kernel":"scale","args":["f32[7777]","f32[7777]"],"consts":{}}\n')
        found, _ = self.tune(0, self.library, "--shapes", "shapes.jsonl", "--quiet")
        self.assertEqual(found.count("best: "), 2)
        self.assertEqual({result["problem"] for result in self.results()},
                         {"f32[1024]:0+16 f32[1024]:0+16", "f32[8192]:0+16 f32[8192]:0+16"})
        self.write("bad.jsonl", '{"kernel":"scale","args":["f32[10",5]}\n')
        self.assertIn('bad.jsonl:1: "f32[10" is no argument', self.tune(2, self.library, "--shapes", "bad.jsonl")[1])
        self.write("bad.jsonl", '{"kernel":"scale","args":["f32[10]"]}\n')
        self.assertIn("bad.jsonl:1: ", self.tune(2, self.library, "--shapes", "bad.jsonl")[1])
        self.write("none.jsonl", "")
        self.assertIn("has no line for kernel 'scale'", self.tune(2, self.library, "--shapes", "none.jsonl")[1])

    def test_shapes_of_several_kernels_with_constants(self):
        """What TILE_TUNE=record writes of a program is enough, whatever constants its kernels have."""
        self.write("two.cpp", """
#include <tile/tile.h>
using namespace tile;
auto scale = [](In<f32, 1> x, Out<f32, 1> y, Const B, Const K) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i) * float(int(K));
};
auto a = kernel("a", scale).named("x", "y", "B", "K").tunable("B", pow2(64, 128), 64);
auto b = kernel("b", scale).named("x", "y", "B", "K").tunable("B", pow2(64, 128), 64);
auto c = kernel("c", scale).named("x", "y", "B", "K");
""")
        include = os.path.join(os.path.dirname(os.path.dirname(kTilec)), "include")
        subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", f"-I{include}", "two.cpp", "-o", "two.so"], cwd=self.path,
                       check=True)
        lines = ['{"kernel":"%s","args":["f32[1000]","f32[1000]"],"consts":{"K":3}}' % name for name in "ab"]
        self.write("shapes.jsonl", "\n".join(lines))
        found, _ = self.tune(0, "two.so", "--shapes", "shapes.jsonl", "--quiet")
        self.assertEqual(found.count("best: "), 2)
        self.assertEqual({(result["kernel"], result["problem"].split()[-1]) for result in self.results()},
                         {("a", "K=3"), ("b", "K=3")})
        self.tune(0, "two.so", "--shapes", "shapes.jsonl", "--kernel", "b", "--quiet")
        self.write("shapes.jsonl", '{"kernel":"a","args":["f32[1000]","f32[1000]"]}')
        self.assertIn("shapes.jsonl:1: kernel 'a' needs its constant 'K'",
                      self.tune(2, "two.so", "--shapes", "shapes.jsonl")[1])
        self.write("shapes.jsonl", '{"kernel":"d","args":[]}')
        self.assertIn("has no line for kernel 'a', 'b'", self.tune(2, "two.so", "--shapes", "shapes.jsonl")[1])

    def test_wrong_words(self):
        for arguments, expected in [
                ((), "an input is expected"),
                (("op:softmax",), "nothing of kernel 'softmax' is tuned"),
                (("op:matmul", "M=64", "--budget", "soon"), "--budget soon: a time such as 60s"),
                (("op:matmul", "Q=64"), "Q"),
                (("op:matmul", "M=64", "--limit", "nan"), "--limit: Number less or equal to 0: nan"),
                (("op:matmul", "M=64", "--limit", "0"), "--limit"),
                (("op:matmul", "M=64", "BM=64"), "'BM' of kernel 'matmul' is tuned, so all its values are tried"),
                ((self.library, "block=64"), "'block' of kernel 'scale' is tuned"),
                ((self.library, "x=f64[64]", "y=64"), "arg 1 'x': expected ptr<f32>, got ptr<f64>"),
                ((self.library, "x=64", "y=8x8"), "arg 2 'y': expected rank 1, got rank 2"),
                (("nothing",), "'nothing' is neither op:NAME nor a file"),
                (("--import", "missing.jsonl"), "cannot read 'missing.jsonl'"),
                (("--import", "."), "cannot read '.': Is a directory"),
                ((self.library, "--shapes", "."), "cannot read '.': Is a directory"),
                (("op:matmul", "--simulate", "missing.jsonl"), "cannot read 'missing.jsonl': No such file or directory")]:
            with self.subTest(arguments=arguments):
                self.assertIn(expected, self.tune(2, *arguments)[1])

    def test_databases_that_cannot_be_used(self):
        self.database.mkdir()
        self.assertIn("the tuning database", self.tune(2, self.library, "x=64", "y=64")[1])
        self.assertIn("there is no database", self.tune(2, self.library, "x=64", "y=64", TILE_TUNE_DB="off")[1])
        self.assertIn("there is no database", self.tune(2, self.library, "x=64", "y=64", "--db", "off")[1])
        self.assertIn("there is no database", self.tune(2, "--export", "out.jsonl", TILE_TUNE_DB="off")[1])

    def test_matmul(self):
        told, _ = self.tune(0, "op:matmul", "M=4096", "N=4096", "K=4096", "dtype=bf16", "--explain")
        self.assertIn("the kernel's own: BM=128 BN=256 BK=64", told)
        found, _ = self.tune(0, "op:matmul", "M=256", "N=256", "K=64", "dtype=bf16", "--trials", "6", "--quiet")
        self.assertIn("best: BM=", found)

    def regrets(self, recording, words):
        told, _ = self.tune(0, *words, "--simulate", str(kRecordings / recording))
        mean = told.splitlines()[-1]
        return {name: float(mean.split(name)[1].split("%")[0]) for name in ("model ", "own ", "4 trials ")}, told

    def test_first_choices_on_recorded_matrix_products(self):
        """Times of an H100: the model's first settings, and the table's, are nearly as fast as the best."""
        regrets, told = self.regrets("matmul-bf16-h100.jsonl", ["op:matmul", "dtype=bf16"])
        self.assertIn("mean of 17 problems", told)
        self.assertLessEqual(regrets["model "], 3.0, told)
        self.assertLessEqual(regrets["own "], 3.0, told)
        self.assertLessEqual(regrets["4 trials "], 1.0, told)

    def test_first_choices_on_recorded_attention(self):
        regrets, told = self.regrets("attention-bf16-h100.jsonl", ["op:attention", "dtype=bf16"])
        self.assertIn("mean of 8 problems", told)
        self.assertLessEqual(regrets["model "], 5.0, told)
        self.assertLessEqual(regrets["own "], 5.0, told)
        self.assertLessEqual(regrets["4 trials "], 1.0, told)


if __name__ == "__main__":
    unittest.main()
