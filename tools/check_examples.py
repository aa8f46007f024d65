#!/usr/bin/env python3
"""Runs the example of every op: what stands between ```mlir lines in ir must parse and verify,
and must show the op that it describes."""
import argparse
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
kOp = re.compile(r'^def\s+\w+\s*:\s*(Tile(?:Gpu)?)_Op<"(\w+)"', re.M)
kExample = re.compile(r"```mlir\n(.*?)```", re.S)


def examples():
    """The op's name, where its example is, and the example."""
    for td in sorted((root / "ir").rglob("*Ops.td")):
        text = td.read_text()
        ops = list(kOp.finditer(text))
        for op, following in zip(ops, [*ops[1:], None]):
            end = following.start() if following else len(text)
            for example in kExample.finditer(text, op.end(), end):
                line = text.count("\n", 0, example.start()) + 1
                yield f"{op[1].lower()}.{op[2]}", f"{td.relative_to(root)}:{line}", example[1]


def faults(tile_opt):
    count = 0
    for op, place, text in examples():
        count += 1
        if not re.search(rf"\b{re.escape(op)}\b", text):
            yield f"{place}: the example of {op} does not use it"
        result = subprocess.run([tile_opt, "-"], input=text, capture_output=True, text=True,
                                timeout=60)
        if result.returncode:
            yield f"{place}: the example of {op} fails:\n{result.stderr}"
    if count == 0:
        yield "no examples were found in ir"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tile_opt", help="the program tile-opt")
    found = list(faults(parser.parse_args().tile_opt))
    print("\n".join(found) or "every example of an op parses and verifies")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
