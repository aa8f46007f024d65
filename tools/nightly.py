#!/usr/bin/env python3
"""What is too long for every change: `tools/dev nightly` runs all parts, `tools/dev nightly gcc` one of them.

  calls     the programs that ctest knows by the label `nightly`, with the sanitizers of the preset asan, in a million calls each
            (TILE_FUZZ_CALLS)
  programs  10,000 random programs against the host, others every day
  kernels   every kernel of the ops' tests goes to ptxas (TILE_ASSEMBLE=all), where a test run takes half of them
  targets   every op in every dtype on every target, with the assembler; and the tests of execution, ops and pipelines on those
            targets that a test run leaves out (TILE_OP_TARGETS=all, TILE_TEST_TARGETS)
  mutants   every mutant of kernels that the virtual GPU must notice
  asan      all tests with the address and undefined-behaviour sanitizers
  gcc       the build and all tests with g++ and without precompiled headers
  bundle    the program for machines without LLVM, and its tests

A part that takes longer than its bound is ended and has failed. What each prints goes to build/nightly/PART.log; at the end a
table says how each ended. Exit code: 0 if all parts passed, 1 if one failed, 2 for a part that does not exist."""
import argparse
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

root = pathlib.Path(__file__).resolve().parent.parent
kLogs = root / "build/nightly"
kHour = 3600
kBounds = {"calls": 3 * kHour, "programs": 3 * kHour, "kernels": kHour, "targets": 3 * kHour, "mutants": kHour, "asan": 6 * kHour, "gcc": 6 * kHour, "bundle": 2 * kHour}
kCalls, kPrograms = 1_000_000, 10_000
kQuick = 100  # by how much --quick divides these counts
kAssembled = ["OpsTest", "AttentionOpsTest", "ConformanceDotTest"]
kOnTargets = ["PipelineTest", "ExecutionTest", "OpsTest", "AttentionOpsTest", "ConformanceTest", "ConformanceDotTest"]
kOtherTargets = "sm_86,sm_89,sm_90"
kMutants = ["tile_vgpu_tests --gtest_filter=Mutations.*", "CompiledMutantsTest", "tile_vgpu_negative_tests"]


class Failed(Exception):
    """A part did not pass; the words say why."""


class Part:
    """One part while it runs: its log, and the time that is left to it."""

    def __init__(self, name, quick, log):
        self.name, self.quick, self.log = name, quick, log
        self.end = time.monotonic() + kBounds[name]

    def run(self, *commands, **variables):
        """Runs commands side by side. Their processes form groups, which end with them."""
        jobs = [subprocess.Popen(command, cwd=root, env={**os.environ, **variables}, stdout=self.log, stderr=self.log,
                                 start_new_session=True) for command in commands]
        try:
            codes = [job.wait(max(0, self.end - time.monotonic())) for job in jobs]
        except subprocess.TimeoutExpired:
            raise Failed(f"took longer than {kBounds[self.name] / kHour:g} hours") from None
        finally:
            for job in filter(lambda job: job.poll() is None, jobs):
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()
        for command, code in zip(commands, codes):
            if code:
                raise Failed(f"`{' '.join(map(str, command))}` ends with {code}")

    def build(self, preset, *targets):
        """Configures, and builds the targets; everything without one is `tools/dev build`."""
        if not targets:
            return self.run(["tools/dev", "build", "--preset", preset])
        self.run(["cmake", "--preset", preset])
        return self.run(["cmake", "--build", f"build/{preset}", "--parallel", str(os.cpu_count()), "--target", *targets])


def labelled(preset, label):
    """What ctest says of each test with a label, those included that are of a configuration of that name. A test has a command
    once its program is built."""
    text = subprocess.run(["ctest", "--test-dir", f"build/{preset}", "-C", label, "-L", f"^{label}$", "--show-only=json-v1"], cwd=root,
                          check=True, capture_output=True, text=True).stdout
    return json.loads(text)["tests"]


def environment_of(test):
    properties = {each["name"]: each["value"] for each in test.get("properties", [])}
    return dict(each.split("=", 1) for each in properties.get("ENVIRONMENT", []))


def calls(part):
    part.run(["tools/dev", "setup", "--preset", "asan"])
    part.run(["cmake", "--preset", "asan"])
    programs = [test["name"] for test in labelled("asan", "nightly")]  # tests are called as their programs
    if not programs:
        return "no test has the label nightly"
    part.build("asan", *programs)
    count = kCalls // (kQuick if part.quick else 1)
    tests = labelled("asan", "nightly")
    for test in tests:
        part.run(test["command"], **{"ASAN_OPTIONS": "allow_user_poisoning=0", **environment_of(test), "TILE_FUZZ_CALLS": str(count)})
    return f"{len(tests)} programs, {count} calls each"


def programs(part):
    """Each processor takes a share of the seeds."""
    part.build("dev", "fuzz_programs")
    count = kPrograms // (kQuick if part.quick else 1)
    first = datetime.date.today().toordinal() * kPrograms
    share = -(-count // os.cpu_count())
    part.run(*(["build/dev/bin/fuzz_programs", "--first", str(first + at), "--count", str(min(share, count - at)),
                "--warps", "4", "--switch-passes"] for at in range(0, count, share)), TILE_VGPU_CHECK="all", TILE_CACHE="off")
    return f"seeds {first} to {first + count - 1}"


def kernels(part):
    part.build("dev", *kAssembled)
    names = kAssembled[:1] if part.quick else kAssembled
    for name in names:
        part.run([f"build/dev/bin/{name}", "--gtest_brief=1", *(["--gtest_filter=*Embedding*"] if part.quick else [])],
                 TILE_ASSEMBLE="all", TILE_CACHE="off")
    return f"{len(names)} programs"


def targets(part):
    """With --quick what a test run does of the table, and one of these programs."""
    programs = kOnTargets[:1] if part.quick else kOnTargets
    part.build("dev", "OpTargetsTest", *programs)
    part.run(["build/dev/bin/OpTargetsTest", "--gtest_brief=1"], TILE_OP_TARGETS="one" if part.quick else "all", TILE_CACHE="off")
    for name in programs:
        part.run([f"build/dev/bin/{name}", "--gtest_brief=1"], TILE_TEST_TARGETS=kOtherTargets, TILE_CACHE="off")
    return f"{len(programs)} programs on {kOtherTargets}"


def mutants(part):
    commands = [[f"build/dev/bin/{words[0]}", "--gtest_brief=1", *words[1:]] for words in map(str.split, kMutants)]
    part.build("dev", *(words.split()[0] for words in kMutants))
    for command in commands:
        part.run(command, TILE_CACHE="off")
    return f"{len(commands)} programs"


def preset(name):
    def run(part):
        if part.quick:
            part.build(name, "BaseTest")
            part.run(["ctest", "--test-dir", f"build/{name}", "--output-on-failure", "-R", "^BaseTest$"])
            return "BaseTest alone"
        part.run(["tools/dev", "test", "--preset", name])
        return "all tests"
    return run


def bundle(part):
    part.run(["tools/dev", "bundle"])
    return "built and tested"


kParts = {"calls": calls, "programs": programs, "kernels": kernels, "targets": targets, "mutants": mutants, "asan": preset("asan"), "gcc": preset("gcc"), "bundle": bundle}


def outcome(name, quick):
    """Whether a part passes, and what to say of it."""
    print(f"nightly: {name}, at most {kBounds[name] / kHour:g} hours; see {kLogs / name}.log", flush=True)
    try:
        with open(kLogs / f"{name}.log", "w") as log:
            return True, kParts[name](Part(name, quick, log))
    except (Failed, OSError, subprocess.SubprocessError) as fault:
        return False, str(fault)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     prog="tools/dev nightly")
    parser.add_argument("--quick", action="store_true", help="a hundredth of calls and programs, one test of each preset")
    parser.add_argument("parts", nargs="*", metavar="PART", help="the parts to run, instead of all")
    options = parser.parse_args()
    if unknown := [name for name in options.parts if name not in kParts]:
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(kParts)}")
    kLogs.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in options.parts or kParts:
        start = time.monotonic()
        passed, words = outcome(name, options.quick)
        rows.append((name, passed, time.monotonic() - start, words))
    print("\nnightly:")
    for name, passed, seconds, words in rows:
        print(f"  {name:9} {'passed' if passed else 'FAILED'} {seconds:7.0f} s  {words}")
    return 0 if all(passed for _, passed, _, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
