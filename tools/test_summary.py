#!/usr/bin/env python3
"""Counts single cases after a ctest run, in the form of ctest's closing line. To ctest a GoogleTest
program or the lit run is one test; the reports they leave beside ctest's own (ctest.xml) tell their
cases. A skipped case counts as neither passed nor failed and is shown; a program that died without
a whole report counts as one failure."""
import collections
import json
import pathlib
import sys
import xml.etree.ElementTree as xml

kLitFailures = {"FAIL", "XPASS", "UNRESOLVED", "TIMEOUT"}
kLitSkips = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def outcome(failed, skipped):
    return "fail" if failed else "skip" if skipped else "pass"


def gtest_cases(report):
    cases = [case for suite in report["testsuites"] for case in suite["testsuite"]]
    for case in cases:
        if case["result"] != "SUPPRESSED":  # disabled or filtered out
            yield outcome(case.get("failures"), case["result"] == "SKIPPED")


def lit_cases(report):
    for case in report["tests"]:
        yield outcome(case["code"] in kLitFailures, case["code"] in kLitSkips)


def report_of(name, folder):
    """A program's own report; nothing if it left none, or died while it wrote."""
    try:
        return json.loads((folder / f"{name}.json").read_text())
    except (OSError, ValueError):
        return None


def cases_of(test, folder):
    """The outcomes behind one entry of ctest's report."""
    status, document = test.get("status"), report_of(test.get("name"), folder)
    if status in ("run", "fail") and document:
        cases = list(gtest_cases(document) if "testsuites" in document else lit_cases(document))
        return cases + ["fail"] * (status == "fail" and "fail" not in cases)
    return ["pass" if status == "run" else "skip" if status in ("notrun", "disabled") else "fail"]


def main(folder):
    skipped, total = {}, collections.Counter()
    for test in xml.parse(folder / "ctest.xml").getroot().iter("testcase"):
        counts = collections.Counter(cases_of(test, folder))
        total += counts
        if counts["skip"]:
            skipped[test.get("name")] = counts["skip"]
    ran, failed = total["pass"] + total["fail"], total["fail"]
    percent = 100 * total["pass"] // ran if ran else 0
    print(f"\nSingle cases:\n{percent}% tests passed, {failed} tests failed out of {ran}")
    names = ", ".join(f"{name} {count}" for name, count in sorted(skipped.items())) or "none"
    print(f"SKIP: {total['skip']} cases did not run and are not counted above: {names}")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
