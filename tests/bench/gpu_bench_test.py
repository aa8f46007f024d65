"""gpu-bench from outside, without PyTorch: on the virtual GPU, and on a driver that runs nothing and lets each event take half a
millisecond; and its way of measuring, with contenders that are made up.

Usage: gpu_bench_test.py GPU_BENCH DRIVER-FOLDER FAKE-CUDA-DRIVER"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

kProgram = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.abspath(sys.argv.pop(1)))
kFakeCuda = os.path.abspath(sys.argv.pop(1))
import measure  # noqa: E402
import ours as our  # noqa: E402
import plain  # noqa: E402
import report  # noqa: E402
import rows  # noqa: E402

kDevice = "virtual:sm_90a"
kFast = ("gemm", "skinny", "fp8", "rows")  # parts that take little of the virtual GPU


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpu-bench-test-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def bench(self, code, *words, **environment):
        command = [kProgram, "--device", kDevice, "--shapes", "small", "--no-torch", "--exchange", str(self.path), *words]
        done = subprocess.run(command, cwd=self.path, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "TMPDIR": str(self.path), **environment})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def results(self, name="gpu-bench.json"):
        return json.loads((self.path / name).read_text())

    @staticmethod
    def parts(*names):
        return [word for name in names for word in ("--part", name)]


class Flow(Folder):
    def test_every_part_is_run_and_agrees_with_plain_loops(self):
        self.bench(0)
        document = self.results()
        expected = [row.name for part in rows.parts("small").values() for row in part]
        self.assertEqual([row["name"] for row in document["rows"]], expected)
        self.assertEqual(document["score"], "model")
        self.assertEqual(document["left"], [])
        self.assertEqual((document["product"], document["target"]), ("tilec virtual GPU (sm_90a)", "sm_90a"))
        self.assertIn("tilec", document["versions"])
        for row in document["rows"]:
            self.assertEqual(row["status"], "ok", row)
            # Rounded results beside exact ones: a difference, and a small one.
            self.assertGreater(row["errors"]["plain loops"], row["bound"] / 100)
            self.assertLessEqual(row["errors"]["plain loops"], row["bound"])
            self.assertGreater(row["model"]["tilec"]["instructions"], 100)
            self.assertGreater(row["model"]["tilec"]["ms"], 0)
            self.assertNotIn("ms", row, "the virtual GPU has no times")
        table = (self.path / "gpu-bench.md").read_text()
        self.assertIn("**No times**", table)
        self.assertIn("| 64x96x64 a row, b row |", table)
        self.assertEqual(sorted(each.name for each in self.path.iterdir()), ["gpu-bench.json", "gpu-bench.md"])

    def test_a_budget_ends_the_run_and_resume_goes_on(self):
        text = self.bench(3, *self.parts(*kFast), "--budget", "0")
        self.assertIn("leaves 6 rows, from 'gemm 64x96x64 a row, b row' on: go on with --resume gpu-bench.json", text)
        self.assertEqual((len(self.results()["rows"]), len(self.results()["left"])), (0, 6))
        self.bench(0, *self.parts("gemm"), "--resume", "gpu-bench.json")
        # A row that is there is kept as it is, whatever is in it.
        document = self.results()
        document["rows"][0]["model"]["tilec"]["instructions"] = 12345
        (self.path / "gpu-bench.json").write_text(json.dumps(document))
        text = self.bench(0, *self.parts("gemm", "fp8"), "--resume", "gpu-bench.json", "--out", "more.json")
        self.assertNotIn("gemm 64x96x64", text)
        more = self.results("more.json")
        self.assertEqual([row["part"] for row in more["rows"]], ["gemm", "fp8"])
        self.assertEqual(more["rows"][0]["model"]["tilec"]["instructions"], 12345)

    def test_results_of_another_machine_or_program_are_refused(self):
        self.bench(0, *self.parts("fp8"))
        document = {**self.results(), "program": "another"}
        (self.path / "other.json").write_text(json.dumps(document))
        self.assertIn("'program' is another", self.bench(2, *self.parts("fp8"), "--resume", "other.json"))
        (self.path / "other.json").write_text("{")
        self.assertIn("not the results of a run", self.bench(2, *self.parts("fp8"), "--resume", "other.json"))

    def test_full_shapes_are_refused_on_the_virtual_gpu(self):
        self.assertIn("--shapes small", self.bench(2, "--shapes", "full"))

    def test_a_device_that_is_not_there_is_an_error(self):
        self.assertIn("names no device", self.bench(2, "--device", "abacus"))

    def test_the_drivers_sources_can_be_written_out(self):
        subprocess.run([kProgram, "scripts", self.path / "driver"], check=True)
        for source in (self.path / "driver").iterdir():
            self.assertEqual(source.read_text(), pathlib.Path(sys.path[0], source.name).read_text())
        done = subprocess.run([sys.executable, "-B", self.path / "driver", "--help"], capture_output=True, text=True, check=True)
        self.assertIn("--budget SECONDS", done.stdout)

    def test_a_server_that_dies_costs_its_row_only(self):
        # Dies at the first product, and lets the other rows be served.
        dying = self.path / "dying"
        dying.write_text(f"#!{sys.executable}\n" + """
import subprocess, sys
real = subprocess.Popen(["gpu-bench", *sys.argv[1:]], executable=%r, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for line in sys.stdin:
    if '"matmul"' in line:
        real.kill()
        sys.exit(7)
    real.stdin.write(line)
    real.stdin.flush()
    print(real.stdout.readline(), end="", flush=True)
""" % kProgram)
        dying.chmod(0o755)
        command = [sys.executable, "-B", sys.path[0], "--program", dying, "--device", kDevice, "--shapes", "small", "--no-torch",
                   *self.parts("gemm", "rows")]
        done = subprocess.run(command, cwd=self.path, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual([row["status"] for row in self.results()["rows"]], ["error", "ok", "ok"])
        self.assertIn("exit code 7 at 'run'", self.results()["rows"][0]["reason"])


class FakeDriver(Folder):
    def fake_bench(self, code, *words):
        self.bench(code, "--device", "cuda", *words, TILE_LIBCUDA=kFakeCuda)
        return self.results()

    def test_medians_rates_and_means_of_times_by_events(self):
        document = self.fake_bench(0, "--shapes", "full", "--rounds", "20", *self.parts("fp8", "rows"))
        self.assertEqual((document["score"], document["product"], document["rounds"]), ("time", "Fake GPU 0", 20))
        timed = [row for row in document["rows"] if row["part"] == "rows"]
        self.assertEqual(len(timed), 2)
        for row in timed:
            self.assertIn("no library", row["unchecked"])
            self.assertEqual(row["timings"], {"tilec": 20, "tilec copy": 20})
            self.assertEqual(row["ms"], {"tilec": 0.5, "tilec copy": 0.5})
            self.assertEqual(row["ratios"], {"tilec copy": 1})
            self.assertAlmostEqual(row["gbs"]["tilec"], 2 * 2 * 32768 * 4096 / 0.5e-3 / 1e9)
        self.assertIn({"part": "rows", "group": "all", "contender": "tilec copy", "rows": 2, "ratio": 1}, document["means"])
        self.assertIn("| softmax 32768x4096 | 0.5 | 1074 |", (self.path / "gpu-bench.md").read_text())

    def test_results_that_no_kernel_has_computed_are_mismatches(self):
        document = self.fake_bench(1, *self.parts("gemm", "skinny"))
        self.assertEqual([row["status"] for row in document["rows"]], ["mismatch"] * 3)
        self.assertNotIn("ms", document["rows"][0])


class Protocol(unittest.TestCase):
    def setUp(self):
        self.server = our.Server(kProgram, kDevice, timeout=60)
        self.addCleanup(self.server.process.stdout.close)
        self.addCleanup(self.server.process.stdin.close)
        self.addCleanup(self.server.stop)

    def refusal(self, **request):
        with self.assertRaises(our.Refused) as caught:
            self.server.ask(**request)
        return str(caught.exception)

    def test_bad_requests_are_answered_and_the_next_one_is_served(self):
        self.assertIn("'fly' is none of hello", self.refusal(do="fly"))
        self.assertIn("there is no tensor 'a'", self.refusal(do="save", name="a", count=1, file="/dev/null"))
        self.assertIn("'dtype' not found", self.refusal(do="tensor", name="a"))
        self.assertIn("'i3' is none of f16", self.refusal(do="tensor", name="a", dtype="i3", count=4))
        self.server.ask(do="tensor", name="a", dtype="bf16", count=64, seed=1)
        a = {"tensor": "a", "extents": [8, 8]}
        self.assertIn("'fly' is none of the ops", self.refusal(do="run", op="fly", operands={}))
        self.assertIn("overlaps", self.refusal(do="run", op="matmul", operands={"a": a, "b": a, "c": a}))
        self.assertTrue(self.server.ask(do="hello")["virtual"])

    def test_outputs_are_nan_until_they_are_written(self):
        self.server.ask(do="tensor", name="y", dtype="bf16", count=8)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "y")
            self.assertEqual(self.server.ask(do="save", name="y", count=6, file=str(path)), {"bytes": 12})
            self.assertTrue(all(map(math.isnan, plain.floats_of(path, "bf16"))))

    def test_data_are_normally_distributed_and_follow_from_the_seed(self):
        with tempfile.TemporaryDirectory() as folder:
            values = []
            for name, seed in (("a", 1), ("b", 1), ("c", 2)):
                self.server.ask(do="tensor", name=name, dtype="bf16", count=4096, seed=seed)
                path = pathlib.Path(folder, name)
                self.server.ask(do="save", name=name, count=4096, file=str(path))
                values.append(plain.floats_of(path, "bf16"))
        self.assertEqual(values[0], values[1])
        self.assertNotEqual(values[0], values[2])
        mean = sum(values[0]) / 4096
        self.assertAlmostEqual(mean, 0, delta=4 / math.sqrt(4096))
        self.assertAlmostEqual(sum(x * x for x in values[0]) / 4096, 1, delta=4 * math.sqrt(2 / 4096))


class MadeUp:
    """Both sides of a GPU that does not exist: what is scored and what results differ by are given."""

    def __init__(self, times, errors):
        self.machine, self.times, self.errors, self.order = {"virtual": False}, times, errors, []
        self.stops, self.fault = 0, None

    def prepare(self, row):
        if self.fault:
            raise self.fault
        return {name: lambda name=name: self.result(name) for name in self.errors}

    def result(self, name):
        if isinstance(self.errors[name], Exception):
            raise self.errors[name]
        return name

    def yardsticks(self, row):
        return {}

    def stop(self):
        self.stops += 1

    def error(self, row, results):
        return self.errors[results]

    def score(self, what):
        name = "tilec" if isinstance(what, rows.Row) else what()
        self.order.append(name)
        return {"ms": self.times[name][self.order.count(name) - 1], "host_bound": name == "slow"}


class Measuring(unittest.TestCase):
    row = rows.parts("small")["gemm"][0]

    def measured(self, made_up, row=row, rounds=21):
        return measure.measure(row, made_up, made_up, None, rounds)

    def test_contenders_take_turns_in_drawn_orders_and_medians_make_ratios(self):
        times = {"tilec": [2.0] * 20 + [50.0], "fast": [1.0] * 21, "slow": [3.0, 5.0] * 10 + [4.0]}
        made_up = MadeUp(times, {"fast": 1e-3, "slow": 2e-3})
        result = self.measured(made_up)
        self.assertEqual(result["status"], "ok")
        self.assertEqual(result["ms"], {"tilec": 2, "fast": 1, "slow": 4})
        self.assertEqual(result["ratios"], {"fast": 0.5, "slow": 2})
        self.assertEqual(result["timings"], {"tilec": 21, "fast": 21, "slow": 21})
        self.assertEqual(result["host_bound"], ["slow"])
        self.assertAlmostEqual(result["tflops"]["tilec"], 2 * 64 * 96 * 64 / 2e-3 / 1e12)
        turns = [tuple(made_up.order[at:at + 3]) for at in range(0, 63, 3)]
        self.assertTrue(all(sorted(turn) == ["fast", "slow", "tilec"] for turn in turns))
        self.assertGreater(len(set(turns)), 1)

    def test_a_result_that_differs_is_a_mismatch_and_is_not_timed(self):
        for error in (self.row.bound * 1.01, math.nan):
            made_up = MadeUp({}, {"fast": error})
            result = self.measured(made_up)
            self.assertEqual((result["status"], made_up.order), ("mismatch", []))
            self.assertIn("tilec and fast differ", result["reason"])

    def test_a_library_that_fails_or_errs_alone_is_left_out(self):
        made_up = MadeUp({"tilec": [1.0] * 3, "fast": [1.0] * 3},
                         {"broken": RuntimeError("no kernel\nmore"), "fast": 1e-3, "wrong": 0.5})
        result = self.measured(made_up, rounds=3)
        self.assertEqual(result["status"], "ok")
        self.assertEqual(set(result["ratios"]), {"fast"})
        self.assertEqual(result["failed"]["broken"], "RuntimeError: no kernel")
        self.assertIn("tilec and wrong differ", result["failed"]["wrong"])

    def test_refusals_are_skipped_only_where_they_are_expected(self):
        made_up = MadeUp({}, {})
        made_up.fault = our.Refused("no such dtype", "InvalidArgument")
        self.assertEqual(self.measured(made_up)["status"], "error")
        eight = rows.parts("small")["fp8"][0]
        self.assertEqual(self.measured(made_up, eight)["status"], "skipped")
        made_up.fault = our.Refused("gone", "ContextLost")
        self.assertEqual(self.measured(made_up, eight)["status"], "error")
        self.assertEqual(made_up.stops, 1)

    def test_an_unforeseen_failure_is_the_rows(self):
        made_up = MadeUp({}, {})
        made_up.fault = KeyError("what")
        self.assertEqual(self.measured(made_up)["reason"], "KeyError: 'what'")

    def test_norms_of_what_is_not_finite_are_nan(self):
        for values in ([1.0, math.nan], [1.0, math.inf]):
            self.assertTrue(math.isnan(plain.relative_norm(values, [1.0, 1.0])))
        self.assertTrue(math.isnan(plain.relative_norm([0.0], [0.0])))
        self.assertEqual(plain.relative_norm([3.0, 5.0], [3.0, 4.0]), 0.2)
        self.assertTrue(math.isnan(plain.worst([0.1, math.nan, 0.2])))

    def test_means_are_geometric(self):
        ratios = [{"part": "gemm", "group": group, "ratios": {"cublas": ratio}}
                  for group, ratio in (("a", 0.5), ("a", 2.0), ("b", 8.0))]
        means = {(mean["group"], mean["rows"]): mean["ratio"] for mean in report.means_of(ratios)}
        self.assertEqual({key: round(ratio, 12) for key, ratio in means.items()}, {("a", 2): 1, ("b", 1): 8, ("all", 3): 2})

    def test_tables_show_rates_and_ratios_of_times(self):
        result = self.measured(MadeUp({"tilec": [2.0] * 3, "fast": [1.0] * 3}, {"fast": 1e-3}), rounds=3)
        document = {"product": "G", "date": "D", "driver": "1", "versions": {}, "command": "c", "score": "time", "rows": [result],
                    "means": report.means_of([result]), "left": ["more"]}
        text = report.markdown(document)
        self.assertIn("| shape | tilec ms | tilec TFLOPS | fast TFLOPS | tilec / fast | differs by |", text)
        self.assertIn("| 64x96x64 a row, b row | 2 | 0 | 0 | 0.50 | 1.0e-03 |", text)
        self.assertIn("| gemm | both row-major | fast | 0.500 | 1 |", text)
        self.assertIn("Not timed: 1 rows, from more on.", text)


class FullShapes(unittest.TestCase):
    def test_names_differ_and_each_part_has_its_shapes(self):
        parts = rows.parts("full")
        counts = {"gemm": 5, "gemm-layouts": 15, "skinny": 45, "fp8": 2, "attention": 4, "attention-causal": 4, "backward": 8,
                  "backward-causal": 8, "rows": 2}
        self.assertEqual({part: len(each) for part, each in parts.items()}, counts)
        names = [row.name for part in parts.values() for row in part]
        self.assertEqual(len(set(names)), len(names))

    def test_work_is_counted_as_usual(self):
        parts = rows.parts("full")
        self.assertEqual(parts["gemm"][1].flops, 2 * 4096**3)
        self.assertEqual(parts["attention"][0].flops, 4 * 4 * 16 * 4096**2 * 64)
        self.assertEqual(parts["backward"][0].flops, 2.5 * parts["attention"][0].flops)
        self.assertEqual(parts["rows"][0].bytes, 2 * 32768 * 4096 * 2)


if __name__ == "__main__":
    unittest.main()
