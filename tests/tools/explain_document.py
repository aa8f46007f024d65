#!/usr/bin/env python3
"""explain_document.py TILEC: the report in docs/explain.md is what its command prints.

Registers, barriers and what follows from them are the assembler's and differ by its version: those lines are not compared.
TILE_UPDATE_GOLDEN=1: writes the report into the document instead."""
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys

kRoot = pathlib.Path(__file__).resolve().parent.parent.parent
kDocument = kRoot / "docs/explain.md"
kReport = re.compile(r"(?<=^```\n)\$ tilec (explain [^\n]*)\n(.*?)(?=^```$)", re.M | re.S)
kMeasured = re.compile(r"^  (?:registers|barriers|machine code|resident) .*$", re.M)


def report(tilec, words):
    """What the command prints at the root of the repository, where it finds the sources that it quotes."""
    done = subprocess.run([tilec, *shlex.split(words)], cwd=kRoot, text=True, capture_output=True, timeout=120)
    if done.returncode:
        sys.exit(f"tilec {words} fails with {done.returncode}:\n{done.stderr}")
    return done.stdout.replace(f"{kRoot}/", "")  # builds without ccache know sources by their whole path


def with_measures_of(text, other):
    """`text`, with the lines of `other` that depend on the assembler."""
    lines = iter(kMeasured.findall(other))
    return kMeasured.sub(lambda line: next(lines, line[0]), text)


def main(tilec):
    document = kDocument.read_text()
    shown = kReport.search(document)
    if not shown:
        sys.exit(f"{kDocument}: no block of lines begins with `$ tilec explain`")
    printed = report(tilec, shown[1])
    if " not measured: " in printed or os.environ.get("TILE_UPDATE_GOLDEN") != "1":
        printed = with_measures_of(printed, shown[2])
    if os.environ.get("TILE_UPDATE_GOLDEN") == "1":
        kDocument.write_text(document[:shown.start(2)] + printed + document[shown.end(2):])
        return 0
    differences = list(difflib.unified_diff(shown[2].splitlines(), printed.splitlines(), "docs/explain.md",
                                            f"tilec {shown[1]}", lineterm=""))
    print("\n".join(differences) + "\ntools/dev golden brings the document up to date" if differences
          else "docs/explain.md shows what tilec explain prints")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
