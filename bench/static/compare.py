"""Machine code of tilec's pipelined product beside Triton's, in one run, without a GPU.

  python3 -m venv env && env/bin/pip install triton numpy
  env/bin/python bench/static/compare.py --tilec build/dev/bin/tilec

Both sides compile the f16 product for sm_80, from the same tiles, warps and stages. Triton's own ptxas, cuobjdump and nvdisasm
assemble and read both. Prints registers, spilled bytes and, of the loop that multiplies, instructions, barriers and memory
accesses; the ratio is tilec / Triton.
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

import triton_kernels  # noqa: E402

TOOLS = os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin")
SHAPES = [(128, 128, 64, 4), (128, 256, 64, 8)]  # BM, BN, BK, warps
STAGES = 3
COUNTED = {"barriers": "BAR", "copies": "LDGSTS", "loads": "LDSM", "products": "HMMA"}


def tool(name, *arguments):
    return subprocess.run([os.path.join(TOOLS, name), *arguments], capture_output=True, text=True, check=True)


def main_loop(cubin):
    """The instructions of the shortest loop that multiplies: from the target of a backward branch to the branch."""
    address, code, labels, best = 0, [], {}, None
    for line in tool("nvdisasm", "-c", cubin).stdout.splitlines():
        label = re.match(r"\s*(\.L\w+):", line)
        if label:
            labels[label.group(1)] = len(code)
        text = re.match(r"\s+/\*[0-9a-f]+\*/\s+(.*?);", line)
        if not text:
            continue
        code.append(text.group(1))
        target = re.search(r"BRA.*`\((\.L\w+)\)", text.group(1))
        if target and target.group(1) in labels:
            body = code[labels[target.group(1)]:]
            if any("HMMA" in op for op in body) and (best is None or len(body) < len(best)):
                best = body
    return best


def measure(ptx, folder):
    source, cubin = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.cubin")
    with open(source, "w") as out:
        out.write(ptx)
    log = tool("ptxas", "-arch=sm_80", "-v", source, "-o", cubin).stderr
    loop = main_loop(cubin)
    row = {"registers": int(re.search(r"Used (\d+) registers", log).group(1)),
           "spilled bytes": int(re.search(r"(\d+) bytes spill stores", log).group(1)), "loop": len(loop)}
    for name, opcode in COUNTED.items():
        row[name] = sum(opcode in re.sub(r"^@!?\w+ ", "", op).split(".")[0].split() for op in loop)
    return row


def triton_ptx(bm, bn, bk, warps):
    function, signature, _, aligned = triton_kernels.KERNELS["matmul"]
    attributes = {(list(signature).index(arg),): [["tt.divisibility", 16]] for arg in aligned}
    source = ASTSource(function, signature, constexprs={"BM": bm, "BN": bn, "BK": bk}, attrs=attributes)
    compiled = triton.compile(source, target=GPUTarget("cuda", 80, 32),
                              options={"num_warps": warps, "num_stages": STAGES})
    return compiled.asm["ptx"]


def tilec_ptx(tilec, bm, bn, bk, warps, folder):
    path = os.path.join(folder, "ours.ptx")
    subprocess.run([tilec, "build", "op:matmul", f"BM={bm}", f"BN={bn}", f"BK={bk}", f"warps={warps}", "--emit", "ptx",
                    "-o", path], check=True, capture_output=True)
    return open(path).read()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilec", required=True)
    tilec = parser.parse_args().tilec
    print(f"sm_80, f16, {STAGES} stages; Triton {triton.__version__}")
    for shape in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            ours = measure(tilec_ptx(tilec, *shape, folder), folder)
            theirs = measure(triton_ptx(*shape), folder)
        print("\n| %dx%dx%d, %d warps | tilec | Triton | ratio |\n|---|---|---|---|" % shape)
        for name in ours:
            ratio = f"{ours[name] / theirs[name]:.2f}" if theirs[name] else "-"
            print(f"| {name} | {ours[name]} | {theirs[name]} | {ratio} |")


if __name__ == "__main__":
    main()
