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
kEngine = f"{kRoot}/build/dev/tools/tilec time"
kGolden = kRoot / "tests/time/golden"
kProcesses = 2
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
    run = subprocess.run(call, capture_output=True, text=True, timeout=limit)
    if run.stderr:
        sys.stderr.write(run.stderr[-2000:])
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def predictions(family, points, answers, rank="us"):
    """Predictions of the points that were answered, and how many were not."""
    found, missing = [], 0
    for point in points:
        said = [answers[job["id"]] for job in family.jobs(point, "") if job["id"] in answers]
        if said:
            best, beside = min(said, key=lambda line: line["us"]), family.beside_us(point)
            found.append(statistic.Prediction(point, *(best[key] + beside for key in ("us", rank, "low_us", "high_us"))))
        else:
            missing += 1
    return found, missing


def report(family, part, answers, rank, check=True):
    """Prints a family's line, and returns what misses its bars."""
    points = family.points(part)
    found, missing = predictions(family, points, answers, rank)
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
    chosen = [family for name, family in kFamilies.items() if name in (arguments.family or [name]) and (arguments.family or family.bars)]
    faults = []
    print(statistic.kHead)
    for family in chosen:
        jobs = list(jobs_of(family, family.points(arguments.part), arguments.ptx).values())
        answers = engine(arguments.engine, jobs, arguments.set)
        if arguments.save:
            with open(arguments.save, "a") as file:
                file.writelines(json.dumps(line) + "\n" for line in answers.values())
        if arguments.points:
            statistic.print_points(predictions(family, family.points(arguments.part), answers)[0])
        for fault in report(family, arguments.part, answers, arguments.rank, not arguments.set):
            faults.append(f"{family.name}: {fault}")
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
    parser.add_argument("--points", action="store_true", help="print each point")
    parser.add_argument("--save", help="append the engine's answers to a file")
    parser.add_argument("--ptx", default=kOut, help="the folder of the PTX files, by make_ptx.py")
    arguments = parser.parse_args()
    if arguments.quick:
        return quick(arguments)
    if arguments.ablate:
        return ablation.run(arguments, engine)
    return whole(arguments)


if __name__ == "__main__":
    sys.exit(main())
