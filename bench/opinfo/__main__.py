"""Puts tilec's Python package before PyTorch's operator database, `op_db`: the samples that PyTorch tests itself with.

Names are those of bench/opinfo/names.py: functions, operators and methods that tilec has; what it lacks altogether is not asked for,
nor what draws random numbers, whose values nobody can compare. The samples of a name are all that the database yields for it, of every
dtype that PyTorch has there on CPU and tilec has at all, each with its tensors as they are, shifted by an element, and with gaps between
elements. Samples that PyTorch itself refuses do not count. A sample is right if shape, dtype and value are PyTorch's; it differs by
definition where docs/ops.md says so; it is refused, with tilec's message, whatever the reason: an operand, an option or a dtype that
tilec lacks; or it is wrong: another value, a crash, no result in time, an error that is no clear refusal.

  python3 -m venv env && env/bin/pip install torch numpy
  TILE_LIBRARY=build/dev/lib/libtile.so env/bin/python bench/opinfo --device virtual:sm_80 --samples reference --jobs 2

Exit code: 0 if nothing is wrong, 1 if something is, 2 if the command is no good."""
import argparse
import datetime
import json
import os
import pathlib
import platform
import shlex
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "python"), os.environ.get("PYTHONPATH")]))

import report  # noqa: E402


def parse(words):
    parser = argparse.ArgumentParser(prog="bench/opinfo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="virtual:sm_80", help="cuda, virtual:sm_90a, ... (default: %(default)s)")
    parser.add_argument("--names", metavar="NAME,...", help="only these names of the database, as add or div/trunc_rounding")
    parser.add_argument("--samples", choices=["plain", "reference"], default="plain", help="reference ones are more: special values, "
                                                                                       "large tensors, broadcasts (default: %(default)s)")
    parser.add_argument("--storage", action="append", choices=["as is", "shifted", "gaps"], help="only this one (default: all three)")
    parser.add_argument("--json", metavar="FILE", help="all counts, and everything wrong, for other programs")
    parser.add_argument("--out", metavar="FILE", help="the tables in Markdown (default: standard output)")
    parser.add_argument("--jobs", type=int, default=1, help="processes that compute (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=60, help="that a sample may take (default: %(default)s)")
    options = parser.parse_args(words)
    try:
        import names
        import samples
    except ImportError as failure:
        parser.error(f"{failure}: PyTorch and NumPy are needed")
    known = list(names.NAMES)
    options.chosen = options.names.split(",") if options.names else known
    for name in options.chosen:
        if name not in known:
            parser.error(f"--names: {name} is {'not a name that tilec has' if name in samples.DATABASE else 'no name of the database'}")
    return options


def head_of(options, words, seconds):
    import numpy
    import torch
    import tilec
    target = tilec.Device(options.device)
    return "\n".join([
        f"# PyTorch's operator database: {options.device}", "",
        f"{datetime.date.today()}, {platform.machine()}, {os.cpu_count()} cores; {target}; tilec from {pathlib.Path(tilec.library_path).name}, "
        f"Python {platform.python_version()}, PyTorch {torch.__version__}, NumPy {numpy.__version__}; {seconds:.0f} s.",
        f"`python3 bench/opinfo {shlex.join(words)}`"])


def main(words):
    options = parse(words)
    import pool
    begin = time.monotonic()
    counts = {}
    with tempfile.TemporaryDirectory(prefix="tilec-opinfo-") as cache:
        os.environ.setdefault("TILE_CACHE_DIR", cache)
        task = {"device": options.device, "samples": options.samples, "storages": options.storage}
        for name, outcomes in pool.outcomes_of(options.chosen, task, options.seconds, options.jobs):
            counts[name] = report.Counts(outcomes)
            kinds = counts[name].kinds
            print(f"{time.monotonic() - begin:6.0f} s  {name}: " + ", ".join(f"{kinds[kind]} {kind}" for kind in report.KINDS),
                  file=sys.stderr, flush=True)
    counts = {name: counts[name] for name in options.chosen}
    head = head_of(options, words, time.monotonic() - begin)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(report.document(head, counts), indent=1) + "\n")
    text = report.markdown(head, counts)
    if options.out:
        pathlib.Path(options.out).write_text(text)
    else:
        print(text, end="")
    return 1 if report.total_of(counts)["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
