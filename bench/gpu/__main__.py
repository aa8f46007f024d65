"""Times tilec's ops on a GPU beside those of PyTorch (cuBLAS, cuDNN, FlashAttention) and Triton, shape by shape.

All contenders of a shape are timed in one run, in an order that is drawn anew each round, and only after their results were
compared. Ours run in a server, `gpu-bench serve`, on data that it makes and hands over as raw bits; libraries run in this
process. Without PyTorch ours are timed alone. On the virtual GPU (--device virtual --shapes small) the score is a model's.

Exit code: 0 if all rows that were asked for are there; 1 if one of them is an error or a mismatch; 2 if the command is no good;
3 if the budget ended before the last row."""
import argparse
import datetime
import hashlib
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import measure
import ours
import plain
import report
import results
import rows

START = time.monotonic()
LEAST_EXCHANGE = 2 << 30  # bytes that the largest tensors take, with some room


def parse(words):
    parser = argparse.ArgumentParser(prog="gpu-bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="gpu-bench scripts DIR writes this driver's sources into DIR; gpu-bench serve --help "
                                            "tells of the server.")
    names = list(rows.parts("small"))
    parser.add_argument("--part", action="append", choices=names, metavar="PART",
                        help=f"only this part, and others that are named by more --part: {', '.join(names)}")
    parser.add_argument("--out", metavar="FILE", help="the results in JSON; beside it the tables, FILE with .md (default: the "
                                                      "file of --resume, else gpu-bench.json)")
    parser.add_argument("--resume", metavar="FILE", help="rows that are in FILE, from an earlier run, are not timed again")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="start no row that would end later than this if it took as "
                                                                     "long as the longest so far")
    parser.add_argument("--rounds", type=int, default=21, help="timings of each contender (default: %(default)s)")
    parser.add_argument("--device", default="", help="cuda, cuda:N, virtual, virtual:sm_90a (default: TILE_DEVICE, else a GPU)")
    parser.add_argument("--shapes", choices=["full", "small"], default="full", help="small ones are for the virtual GPU")
    parser.add_argument("--no-torch", action="store_true", help="ours alone, even where PyTorch is there")
    parser.add_argument("--exchange", metavar="DIR", help="where tensors are handed over (default: /dev/shm if it has 2 GB, else "
                                                          "the folder for temporary files)")
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="of a request to the server, after which "
                                                                                  "it is ended (default: %(default)s)")
    parser.add_argument("--program", default=shutil.which("tilec-bundle"), metavar="FILE", help="the server: tilec-bundle or "
                                                                                        "gpu_bench (default: from PATH)")
    options = parser.parse_args(words)
    if not options.program:
        parser.error("there is no tilec-bundle in PATH: name it by --program")
    if options.rounds < 1:
        parser.error("--rounds must be 1 or more")
    options.out = options.out or options.resume or "gpu-bench.json"
    return options


def exchange_folder():
    shared = "/dev/shm"
    roomy = os.access(shared, os.W_OK) and shutil.disk_usage(shared).free >= LEAST_EXCHANGE
    return shared if roomy else tempfile.gettempdir()


def open_library(our_side, options):
    """PyTorch's side, or None and why."""
    if options.no_torch:
        return None, "--no-torch"
    try:
        import library
        if not our_side.machine["virtual"] and not library.torch.cuda.is_available():
            return None, f"PyTorch {library.torch.__version__} has no GPU here"
        return library.Library(our_side), None
    except Exception as failure:  # whatever keeps it from being there
        return None, f"no PyTorch: {measure.first_line(failure)}"


def driver_version():
    try:
        command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.split()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return "unknown"


def head_of(machine, library, why_not, options, words):
    versions = {name: machine[name] for name in ("tilec", "llvm", "assembler")}
    if library:
        import library as libraries
        versions.update(libraries.versions())
    with open(options.program, "rb") as program:
        checksum = hashlib.sha256(program.read()).hexdigest()[:16]
    return {"product": machine["product"], "device": machine["device"], "target": machine["target"],
            "multiprocessors": machine["multiprocessors"], "driver": "none" if machine["virtual"] else driver_version(),
            "versions": versions, "program": checksum, "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            "command": shlex.join(["gpu-bench", *words]), "score": "model" if machine["virtual"] else "time",
            "rounds": 1 if machine["virtual"] else options.rounds, "shapes": options.shapes, "no_library": why_not}


def run_rows(wanted, our_side, library, store, options):
    """Measures what the file does not have yet. Returns the names of the rows that are left."""
    longest = 0
    loops = plain.Plain(our_side)
    for place, row in enumerate(wanted):
        if row.name in store.rows:
            continue
        begin = time.monotonic()
        if options.budget is not None and begin - START + longest > options.budget:
            return [each.name for each in wanted[place:] if each.name not in store.rows]
        result = measure.measure(row, our_side, library, loops, options.rounds)
        store.add(result)
        save(store, [each.name for each in wanted[place + 1:] if each.name not in store.rows])
        longest = max(longest, time.monotonic() - begin)
        print(summary(result, time.monotonic() - START), flush=True)
    return []


def save(store, left):
    document = store.save(report.means_of(store.rows.values()), left)
    results.write_whole(pathlib.Path(store.path).with_suffix(".md"), report.markdown(document))


def summary(result, seconds):
    outcome = result["status"]
    if result.get("ms"):
        outcome = f"{result['ms']['tilec']:.4g} ms"
        outcome += "".join(f", {ratio:.2f} of {name}" for name, ratio in result["ratios"].items())
    elif result.get("model"):
        model = result["model"]["tilec"]
        outcome = f"{model['instructions']} warp instructions, model {report.number(model['ms'], '.4g')} ms"
    reason = f": {result['reason'].splitlines()[0]}" if result.get("reason") else ""
    return f"{seconds:6.1f} s  {result['name']}: {outcome}{reason}"


def run(options, words, our_side):
    if our_side.machine["virtual"] and options.shapes != "small":
        raise results.Refused("the virtual GPU would take days for these shapes: say --shapes small")
    library, why_not = open_library(our_side, options)
    if why_not:
        print(f"ours alone: {why_not}", flush=True)
    store = results.Results(options.out, head_of(our_side.machine, library, why_not, options, words))
    if options.resume:
        store.resume(options.resume)
    parts = rows.parts(options.shapes)
    wanted = [row for part, each in parts.items() if not options.part or part in options.part for row in each]
    left = run_rows(wanted, our_side, library, store, options)
    save(store, left)
    bad = [row.name for row in wanted if store.rows.get(row.name, {}).get("status") in ("error", "mismatch")]
    print(f"{len(wanted) - len(left)} of {len(wanted)} rows are in {options.out}" + (f", {len(bad)} of them bad" if bad else ""))
    if left:
        print(f"the budget of {options.budget:g} s leaves {len(left)} rows, from '{left[0]}' on: go on with --resume {options.out}")
        return 3
    return 1 if bad else 0


def main(words):
    options = parse(words)
    our_side = None
    try:
        our_side = ours.Ours(options.program, options.device, options.exchange or exchange_folder(), options.timeout)
        return run(options, words, our_side)
    except (results.Refused, ours.Lost, OSError) as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"interrupted: the rows so far are in {options.out}", file=sys.stderr)
        return 130
    finally:
        if our_side:
            our_side.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
