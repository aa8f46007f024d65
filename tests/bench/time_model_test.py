"""The scripts of bench/time without an engine: the calibration file is what its rows say, golden launches are what the harness
did, and the statistics are right on cases that one can count by hand. usage: time_model_test.py BENCH_TIME REPOSITORY"""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv[1])
kRoot = pathlib.Path(sys.argv[2])
import calibrate
import families
import make_ptx
import statistic
import validate
import variants
from jobs import jobs_of
from rows import Rows, table


class Calibration(unittest.TestCase):
    def test_file_is_what_the_rows_say(self):
        self.assertEqual(calibrate.kOut.read_text(), calibrate.written(Rows()))

    def test_each_number_has_one_line_with_a_source(self):
        names = []
        for line in calibrate.kOut.read_text().splitlines():
            if " = " in line and not line.startswith(("#", "version", "data")):
                number, source = line.split("#", 1)
                names.append(number.split(" = ")[0])
                float(number.split(" = ")[1].split()[0])
                self.assertTrue(source.strip(), line)
        self.assertEqual(len(names), len(set(names)))
        self.assertGreater(len(names), 100)

    def test_no_row_is_an_error(self):
        with self.assertRaises(LookupError):
            Rows()("wgmma", n=7)


class Jobs(unittest.TestCase):
    def test_every_measured_point_has_jobs_of_known_kernels(self):
        for family in families.kFamilies.values():
            points = family.points()
            self.assertGreater(len(points), 50, family.name)
            for job in jobs_of(family, points, "ptx").values():
                self.assertGreater(job["grid"][0], 0, job["id"])
                self.assertLessEqual(job["dynamic_shared"], 227 * 1024, job["id"])
                self.assertEqual(job["grid"][0] % job["cluster"][0], 0, job["id"])

    def test_train_and_held_out_are_apart(self):
        for family in families.kFamilies.values():
            train, held = ({point.variant for point in family.points(part)} for part in ("train", "held-out"))
            self.assertFalse(train & held)
            self.assertEqual(len(train | held), len({point.variant for point in family.points()}))

    def test_a_grid_of_tiles_by_hand(self):
        known = variants.variants()
        for name, shape, grid in (("ps_128x256_s4_e64", "4096x4096x4096", 132), ("ps_128x256_s4_e64", "1024x1024x1024", 32),
                                  ("ms2_128x256_s4_tma", "4096x4096x4096", 512), ("cl22_128x256_s4_p", "4096x4096x4096", 132)):
            family = families.kFamilies["gemm"]
            job = family.jobs(families.Point("A", name, shape, "", 1, 1), "ptx")[0]
            self.assertEqual(job["grid"], [grid, 1, 1], name)
            self.assertEqual(job["block"], [known[name].threads, 1, 1])

    def test_shared_memory_of_attention_backward_by_hand(self):
        # K, V 64 KB; three stages of Q and two of dO of 16 KB and 256 bytes of statistics; dS twice 16 KB; dQ 32 KB; 16 mbarriers.
        point = families.Point("A", "bw_f128_fu_m64_ls_ro_tma", "4x16x4096x128_full", "", 1, 1)
        job = families.kFamilies["backward"].jobs(point, "ptx")[0]
        self.assertEqual(job["dynamic_shared"], 65536 + 5 * (16384 + 256) + 2 * 16384 + 32768 + 8 * 16)

    def test_bytes_have_maps_of_bytes(self):
        point = families.Point("A", "f8_128x256", "4096x2048x1024", "", 1, 1)
        a = families.kFamilies["fp8"].jobs(point, "ptx")[0]["arguments"][0]["tensor"]
        self.assertEqual((a["dims"], a["strides"], a["box"], a["element_bytes"]), ([1024, 4096], [1024], [128, 128], 1))


class Golden(unittest.TestCase):
    folder = kRoot / "tests/time"

    def jobs(self):
        return [json.loads(line) for line in (self.folder / "golden.jsonl").read_text().splitlines()]

    def test_entries_and_arguments_are_those_of_the_ptx(self):
        for job in self.jobs():
            _, kernels = make_ptx.pieces((self.folder / job["ptx"]).read_text())
            found = [text for entry, text in kernels if job["kernel"] in entry]
            self.assertEqual(len(found), 1, job["id"])
            parameters = [line for line in found[0].split(")")[0].splitlines() if ".param" in line]
            given = [next(iter(argument)) for argument in job["arguments"]]
            self.assertEqual([kind(line) for line in parameters], given, job["id"])

    def test_measured_times_are_of_the_data(self):
        known = {}
        for family in families.kFamilies.values():
            for point in family.points():
                known.setdefault(family.jobs(point, "")[0]["id"], set()).add(f"{point.us:g}")
        for row in table(self.folder / "golden.tsv"):
            self.assertIn(row["measured_us"], known[row["id"]])

    def test_every_file_has_a_launch(self):
        files = {f"golden/{path.name}" for path in (self.folder / "golden").glob("*.ptx")}
        self.assertEqual(files, {job["ptx"] for job in self.jobs()})


def kind(parameter):
    """What an argument for a .param line is called in a job."""
    if ".b8" in parameter:
        return "tensor"
    return {".u64": "pointer", ".u32": "i32", ".f32": "f32"}[parameter.split()[1]]


class Statistics(unittest.TestCase):
    def predictions(self, *values):
        return [statistic.Prediction(families.Point("A", f"v{index}", "shape", "", measured, 1), us, us, 0.9 * us, 1.1 * us)
                for index, (measured, us) in enumerate(values)]

    def test_pairs_that_are_far_apart_count(self):
        # 100 and 103 are too near; 100 < 120 and 103 < 120 are predicted the wrong and the right way round.
        self.assertEqual(statistic.pairs([(100, 10), (103, 8), (120, 9)]), (1, 2))

    def test_regret_of_the_first_picks(self):
        members = [(110, 1), (130, 2), (100, 3), (105, 4)]
        self.assertAlmostEqual(statistic.regret(members, 1), 0.10)
        self.assertAlmostEqual(statistic.regret(members, 3), 0.0)

    def test_bars_that_are_missed_are_named(self):
        family = families.kFamilies["gemm"]
        good = statistic.summary(family, self.predictions((100, 101), (120, 121), (140, 139), (160, 161)))
        self.assertEqual(statistic.misses(family.bars, good), [])
        bad = statistic.summary(family, self.predictions((100, 150), (120, 121), (140, 100), (160, 161)))
        self.assertEqual(len(statistic.misses(family.bars, bad)), 3)
        self.assertEqual((good["inside"], bad["inside"]), (1.0, 0.5))


# Answers that the time is the number of blocks, plus what --set says; to every second job alone if told so.
kEngine = """
import argparse, json
parser = argparse.ArgumentParser()
parser.add_argument("--jobs")
parser.add_argument("--set", default="more=0")
parser.add_argument("--half", action="store_true")
arguments = parser.parse_args()
for number, job in enumerate(map(json.loads, open(arguments.jobs))):
    us = job["grid"][0] + float(arguments.set.split("=")[1])
    if not (arguments.half and number % 2):
        print(json.dumps({"id": job["id"], "us": us, "low_us": us, "high_us": us}))
"""


class Validation(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        script = pathlib.Path(self.folder.name) / "engine.py"
        script.write_text(kEngine)
        self.command = f"{sys.executable} {script}"
        self.family = families.kFamilies["fp8"]
        self.points = [point for point in self.family.points() if point.variant == "f8_128x256"]
        self.jobs = list(jobs_of(self.family, self.points, "ptx").values())

    def test_a_point_takes_the_best_of_its_launches(self):
        answers = validate.engine(self.command, self.jobs, ["more=7"])
        found, missing = validate.predictions(self.family, self.points, answers)
        self.assertEqual(missing, 0)
        by_shape = {prediction.point.shape: prediction.us for prediction in found}
        self.assertEqual(by_shape["4096x4096x4096"], 128 + 7)  # of grids of 132 and 128
        self.assertEqual(by_shape["2048x2048x2048"], 128 + 7)  # as many tiles

    def test_jobs_without_an_answer_are_counted(self):
        # Seven jobs of four points: 2, 2, 1, 2. Two processes get every second one, and answer the first, third, ... of theirs:
        # jobs 0, 4 and 1, 5 in all, so that the second and the fourth point lack one.
        answers = validate.engine(self.command + " --half", self.jobs)
        self.assertEqual(validate.predictions(self.family, self.points, answers)[1], 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
