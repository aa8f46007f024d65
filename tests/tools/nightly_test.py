#!/usr/bin/env python3
"""What `tools/dev nightly` makes of parts that pass, fail and take too long. Usage: nightly_test.py NIGHTLY"""
import contextlib
import importlib.util
import io
import os
import pathlib
import sys
import tempfile
import time
import unittest
import unittest.mock

kProgram = os.path.abspath(sys.argv.pop(1))


class Nightly(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tilec-test-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        spec = importlib.util.spec_from_file_location("nightly", kProgram)
        self.program = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.program)
        self.program.root = self.program.kLogs = self.path

    def nightly(self, parts, *words):
        """The exit code and what is printed where these parts are all there are."""
        self.program.kParts, self.program.kBounds = parts, dict.fromkeys(parts, 1)
        sys.argv[1:] = words
        with contextlib.redirect_stdout(io.StringIO()) as text, contextlib.redirect_stderr(text):
            try:
                return self.program.main(), text.getvalue()
            except SystemExit as end:
                return end.code, text.getvalue()
            finally:
                del sys.argv[1:]

    def test_the_parts_of_the_help_are_those_there_are(self):
        self.assertEqual(set(self.program.kParts), set(self.program.kBounds))
        for name in self.program.kParts:
            self.assertRegex(self.program.__doc__, rf"(?m)^  {name} ")

    def test_all_parts_run_though_one_fails(self):
        parts = {"good": lambda part: part.run(["true"]) or "done", "bad": lambda part: part.run(["echo", "words"], ["false"]),
                 "last": lambda part: f"quick {part.quick}"}
        code, text = self.nightly(parts)
        self.assertEqual(code, 1)
        self.assertRegex(text, r"good +passed .* s  done\n  bad +FAILED .* s  `false` ends with 1\n  last +passed .* s  quick False\n")
        self.assertEqual((self.path / "bad.log").read_text(), "words\n")
        self.assertEqual(self.nightly(parts, "last", "--quick")[0], 0)

    def test_calls_builds_programs_before_it_asks_for_their_commands(self):
        environment = {"name": "ENVIRONMENT", "value": ["TILE_CACHE=off"]}
        answers = iter([[{"name": "P"}], [{"name": "P", "command": ["bin/P"], "properties": [environment]}]])
        self.program.labelled = lambda preset, label: next(answers)
        done = []
        part = unittest.mock.Mock(quick=True)
        part.build.side_effect = lambda *words: done.append(words)
        part.run.side_effect = lambda command, **variables: done.append((command, variables.get("TILE_CACHE"), variables.get("TILE_FUZZ_CALLS")))
        self.assertEqual(self.program.calls(part), "1 programs, 10000 calls each")
        self.assertEqual(done[-2:], [("asan", "P"), (["bin/P"], "off", "10000")])

    def test_a_part_ends_at_its_bound_with_all_it_started(self):
        parts = {"slow": lambda part: part.run(["sh", "-c", "sleep 60 & echo $! > pid; wait"])}
        code, text = self.nightly(parts)
        self.assertEqual(code, 1)
        self.assertIn("took longer than", text)
        pid = (self.path / "pid").read_text().strip()
        state = pathlib.Path(f"/proc/{pid}/stat")
        def lives():
            try:
                return state.read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
            except OSError:
                return False
        end = time.monotonic() + 10  # who was killed dies soon, not at once
        while lives() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertFalse(lives())

    def test_unknown_parts(self):
        code, text = self.nightly({"good": lambda part: ""}, "what")
        self.assertEqual(code, 2)
        self.assertIn("there is no part what; there are good", text)


if __name__ == "__main__":
    unittest.main()
