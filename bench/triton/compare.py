"""Compile time and code of tilec beside Triton's, in one run, without a GPU.

  python3 -m venv env && env/bin/pip install triton numpy
  env/bin/python bench/triton/compare.py --bench build/release/bin/jit_compile_bench [--target sm_90a]

Both sides compile for sm_80, sm_86 or sm_89, or products and attention for sm_90a, with the same tiles, warps and stages of software pipelines, from source to cubin, in a warm
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

import assembler  # noqa: E402
import triton_kernels  # noqa: E402


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
    parser.add_argument("--ptxas", help="default: the one in Triton's wheel, which reads all that Triton writes; else that of PATH")
    parser.add_argument("--target", default="sm_80", choices=["sm_80", "sm_86", "sm_89", *triton_kernels.VARIANTS])
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    ptxas = assembler.choose(options.ptxas, os.path.dirname(triton.__file__))
    print(f"Triton {triton.__version__}, {options.repeats} repeats, medians in ms")
    print(f"{'kernel':12} {'tilec':>8} {'Triton':>8} {'ratio':>6}   registers    spills     instructions (tilec/Triton)")
    for name in triton_kernels.VARIANTS.get(options.target, triton_kernels.KERNELS):
        triton_compile(name, options.target)  # warms up
        runs = [triton_compile(name, options.target) for _ in range(options.repeats)]
        theirs, their_ptx = statistics.median(t for t, _ in runs), runs[-1][1]
        times, our_ptx = tilec_compile(options.bench, name, options.repeats, options.target)
        ours = statistics.median(times)
        a, b = (assembler.report(ptx, ptxas, options.target) for ptx in (our_ptx, their_ptx))
        print(f"{name:12} {ours:8.1f} {theirs:8.1f} {ours / theirs:6.2f}   "
              f"{a[0]:4}/{b[0]:<4}   {a[1]:4}/{b[1]:<4}   {a[2]:5}/{b[2]:<5}")


if __name__ == "__main__":
    sys.exit(main())
