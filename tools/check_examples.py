#!/usr/bin/env python3
"""Runs the example of every op: what stands between ```mlir lines in ir must parse and verify,
and must show the op that it describes."""
import argparse
import pathlib
import re
import subprocess
import sys

from check_coverage import ops_of

root = pathlib.Path(__file__).resolve().parent.parent
kExample = re.compile(r"```mlir\n(.*?)```", re.S)


def examples():
    """The op's name, where its example is, and the example."""
    for td in sorted((root / "ir").rglob("*Ops.td")):
        text = td.read_text()
        for op in ops_of(td):
            if definition := re.search(rf"^def\s+{op['!name']}\b", text, re.M):  # else it stands in a file that is included
                line = text.count("\n", 0, definition.start()) + 1
                name = op["opDialect"]["def"].removesuffix("Dialect").lower() + "." + op["opName"]
                for example in kExample.finditer(op["description"]):
                    yield name, f"{td.relative_to(root)}:{line}", example[1]


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
