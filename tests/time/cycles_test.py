"""Compares predicted cycles with those that are kept: launches.tsv of the golden PTX files (golden.jsonl), ops.tsv of the
compiler's own kernels. usage: cycles_test.py launches|ops TILEC whole|sanitized

Rows are `what<TAB>cycles`. With TILE_UPDATE_GOLDEN=1 the files are written anew; the commit that changes a row by more than 1 %
says why. A sanitized build compares a few rows: it is ten times as slow."""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

kHere = pathlib.Path(__file__).resolve().parent
kProcesses = 2
kFew = 4


def rows_of(path):
    """The lines of the head, and [(what, cycles)]; cycles is None where a row has none yet."""
    head, rows = [], []
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            head.append(line)
        elif line:
            what, _, cycles = line.partition("\t")
            rows.append((what, int(cycles) if cycles else None))
    return head, rows


def run(tilec, *words):
    environment = {**os.environ, "TILE_CACHE": "off"}
    environment.pop("TILE_TIME_CALIBRATION", None)
    done = subprocess.run([tilec, "time", "--cycles", *words], cwd=kHere, env=environment, capture_output=True, text=True,
                          timeout=500)
    if done.returncode:
        sys.exit(f"tilec time {' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return [line.rsplit("\t", 1) for line in done.stdout.splitlines()]


def cycles_of_launches(tilec, names):
    """Each process gets every second launch."""
    jobs = [job for job in (kHere / "golden.jsonl").read_text().splitlines() if any(f'"id": "{name}"' in job for name in names)]

    def part(number):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write("\n".join(jobs[number::kProcesses]) + "\n")
            file.flush()
            return run(tilec, "--jobs", file.name)

    with concurrent.futures.ThreadPoolExecutor(kProcesses) as pool:
        return {name: round(float(cycles)) for lines in pool.map(part, range(kProcesses)) for name, cycles in lines}


def cycles_of_ops(tilec, names):
    """Sums over the kernels of an op."""
    def one(name):
        return name, round(sum(float(cycles) for _, cycles in run(tilec, *name.split())[-1:]))

    with concurrent.futures.ThreadPoolExecutor(kProcesses) as pool:
        return dict(pool.map(one, names))


def main(what, tilec, extent):
    path = kHere / f"{what}.tsv"
    head, rows = rows_of(path)
    if extent == "sanitized":
        rows = rows[:kFew]
    found = (cycles_of_launches if what == "launches" else cycles_of_ops)(tilec, [name for name, _ in rows])
    if os.environ.get("TILE_UPDATE_GOLDEN") == "1" and extent == "whole":
        path.write_text("\n".join(head + [f"{name}\t{found[name]}" for name, _ in rows]) + "\n")
        return
    wrong = [f"{name}: {kept} cycles are kept, {found.get(name)} predicted" +
             (f" ({found[name] / kept - 1:+.1%})" if kept and name in found else "")
             for name, kept in rows if found.get(name) != kept]
    if wrong:
        sys.exit("\n".join(wrong + ["If that is meant: TILE_UPDATE_GOLDEN=1 ctest -R time_, and say why in the commit."]))


if __name__ == "__main__":
    main(*sys.argv[1:])
