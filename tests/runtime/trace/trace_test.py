#!/usr/bin/env python3
"""What TILE_TRACE writes, and NVTX's tools get, of a program that launches: trace_test.py PROGRAM NVTX-RECORDER"""
import collections
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

kProgram, kRecorder = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))


class Trace(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tilec-trace-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.file = self.path / "trace.json"

    def run_program(self, how="once", code=0, before=None, **variables):
        environment = {**os.environ, "TILE_CACHE": "off", "TILE_TRACE": str(self.file), **variables}
        done = subprocess.run([kProgram, how], cwd=self.path, env=environment, timeout=60, capture_output=True,
                              text=True, preexec_fn=before)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def events(self, file=None):
        return json.loads((file or self.file).read_text())

    def spans(self, what):
        return [event for event in self.events() if event["ph"] == "X" and event["name"].startswith(what)]

    def assert_within(self, inner, outer):
        self.assertEqual(inner["tid"], outer["tid"])
        self.assertLessEqual(outer["ts"], inner["ts"])
        self.assertLessEqual(inner["ts"] + inner["dur"], outer["ts"] + outer["dur"] + 0.002)

    def test_a_launch_from_its_trace_to_its_download(self):
        self.assertEqual(self.run_program(), "")
        one = {name: self.spans(name) for name in
               ("open virtual:sm_80", "launch scale", "trace scale", "compile scale", "load scale", "wait for a stream",
                "upload", "download")}
        self.assertEqual({name: len(found) for name, found in one.items() if len(found) != 1 and name != "wait for a stream"}, {})
        one = {name: found[0] for name, found in one.items()}
        launch = one["launch scale"]
        for step in "trace scale", "compile scale", "load scale":
            self.assert_within(one[step], launch)
        self.assertEqual(launch["cat"], "launch")
        self.assertEqual(launch["args"]["blocks"], "2 x 1 x 1")
        self.assertEqual(launch["args"]["threads"], 128)
        self.assertRegex(launch["args"]["line"], r"Program\.cpp:\d+$")
        self.assertEqual(launch["args"]["stream"], one["wait for a stream"]["args"]["stream"])
        self.assertEqual(one["download"]["args"]["bytes"], 400)
        self.assertGreaterEqual(one["wait for a stream"]["ts"], launch["ts"] + launch["dur"])

    def test_steps_of_a_compile_lie_within_it_one_after_the_other(self):
        self.run_program()
        compiled, = self.spans("compile scale")
        steps = [event for event in self.events() if event.get("cat") == "compile" and event is not compiled and
                 event["name"] != compiled["name"]]
        self.assertGreater(len(steps), 10)
        self.assertIn("tile-lower-to-scalars", [step["name"] for step in steps])
        for before, after in zip(steps, steps[1:]):
            self.assert_within(after, compiled)
            self.assertAlmostEqual(before["ts"] + before["dur"], after["ts"], delta=0.01)

    def test_the_cache_tells_hits_and_misses(self):
        cache = {"TILE_CACHE": "on", "TILE_CACHE_DIR": str(self.path / "cache")}
        self.run_program(**cache)
        self.assertEqual([event["args"]["result"] for event in self.spans("look up scale")], ["miss"])
        self.assertEqual(len(self.spans("keep scale")), 1)
        self.run_program(**cache)
        self.assertEqual([event["args"]["result"] for event in self.spans("look up scale")], ["hit"])
        self.assertEqual(self.spans("compile scale"), [])

    def test_threads_have_names_and_their_spans_nest(self):
        self.run_program("threads")
        events = self.events()
        names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        self.assertEqual(len(names), 5)
        self.assertEqual(len([event for event in events if event["name"] == "thread_name"]), 5)
        self.assertLessEqual({"main", "worker", 'odd "\\\n\ufffd'}, set(names.values()))
        self.assertEqual(sum(name.startswith("thread ") for name in names.values()), 2)
        launches = collections.Counter(event["tid"] for event in self.spans("launch scale"))
        self.assertEqual(sorted(launches.values()), [1, 50, 50, 50, 50])
        for thread in names:
            open_until = []
            own = [event for event in events if event["ph"] == "X" and event["tid"] == thread]
            for event in sorted(own, key=lambda event: (event["ts"], -event["dur"])):
                while open_until and open_until[-1] <= event["ts"] + 0.001:  # microseconds
                    open_until.pop()
                if open_until:
                    self.assertLessEqual(event["ts"] + event["dur"], open_until[-1] + 0.01, event)
                open_until.append(event["ts"] + event["dur"])

    def test_the_file_is_whole_however_the_process_ends(self):
        for how, code in ("killed", -signal.SIGKILL), ("quick", 0):
            with self.subTest(how):
                self.run_program(how, code)
                self.assertEqual(len(self.spans("download")), 1)

    def test_what_fails_is_marked(self):
        self.run_program("failing")
        failed = {event["name"] for event in self.events() if event.get("args", {}).get("failed")}
        self.assertEqual(failed, {"launch too_large", "compile too_large"})

    def test_a_child_leaves_the_file_to_its_parent(self):
        self.run_program("fork")
        self.assertEqual(len(self.spans("launch scale")), 2)
        self.assertEqual(self.spans("open virtual:sm_90a"), [])

    def test_the_number_of_the_process_in_the_name(self):
        for _ in range(2):
            self.run_program(TILE_TRACE="trace-%p.json")
        files = list(self.path.glob("trace-*.json"))
        self.assertEqual(len(files), 2)
        for file in files:
            self.assertEqual({event["pid"] for event in self.events(file)}, {int(file.stem[6:])})

    def test_names_that_cannot_be_written_are_one_warning(self):
        os.mkfifo(self.path / "pipe")
        for name, why in [("no/such/folder.json", "No such file or directory"), (".", "Is a directory"),
                          ("pipe", ""), ("/dev/null", "is no regular file")]:
            with self.subTest(name):
                errors = self.run_program(TILE_TRACE=name)
                self.assertEqual(errors.count(f"tile: warning: TILE_TRACE='{name}'"), 1, errors)
                self.assertEqual(errors.count("\n"), 1, errors)
                self.assertIn(why, errors)
                self.assertIn("no trace is written", errors)

    def test_a_full_disk_ends_the_trace_and_not_the_program(self):
        def little():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
        errors = self.run_program("threads", before=little)
        self.assertEqual(errors.count("cannot be written any more: File too large"), 1, errors)
        self.assertGreater(len(self.events()), 3)
        self.assertLessEqual(self.file.stat().st_size, 3000)

    def test_numbers_do_not_depend_on_the_locale(self):
        self.run_program(LC_ALL="de_DE.UTF-8")
        self.assertGreater(self.spans("launch scale")[0]["dur"], 0)

    def test_ranges_of_nvtx_nest_like_spans(self):
        record = self.path / "ranges"
        self.run_program("threads", NVTX_INJECTION64_PATH=kRecorder, NVTX_RECORD=str(record))
        ranges = collections.defaultdict(list)
        pushed = collections.Counter()
        for line in record.read_text().splitlines():
            thread, what, *name = line.split(" ", 2)
            if what == "push":
                ranges[thread].append(name[0])
                pushed[name[0]] += 1
                if name[0] == "compile scale":
                    self.assertEqual(ranges[thread], ["launch scale", "compile scale"])
            else:
                ranges[thread].pop()
        self.assertEqual(pushed["launch scale"], 201)
        self.assertEqual(pushed["compile scale"], 1)
        self.assertEqual([left for left in ranges.values() if left], [])
        self.assertEqual(len(self.spans("launch scale")), 201, "the file is written beside it")

    def test_nvtx_without_a_file(self):
        record = self.path / "ranges"
        self.run_program(TILE_TRACE="", NVTX_INJECTION64_PATH=kRecorder, NVTX_RECORD=str(record))
        self.assertIn("push launch scale", record.read_text())

    def test_tools_that_refuse_or_are_none(self):
        self.assertEqual(self.run_program(NVTX_INJECTION64_PATH=kRecorder, NVTX_REFUSE="1"), "")
        for path, why in [("/no/such/tool.so", "cannot open"), ("libc.so.6", "has no InitializeInjectionNvtx2")]:
            errors = self.run_program(NVTX_INJECTION64_PATH=path)
            self.assertEqual(errors.count(f"tile: warning: NVTX_INJECTION64_PATH='{path}'"), 1, errors)
            self.assertEqual(errors.count("\n"), 1, errors)
            self.assertIn(why, errors)


if __name__ == "__main__":
    unittest.main()
