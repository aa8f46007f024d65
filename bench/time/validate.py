#!/usr/bin/env python3
"""Compares the time model with measured times: `python3 bench/time/validate.py [--family F ...] [--part held-out] [--quick]`.

Runs the engine over the jobs of the families, at most two processes at once, and prints of each family the errors of the
absolute times, how many pairs of variants it puts the right way round, and what its first picks cost. Ends with 1 where a bar
is missed."""
import argparse
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

import ablation
import statistic
from families import kFamilies
from jobs import jobs_of
from make_ptx import kOut
from rows import table

kRoot = pathlib.Path(__file__).resolve().parent.parent.parent
kEngine = f"{kRoot}/build/dev/bin/tilec time"
kGolden = kRoot / "tests/time/golden"
kProcesses = 2
kBetween = 3  # microseconds of a launch that it does not cost after another kernel: dependence, 2 of 5 remain
kQuickMedian, kQuickWorst = 0.08, 0.30


def engine(command, jobs, overrides=(), limit=3600):
    """What the engine says of each job, by id. Jobs that it does not answer are missing."""
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(kProcesses) as pool:
        parts = [part for part in (jobs[first::kProcesses] for first in range(kProcesses)) if part]
        answers = pool.map(lambda numbered: answer(command, *numbered, folder, overrides, limit), enumerate(parts))
        return {line["id"]: line for lines in answers for line in lines}


def answer(command, number, jobs, folder, overrides, limit):
    path = pathlib.Path(folder) / f"{number}.jsonl"
    path.write_text("".join(json.dumps(job) + "\n" for job in jobs))
    call = [*shlex.split(command), "--jobs", str(path)]
    for override in overrides:
        call += ["--set", override]
    said, complaints = (path.with_suffix(suffix) for suffix in (".answers", ".complaints"))
    with open(said, "w") as out, open(complaints, "w") as err:
        try:
            subprocess.run(call, stdout=out, stderr=err, timeout=limit)
        except FileNotFoundError:
            sys.exit(f"{call[0]} is not there: build tilec, or name another engine with --engine")
        except subprocess.TimeoutExpired:
            print(f"{call[0]} took more than {limit} s: what it had answered counts", file=sys.stderr)
    sys.stderr.write(complaints.read_text()[-2000:])
    return [json.loads(line) for line in said.read_text().splitlines() if line.startswith("{") and line.endswith("}")]


def require_ptx(jobs):
    """Ends with a sentence if a file is not there."""
    missing = {job["ptx"] for job in jobs if not pathlib.Path(job["ptx"]).exists()}
    if missing:
        sys.exit(f"{len(missing)} PTX files are not there, {min(missing)} for one: run bench/time/make_ptx.py")


def beside(family, point, answers, sides):
    """Microseconds of a call that are not of its main kernel: as measured, or of its other kernels as predicted."""
    jobs = family.side_jobs(point, "") if sides else []
    return sum(answers[job["id"]]["us"] - kBetween for job in jobs) if jobs else family.beside_us(point)


def predictions(family, points, answers, rank="us", sides=False):
    """Predictions of the points that were answered, and how many were not."""
    found, missing = [], 0
    for point in points:
        jobs = family.jobs(point, "")
        said = [answers[job["id"]] for job in jobs if job["id"] in answers]
        if len(said) == len(jobs):
            best, more = min(said, key=lambda line: line["us"]), beside(family, point, answers, sides)
            found.append(statistic.Prediction(point, *(best[key] + more for key in ("us", rank, "low_us", "high_us"))))
        else:
            missing += 1
    return found, missing


def report(family, points, found, missing, check):
    """Prints a family's line, and returns what misses its bars."""
    faults = [f"{missing} of {len(points)} have no answer"] if missing else []
    if not found:
        print(f"{family.name:<10} no answers")
        return faults
    numbers = statistic.summary(family, found)
    print(statistic.line(family, numbers), flush=True)
    return faults + (statistic.misses(family.bars, numbers) if check else [])


def golden():
    """The jobs of the golden PTX files of the tests, which need no compiler, and their measured times by id."""
    lines = (kGolden.parent / "golden.jsonl").read_text().splitlines()
    jobs = [{**job, "ptx": str(kGolden.parent / job["ptx"])} for job in map(json.loads, lines)]
    return jobs, {row["id"]: row for row in table(kGolden.parent / "golden.tsv")}


def quick(arguments):
    """The golden files alone against their measured times: a smoke test, whose bars are looser than those of families."""
    jobs, times = golden()
    answers = engine(arguments.engine, jobs, arguments.set, limit=120)
    errors, missing = [], 0
    for name, row in times.items():
        if name not in answers:
            missing += 1
            print(f"{name:<52} no answer")
            continue
        measured, us = float(row["measured_us"]), answers[name]["us"] + float(row["beside_us"])
        errors.append(abs(us / measured - 1))
        print(f"{name:<52} measured {measured:8.1f} us, predicted {us:8.1f} us, {us / measured - 1:+.1%}")
    if not errors:
        return 1
    median, worst = statistic.quantile(errors, 0.5), max(errors)
    print(f"{len(errors)} launches: median {median:.1%} (<= {kQuickMedian:.0%}), worst {worst:.1%} (<= {kQuickWorst:.0%})")
    return 1 if missing or median > kQuickMedian or worst > kQuickWorst else 0


def whole(arguments):
    """All families, each a line."""
    asked = arguments.family or [name for name, family in kFamilies.items() if family.bars]
    chosen = [kFamilies[name] for name in asked]
    faults = []
    print(statistic.kHead)
    for family in chosen:
        points = family.points(arguments.part)
        jobs = list(jobs_of(family, points, arguments.ptx, arguments.sides).values())
        require_ptx(jobs)
        answers = engine(arguments.engine, jobs, arguments.set)
        if arguments.save:
            with open(arguments.save, "a") as file:
                file.writelines(json.dumps(line) + "\n" for line in answers.values())
        found, missing = predictions(family, points, answers, arguments.rank, arguments.sides)
        if arguments.points:
            statistic.print_points(found)
        faults += [f"{family.name}: {fault}" for fault in report(family, points, found, missing, not arguments.set)]
    print("\n".join(faults) or "all bars are kept")
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", nargs="+", choices=list(kFamilies), help="default: all")
    parser.add_argument("--part", choices=("held-out", "train", "all"), default="held-out")
    parser.add_argument("--quick", action="store_true", help="only the golden PTX files of tests/time")
    parser.add_argument("--ablate", action="store_true", help="take out mechanisms in turn, the clock fitted again each time")
    parser.add_argument("--engine", default=kEngine, help="a command that takes --jobs FILE and --set name=value")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        help="a number of the calibration; bars are not checked")
    parser.add_argument("--rank", choices=("us", "high_us"), default="us", help="what picks go by")
    parser.add_argument("--sides", action="store_true", help="predict the other kernels of attention backward, too")
    parser.add_argument("--points", action="store_true", help="print each point")
    parser.add_argument("--save", help="append the engine's answers to a file")
    parser.add_argument("--ptx", default=kOut, help="the folder of the PTX files, by make_ptx.py")
    arguments = parser.parse_args()
    if arguments.quick:
        return quick(arguments)
    if arguments.ablate:
        return ablation.run(arguments, engine, require_ptx)
    return whole(arguments)


if __name__ == "__main__":
    sys.exit(main())
