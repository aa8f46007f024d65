"""Machine code of tilec's pipelined products and attention beside Triton's, in one run, without a GPU.

  python3 -m venv env && env/bin/pip install triton numpy
  env/bin/python bench/static/compare.py --tilec build/dev/bin/tilec

Both sides compile the f16 kernels for sm_80, from the same tiles, warps and stages. Triton's own ptxas, cuobjdump and nvdisasm
assemble and read both. Prints registers, spilled bytes and, of the loop that multiplies, instructions, barriers and memory
accesses; the ratio is tilec / Triton. What a loop jumps over (tilec hides scores in its main loop where a tile needs it, Triton
in a loop of its own behind) counts as skipped.
"""
import argparse
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

PRODUCTS = [(128, 128, 64, 4), (128, 256, 64, 8)]  # BM, BN, BK, warps
ATTENTION = [(64, causal, 64, 64, 4) for causal in (0, 1)] + \
            [(128, causal, 128, 32, 8) for causal in (0, 1)]  # D, causal, queries, keys, warps: as op:attention chooses
STAGES = 3
COUNTED = {"barriers": "BAR", "copies": "LDGSTS", "loads": "LDSM", "products": "HMMA"}


def measure(ptx, folder):
    source, cubin = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.cubin")
    with open(source, "w") as out:
        out.write(ptx)
    row = sass.report(source, cubin, "sm_80")
    del row["remarks"]
    loop, skipped = sass.main_loop(cubin)
    row.update({"loop": len(loop), "skipped": skipped})
    for name, opcode in COUNTED.items():
        row[name] = sum(opcode in re.sub(r"^@!?\w+ ", "", op).split(".")[0].split() for op in loop)
    return row


def triton_ptx(kernel, constants, warps):
    function, signature, _, aligned = triton_kernels.KERNELS[kernel]
    attributes = {(list(signature).index(arg),): [["tt.divisibility", 16]] for arg in aligned}
    source = ASTSource(function, signature, constexprs=constants, attrs=attributes)
    compiled = triton.compile(source, target=GPUTarget("cuda", 80, 32),
                              options={"num_warps": warps, "num_stages": STAGES})
    return compiled.asm["ptx"]


def tilec_ptx(tilec, words, folder):
    path = os.path.join(folder, "ours.ptx")
    subprocess.run([tilec, "build", *words, "--emit", "ptx", "-o", path], check=True, capture_output=True)
    return open(path).read()


def compare(title, tilec, words, kernel, constants, warps):
    with tempfile.TemporaryDirectory() as folder:
        ours = measure(tilec_ptx(tilec, words, folder), folder)
        theirs = measure(triton_ptx(kernel, constants, warps), folder)
    print(f"\n| {title}, {warps} warps | tilec | Triton | ratio |\n|---|---|---|---|")
    for name in ours:
        ratio = f"{ours[name] / theirs[name]:.2f}" if theirs[name] else "-"
        print(f"| {name} | {ours[name]} | {theirs[name]} | {ratio} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilec", required=True)
    tilec = parser.parse_args().tilec
    print(f"sm_80, f16, {STAGES} stages; Triton {triton.__version__}")
    for m, n, k, warps in PRODUCTS:
        compare(f"product {m}x{n}x{k}", tilec, ["op:matmul", f"BM={m}", f"BN={n}", f"BK={k}", f"warps={warps}"], "matmul",
                {"BM": m, "BN": n, "BK": k}, warps)
    for head, causal, queries, keys, warps in ATTENTION:
        compare(f"{'causal ' if causal else ''}attention of heads of {head}, {queries}x{keys}", tilec,
                ["op:attention", f"D={head}", f"causal={causal}"], "attention",
                {"BM": queries, "BN": keys, "D": head, "CAUSAL": bool(causal)}, warps)


if __name__ == "__main__":
    main()
