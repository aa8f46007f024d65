"""Compile time and code of tilec beside Triton's, in one run, without a GPU.

  python3 -m venv env && env/bin/pip install triton numpy
  env/bin/python bench/triton/compare.py --bench build/release/bin/jit_compile_bench [--target sm_90a]

Both sides compile for sm_80, or products and attention for sm_90a, with the same tiles, warps and stages of software pipelines, from source to cubin, in a warm
process. `--ptxas` is for the counts alone; it must read the PTX of both. Prints a table of medians, registers, spills and instructions of the whole kernel; ratios are tilec / Triton.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="triton-cache-")
os.environ["TRITON_ALWAYS_COMPILE"] = "1"

import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

import triton_kernels  # noqa: E402


def ptxas_report(ptx, ptxas, target):
    """Registers, spilled bytes and machine instructions that an assembler makes of PTX."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.cubin")
        with open(source, "w") as out:
            out.write(ptx)
        log = subprocess.run([ptxas, f"-arch={target}", "-v", source, "-o", cubin], capture_output=True, text=True,
                             check=True).stderr
        registers = int(re.search(r"Used (\d+) registers", log).group(1))
        spills = int(re.search(r"(\d+) bytes spill stores", log).group(1))
        return registers, spills, text_bytes(cubin) // 16  # an instruction takes 16 bytes on sm_80


def text_bytes(cubin):
    """Size of the code section: ELF64 section headers, names beginning with .text."""
    data = open(cubin, "rb").read()
    number = lambda at, size: int.from_bytes(data[at:at + size], "little")
    table, entry, count, names = number(0x28, 8), number(0x3A, 2), number(0x3C, 2), number(0x3E, 2)
    name_table = number(table + names * entry + 0x18, 8)
    total = 0
    for i in range(count):
        header = table + i * entry
        name = data[name_table + number(header, 4):].split(b"\0", 1)[0]
        if name.startswith(b".text"):
            total += number(header + 0x20, 8)
    return total


def triton_compile(name, target):
    function, signature, constants, aligned = triton_kernels.KERNELS[name]
    options = triton_kernels.OPTIONS.get(name, {"num_warps": 4, "num_stages": 3})
    if target in triton_kernels.VARIANTS:
        constants, options = {**constants, **triton_kernels.VARIANTS[target][name][0]}, triton_kernels.VARIANTS[target][name][1]
    attributes = {(list(signature).index(arg),): [["tt.divisibility", 16]] for arg in aligned}
    source = ASTSource(function, signature, constexprs=constants, attrs=attributes)
    start = time.perf_counter()
    gpu = GPUTarget("cuda", int(re.search(r"\d+", target).group()), 32)
    kernel = triton.compile(source, target=gpu, options=options)
    return (time.perf_counter() - start) * 1e3, kernel.asm["ptx"]


def tilec_compile(bench, name, repeats, target):
    """Our side runs in one process of its own; it prints milliseconds a compile, then PTX."""
    output = subprocess.run([bench, name, str(repeats), target], capture_output=True, text=True, check=True).stdout
    times, ptx = output.split("\n", 1)
    return [float(t) for t in times.split()], ptx


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench", required=True, help="the program jit_compile_bench")
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--target", default="sm_80", choices=["sm_80", *triton_kernels.VARIANTS])
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    print(f"Triton {triton.__version__}, {options.repeats} repeats, medians in ms")
    print(f"{'kernel':12} {'tilec':>8} {'Triton':>8} {'ratio':>6}   registers    spills     instructions (tilec/Triton)")
    for name in triton_kernels.VARIANTS.get(options.target, triton_kernels.KERNELS):
        triton_compile(name, options.target)  # warms up
        runs = [triton_compile(name, options.target) for _ in range(options.repeats)]
        theirs, their_ptx = statistics.median(t for t, _ in runs), runs[-1][1]
        times, our_ptx = tilec_compile(options.bench, name, options.repeats, options.target)
        ours = statistics.median(times)
        a, b = (ptxas_report(ptx, options.ptxas, options.target) for ptx in (our_ptx, their_ptx))
        print(f"{name:12} {ours:8.1f} {theirs:8.1f} {ours / theirs:6.2f}   "
              f"{a[0]:4}/{b[0]:<4}   {a[1]:4}/{b[1]:<4}   {a[2]:5}/{b[2]:<5}")


if __name__ == "__main__":
    sys.exit(main())
