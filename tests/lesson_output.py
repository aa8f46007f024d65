#!/usr/bin/env python3
"""lesson_output.py PROGRAM FILE: the program succeeds and prints what the file says.

TILE_UPDATE_GOLDEN=1: writes the file instead."""
import difflib
import os
import pathlib
import subprocess
import sys


def main(program, file):
    expected = pathlib.Path(file)
    result = subprocess.run([program], text=True, capture_output=True)
    if result.returncode:
        print(f"{program} fails with {result.returncode}:\n{result.stdout}{result.stderr}")
        return 1
    if os.environ.get("TILE_UPDATE_GOLDEN") == "1":
        expected.write_text(result.stdout)
        return 0
    if not expected.exists():
        print(f"{file} does not exist: TILE_UPDATE_GOLDEN=1 writes it")
        return 1
    differences = list(difflib.unified_diff(expected.read_text().splitlines(), result.stdout.splitlines(),
                                            expected.name, pathlib.Path(program).name, lineterm=""))
    print("\n".join(differences) or f"{expected.name} is what the program prints")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
