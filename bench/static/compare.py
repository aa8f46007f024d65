"""Machine code of tilec's pipelined products and attention beside Triton's, in one run, without a GPU.

  python3 -m venv env && env/bin/pip install triton numpy
  env/bin/python bench/static/compare.py --tilec build/dev/bin/tilec --bench build/dev/bin/jit_compile_bench [--target sm_86]

Both sides compile for a GPU without wgmma, from the same tiles, warps and stages: products, attention, and with --bench rows of
softmax and layernorm. Triton's own ptxas and nvdisasm assemble and read both. Prints registers, spilled bytes, shared memory and,
of the loop that multiplies, instructions, barriers and memory accesses; of rows, all instructions. The ratio is tilec / Triton.
What a loop jumps over (tilec hides scores in its main loop where a tile needs it, Triton in a loop of its own after it) counts as
skipped. Bank conflicts are tilec's prediction of its own. What one side has no code for on a target is said instead.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="triton-cache-")
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "triton"))

import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

import sass  # noqa: E402
import triton_kernels  # noqa: E402

PRODUCTS = [(128, 128, 64, 4), (128, 64, 64, 4)]  # BM, BN, BK, warps
FACTORS = {"f16": "fp16", "bf16": "bf16", "e4m3": "fp8e4nv"}  # by Triton's names
ATTENTION = [(64, causal, 64, 64, 4) for causal in (0, 1)] + \
            [(128, causal, 128, 32, 8) for causal in (0, 1)]  # D, causal, queries, keys, warps: as op:attention chooses
ROWS = ["softmax", "layernorm"]  # by 4 warps
STAGES = 3
COUNTED = {"barriers": "BAR", "copies": "LDGSTS", "loads": "LDSM", "products": "[HIQ]MMA"}


def measure(ptx, target, has_loop):
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.cubin")
        with open(source, "w") as out:
            out.write(ptx)
        report = sass.report(source, cubin, target)
        row = {name: report[name] for name in ("registers", "spilled bytes")}
        if not has_loop:
            row["instructions"] = sum(op.split()[0] != "NOP" for op in sass.instructions(cubin)[0])
            return row
        loop, skipped = sass.main_loop(cubin, "MMA")
    row.update({"loop": len(loop), "skipped": skipped})
    for name, opcode in COUNTED.items():
        row[name] = sum(bool(re.fullmatch(opcode, re.sub(r"^@!?\w+ ", "", op).split(".")[0].split()[0])) for op in loop)
    return row


def triton_side(kernel, dtypes, constants, warps, target):
    function, signature, _, aligned = triton_kernels.KERNELS[kernel]
    signature = {**signature, **{name: f"*{dtype}" for name, dtype in dtypes.items()}, **dict.fromkeys(constants, "constexpr")}
    attributes = {(list(signature).index(arg),): [["tt.divisibility", 16]] for arg in aligned}
    source = ASTSource(function, signature, constexprs=constants, attrs=attributes)
    compiled = triton.compile(source, target=GPUTarget("cuda", int(target[3:]), 32), options={"num_warps": warps, "num_stages": STAGES})
    row = measure(compiled.asm["ptx"], target, kernel not in ROWS)
    row["shared bytes"] = compiled.metadata.shared
    return row


def tilec_side(tilec, words, target):
    def run(*arguments):
        done = subprocess.run([tilec, *arguments, "--target", target], capture_output=True, text=True)
        if done.returncode:
            raise ValueError(done.stderr.splitlines()[0])
        return done.stdout
    row = measure(run("build", *words, "--emit", "ptx"), target, True)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "explained.json")
        run("explain", *words, "--json", path)
        explained = json.load(open(path))
    return {**row, **shared_memory(explained)}


def shared_memory(explained):
    """Bytes of a program, and wavefronts beyond those that its transfers need."""
    beyond = [each["actual_wavefronts"] - each["ideal_wavefronts"] for each in explained["shared_transfers"]]
    return {"shared bytes": explained["resources"]["shared_bytes"], "conflicts": sum(beyond)}


def table(title, ours, theirs):
    print(f"\n| {title} | tilec | Triton | ratio |\n|---|---|---|---|")
    for name in ours:
        their = theirs.get(name)
        ratio = f"{ours[name] / their:.2f}" if their else "-"
        print(f"| {name} | {ours[name]} | {'-' if their is None else their} | {ratio} |")


def compare(title, ours, theirs):
    """Each side is a function; what it has no code for it says."""
    rows = []
    for side, name in ((ours, "tilec"), (theirs, "Triton")):
        try:
            rows.append(side())
        except Exception as fault:  # pylint: disable=broad-except
            rows.append({})
            print(f"\n{title}: {name} has no code: {str(fault).splitlines()[-1]}")
    if rows[0]:
        table(title, *rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilec", required=True)
    parser.add_argument("--bench", help="the program jit_compile_bench, which has the rows")
    parser.add_argument("--target", default="sm_80", choices=["sm_80", "sm_86", "sm_89"])
    options = parser.parse_args()
    target = options.target
    print(f"{target}, {STAGES} stages; Triton {triton.__version__}")
    for dtype, their_dtype in FACTORS.items():
        for m, n, k, warps in PRODUCTS:
            words = ["op:matmul", f"dtype={dtype}", "result=f16", f"BM={m}", f"BN={n}", f"BK={k}", f"warps={warps}"]
            compare(f"product of {dtype} {m}x{n}x{k}, {warps} warps", lambda: tilec_side(options.tilec, words, target),
                    lambda: triton_side("matmul", {"a": their_dtype, "b": their_dtype},
                                        {"BM": m, "BN": n, "BK": k, "COLUMNS": dtype == "e4m3"}, warps, target))
    for head, causal, queries, keys, warps in ATTENTION:
        compare(f"{'causal ' if causal else ''}attention of heads of {head}, {queries}x{keys}, {warps} warps",
                lambda: tilec_side(options.tilec, ["op:attention", f"D={head}", f"causal={causal}"], target),
                lambda: triton_side("attention", {}, {"BM": queries, "BN": keys, "D": head, "CAUSAL": bool(causal)}, warps, target))
    for name in ROWS if options.bench else ():
        compare(f"a row of {name}, 4 warps",
                lambda: measure(subprocess.run([options.bench, name, "0", target], capture_output=True, text=True,
                                               check=True).stdout.split("\n", 1)[1], target, False),
                lambda: triton_side(name, {}, triton_kernels.KERNELS[name][2], 4, target))


if __name__ == "__main__":
    main()
