#!/usr/bin/env python3
"""Compiles the measured kernels to PTX: `python3 bench/time/make_ptx.py [FAMILY...]` writes build/time/ptx/VARIANT.ptx.

Needs nvcc, on PATH or in /usr/local/cuda/bin; what is newer than its sources is left alone. With --registers also
data/registers.tsv: registers, spills and barriers by ptxas, so that nobody else needs ptxas for them."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

import wgmma
from rows import kData
from variants import kHeaders, variants

kHere = pathlib.Path(__file__).resolve().parent
kKernels = kHere / "kernels"
kOut = kHere.parent.parent / "build/time/ptx"
kFlags = ["-std=c++17", "-O3", "-ptx", "-gencode=arch=compute_90a,code=compute_90a"]
kUnit = 8  # variants of one compilation, since nvcc takes seconds for the headers alone. It may inline otherwise than for one
kEntry = re.compile(r"^(?:\.visible |\.weak )?\.entry (\S+?)\(", re.MULTILINE)


def tool(name):
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")


def units(chosen, size):
    """Groups of variants that one compilation takes: of one header."""
    groups = {}
    for variant in chosen:
        groups.setdefault(kHeaders[variant.kernel], []).append(variant)
    for header, members in groups.items():
        for first in range(0, len(members), size):
            yield header, members[first:first + size]


def source(header, members):
    return f'#include "{header}.cuh"\n' + "".join(member.source for member in members)


def pieces(text):
    """A PTX file's head, and (entry, text) of each kernel."""
    starts = [match.start() for match in kEntry.finditer(text)]
    ends = starts[1:] + [len(text)]
    return text[:starts[0]], [(kEntry.match(text, start)[1], text[start:end]) for start, end in zip(starts, ends)]


def stripped(text):
    """Without comments and empty lines, which are a third of it."""
    lines = (re.sub(r"\s*//.*", "", line).rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line) + "\n"


def compile_unit(header, members, out):
    """Writes a file for each variant, or returns what the compiler said."""
    unit = out / f"{members[0].name}.unit"
    unit.with_suffix(".cu").write_text(source(header, members))
    command = ["nice", tool("nvcc"), *kFlags, f"-I{kKernels}", f"-I{out}", str(unit.with_suffix(".cu")), "-o", str(unit)]
    run = subprocess.run(command, capture_output=True, text=True)
    unit.with_suffix(".cu").unlink()
    if run.returncode:
        return run.stderr
    head, kernels = pieces(unit.read_text())
    unit.unlink()
    for member in members:
        own = [text for entry, text in kernels if f"I{len(member.name)}{member.name}E" in entry]
        (out / f"{member.name}.ptx").write_text(stripped(head + "".join(own)))
    return ""


def stale(variant, out):
    made = out / f"{variant.name}.ptx"
    sources = [*kKernels.glob("*.cuh"), kData / "variants.tsv", kHere / "variants.py", kHere / "wgmma.py"]
    return not made.exists() or made.stat().st_mtime < max(path.stat().st_mtime for path in sources)


def make(chosen, out, jobs, size=kUnit):
    """Compiles what is stale, so many variants at once. True if all of it compiled."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "wgmma.cuh").write_text(wgmma.wide())
    (out / "wgmma2.cuh").write_text(wgmma.narrow())
    work = list(units((variant for variant in chosen if stale(variant, out)), size))
    faults = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for (_, members), fault in zip(work, pool.map(lambda unit: compile_unit(*unit, out), work)):
            faults += bool(fault)
            print(f"{members[0].name} ... {members[-1].name}: {fault or 'compiled'}", flush=True)
    return not faults


def registers_of(variant, out):
    """(entry, registers, bytes spilled, barriers) of each kernel of a file, as ptxas says."""
    command = ["nice", tool("ptxas"), "-arch=sm_90a", "-O3", "-v", str(out / f"{variant.name}.ptx"), "-o", os.devnull]
    log = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    for part in log.split("Compiling entry function '")[1:]:
        used = re.search(r"Used (\d+) registers(?:, used (\d+) barriers)?", part)
        spilled = re.search(r"(\d+) bytes spill stores", part)
        yield re.match(r"_Z\d+(\w+?)I\d", part)[1], int(used[1]), int(spilled[1]), int(used[2] or 0)


def write_registers(chosen, out, jobs):
    said = subprocess.run([tool("ptxas"), "--version"], check=True, capture_output=True, text=True).stdout
    version = re.search(r"release (\S+),", said)[1]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(lambda variant: list(registers_of(variant, out)), chosen))
    text = (f"# Registers per thread, bytes of spill stores, named barriers of the measured kernels, by ptxas {version} -O3.\n"
            "# variant\tkernel\tregisters\tspilled\tbarriers\n")
    for variant, kernels in zip(chosen, found):
        text += "".join(f"{variant.name}\t" + "\t".join(map(str, kernel)) + "\n" for kernel in kernels)
    (kData / "registers.tsv").write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("family", nargs="*", help="gemm, fp8, grouped, skinny, rows, attention, backward (default: all)")
    parser.add_argument("--out", type=pathlib.Path, default=kOut)
    parser.add_argument("--jobs", type=int, default=2, help="compilations at once")
    parser.add_argument("--unit", type=int, default=kUnit, help="variants of one compilation: 1 as when they were measured")
    parser.add_argument("--registers", action="store_true", help="also write data/registers.tsv, of all families")
    arguments = parser.parse_args()
    if not tool("nvcc"):
        print("SKIP: nvcc is neither on PATH nor in /usr/local/cuda/bin")
        return 0
    wanted = [] if arguments.registers else arguments.family
    chosen = [variant for variant in variants().values() if not wanted or variant.family in wanted]
    if not make(chosen, arguments.out, arguments.jobs, arguments.unit):
        return 1
    if arguments.registers:
        write_registers(chosen, arguments.out, arguments.jobs)
    print(f"{len(chosen)} variants in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
