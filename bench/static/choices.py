"""Which tiles the library's product takes on GPUs that no product has been timed on, beside the best of all by the tuner's model.

  python3 bench/static/choices.py --tilec build/dev/bin/tilec sm_86 sm_89

Times are the model's, in microseconds: a GPU has not seen them. They follow from the data sheet of the card that stands for a target
(ir/target/Card.h), rounds of programs over its multiprocessors, and bytes.
"""
import argparse
import os
import re
import subprocess

SHAPES = [(m, n, k) for n, k in ((4096, 4096), (11008, 4096), (4096, 11008)) for m in (1, 8, 16, 64, 128, 512, 2048, 4096)] + \
         [(1024, 1024, 1024), (333, 777, 1000)]
LINE = re.compile(r"BM=(\d+) BN=(\d+) BK=(\d+) warps=(\d+) schedule=(\w+): ([\d.]+) us, bound by (\w[\w ]*),")


def choice(line):
    m, n, k, warps, schedule, time, bound = LINE.search(line).groups()
    form = "" if schedule == "one_tile" else f", {schedule}"
    return f"{m}x{n}x{k}, {warps} warps{form}", float(time), bound


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilec", required=True)
    parser.add_argument("targets", nargs="+")
    options = parser.parse_args()
    for target in options.targets:
        print(f"\n## {target}\n\n| M x N x K, f16 | taken | predicted us | bound by | best by the model | predicted us | taken / best |")
        print("|---|---|---|---|---|---|---|")
        for m, n, k in SHAPES:
            told = subprocess.run([options.tilec, "tune", "op:matmul", f"M={m}", f"N={n}", f"K={k}", "--explain"], text=True, check=True,
                                  capture_output=True, env={**os.environ, "TILE_DEVICE": f"virtual:{target}", "TILE_TUNE_DB": "off"}).stdout
            lines = [line for line in told.splitlines() if LINE.search(line)]
            if len(lines) < 2:  # by a vector or a few, which is not tuned
                continue
            (best, least, _), (own, time, bound) = choice(lines[0]), choice(lines[-1])
            print(f"| {m} x {n} x {k} | {own} | {time:g} | {bound} | {best} | {least:g} | {time / least:.2f} |")


if __name__ == "__main__":
    main()
