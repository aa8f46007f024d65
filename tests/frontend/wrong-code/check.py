"""Compiles each program of a folder and checks that the compiler refuses it with the sentence it announces.

A program begins with a line `// expect: <text that the compiler's output must contain>`, several such lines if several
sentences must appear, or `// expect-ok`: it must compile, which shows that the others fail for the right reason. A line
`// expect-lines: <number>` says how many lines the compiler's output may have at most.
usage: check.py FOLDER INCLUDE_DIR COMPILER...
"""
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

kFlags = ["-std=c++20", "-Wall", "-Wextra"]


def first_include(program):
    found = re.search(r"^#include <(.*)>$", program.read_text(), re.M)
    return found and found[1]


def precompiled(compiler, include, headers, folder):
    """The words with which `compiler` takes `headers`, included before all else, from a file: nothing changes but the time."""
    is_clang = "clang" in pathlib.Path(compiler).name
    source = pathlib.Path(folder, pathlib.Path(compiler).name, "headers.h")  # g++ makes no such file from its standard input
    source.parent.mkdir()
    source.write_text("".join(f"#include <{header}>\n" for header in headers))
    target = source.with_suffix(".h.pch" if is_clang else ".h.gch")
    subprocess.run([compiler, *kFlags, "-I", include, "-x", "c++-header", source, "-o", target], check=True, timeout=300)
    return ["-include-pch", target] if is_clang else ["-include", source]


def check(job):
    compiler, include, words, program = job
    text = program.read_text()
    most = re.search(r"^// expect-lines: (\d+)$", text, re.M)
    expected = re.findall(r"^// expect: (.*)$", text, re.M)
    accepted = "// expect-ok" in text
    if accepted == bool(expected):
        return f"{program.name}: announce either `// expect: ...` or `// expect-ok`"
    run = subprocess.run(
        [compiler, *kFlags, *words, "-fsyntax-only", "-I", include, str(program)],
        capture_output=True, text=True, timeout=300)
    output = re.sub(r"\s+", " ", run.stderr)
    if accepted:
        return None if run.returncode == 0 else f"{program.name} ({compiler}) was refused:\n{run.stderr}"
    if run.returncode == 0:
        return f"{program.name} ({compiler}) was accepted"
    if most and len(run.stderr.splitlines()) > int(most[1]):
        return f"{program.name} ({compiler}) prints {len(run.stderr.splitlines())} lines:\n{run.stderr}"
    missing = [sentence for sentence in expected if sentence not in output]
    return f"{program.name} ({compiler}) lacks '{missing[0]}':\n{run.stderr}" if missing else None


def main():
    folder, include, *compilers = sys.argv[1:]
    programs = sorted(pathlib.Path(folder).glob("*.cpp"))
    with tempfile.TemporaryDirectory(prefix="tilec-test-") as folder, ThreadPoolExecutor(2) as pool:
        first = {program: first_include(program) for program in programs}
        # What is no header of ours is included first for what it does to ours.
        ours = sorted({header for header in first.values() if header and header.startswith("tile/")})
        known = list(pool.map(lambda compiler: precompiled(compiler, include, ours, folder), compilers))
        jobs = [(compiler, include, words if first[program] in ours else [], program)
                for compiler, words in zip(compilers, known) for program in programs]
        failures = [failure for failure in pool.map(check, jobs) if failure]
    print("\n".join(failures) or f"{len(programs)} programs, {len(compilers)} compilers: as announced")
    return 1 if failures or not programs else 0


sys.exit(main())
