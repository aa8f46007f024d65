#!/usr/bin/env python3
"""Prints the jobs of families of measured kernels, a JSON object a line, for `tilec time --jobs`:
`python3 bench/time/jobs.py gemm > gemm.jsonl`. The PTX files are those of make_ptx.py, or of --ptx."""
import argparse
import json
import sys

from families import kFamilies
from make_ptx import kOut


def jobs_of(family, points, ptx, sides=False):
    """Each job once, by id; `sides`: also those of the other kernels of a call."""
    found = {}
    for point in points:
        for job in family.jobs(point, ptx) + (family.side_jobs(point, ptx) if sides else []):
            found.setdefault(job["id"], job)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("family", nargs="*", help=f"{', '.join(kFamilies)} (default: all)")
    parser.add_argument("--part", choices=("all", "train", "held-out"), default="all")
    parser.add_argument("--ptx", default=kOut, help="the folder of the PTX files")
    arguments = parser.parse_args()
    for name in arguments.family or kFamilies:
        for job in jobs_of(kFamilies[name], kFamilies[name].points(arguments.part), arguments.ptx).values():
            print(json.dumps(job))
    return 0


if __name__ == "__main__":
    sys.exit(main())
