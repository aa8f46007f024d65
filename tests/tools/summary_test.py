#!/usr/bin/env python3
"""The count of single cases after a test run. Usage: summary_test.py TEST_SUMMARY"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

kSummary = os.path.abspath(sys.argv.pop(1))


class Summary(unittest.TestCase):
    def summary_of(self, tests, **reports):
        """Exit code and output for tests {name: status} that left these reports."""
        with tempfile.TemporaryDirectory(prefix="tilec-test-") as folder:
            entries = "".join(f'<testcase name="{name}" status="{status}"/>' for name, status in tests.items())
            pathlib.Path(folder, "ctest.xml").write_text(f"<testsuite>{entries}</testsuite>")
            for name, report in reports.items():
                pathlib.Path(folder, f"{name}.json").write_text(report)
            done = subprocess.run([sys.executable, kSummary, folder], capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

    @staticmethod
    def report(*cases):
        entries = [{"result": "SKIPPED" if case == "skip" else "COMPLETED",
                    **({"failures": [{}]} if case == "fail" else {})} for case in cases]
        return json.dumps({"testsuites": [{"testsuite": entries}]})

    def test_cases_are_counted(self):
        code, text = self.summary_of({"A": "run", "b": "run", "c": "disabled"}, A=self.report("pass", "pass", "skip"))
        self.assertEqual(code, 0)
        self.assertIn("100% tests passed, 0 tests failed out of 3", text)
        self.assertIn("SKIP: 2 cases did not run", text)

    def test_a_failed_case_fails(self):
        code, text = self.summary_of({"A": "fail"}, A=self.report("pass", "fail"))
        self.assertEqual(code, 1)
        self.assertIn("1 tests failed out of 2", text)

    def test_a_program_that_dies_counts_once(self):
        for report in ({}, {"A": self.report("pass")[:-9]}, {"A": ""}):
            code, text = self.summary_of({"A": "fail", "B": "run"}, **report)
            self.assertEqual(code, 1)
            self.assertIn("1 tests failed out of 2", text)

    def test_nothing_at_all_fails(self):
        self.assertEqual(self.summary_of({})[0], 1)


if __name__ == "__main__":
    unittest.main()
