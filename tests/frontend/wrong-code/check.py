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
from concurrent.futures import ThreadPoolExecutor


def check(job):
    compiler, include, program = job
    text = program.read_text()
    most = re.search(r"^// expect-lines: (\d+)$", text, re.M)
    expected = re.findall(r"^// expect: (.*)$", text, re.M)
    accepted = "// expect-ok" in text
    if accepted == bool(expected):
        return f"{program.name}: announce either `// expect: ...` or `// expect-ok`"
    run = subprocess.run(
        [compiler, "-std=c++20", "-Wall", "-Wextra", "-fsyntax-only", "-I", include, str(program)],
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
    jobs = [(compiler, include, program) for compiler in compilers for program in programs]
    with ThreadPoolExecutor(2) as pool:
        failures = [failure for failure in pool.map(check, jobs) if failure]
    print("\n".join(failures) or f"{len(programs)} programs, {len(compilers)} compilers: as announced")
    return 1 if failures or not programs else 0


sys.exit(main())
