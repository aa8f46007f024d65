"""Machine code of products and attention on sm_90a, beside kernels written by hand for it, without a GPU.

  python3 bench/static/hopper.py --tilec build/dev/bin/tilec [--reference FOLDER]

FOLDER has the PTX of the other kernels, under the names in KERNELS; without it, or where one is missing, tilec's stand alone.
ptxas 13.0 and nvdisasm come from PyPI, into a virtual environment under build/bench-env unless the interpreter has them. `iteration` counts the instructions of the innermost loop with products, those in which one thread asks for the next copies
included; what it jumps over (masks, the storing of a tile, the next tile's indices) counts as skipped. Of a kernel without products all
instructions count. Where tilec takes more registers, `held to those by hand` are the registers it takes, and the bytes it spills, if the
assembler may give it no more than the other kernel has.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile

import sass

# The kernels by hand have both factors along K.
PERSISTENT = ["op:matmul", "M=4096", "N=4096", "K=4096", "columns=1"]
FLOAT8 = PERSISTENT + ["dtype=e4m3", "result=bf16", "BM=128"]
GRADIENT = ["op:attention_gradient", "dtype=bf16"]
ONE_KERNEL = GRADIENT + ["deterministic=0"]
HEADS = "4x16x4096x128"
BY_80_QUERIES = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "gradient_by_80_queries.cpp"),
                 *(f"{name}=bf16:{HEADS}" for name in ("q", "k", "v", "dout", "dk", "dv")), "shift=f32:4x16x4160", "delta=f32:4x16x4160",
                 "dq=f32:4x16x16x33280"]
# KiB of shared memory that kernels by hand are launched with, which their PTX does not say.
SHARED = {"ms2_128x256_s4_tma": 192, "mp2_128x256_s4_e64": 224, "ws_64x128_s8_e64": 208, "ps_128x256_s4_e64": 224, "pp_128x128_s6": 224,
          "cl21_128x256_s4_p": 224, "at_f128_ovl_pp": 160, "at_c128_ovl_pp_dyn": 160, "at_f128_n176_pp": 208, "at_c128_n176_pp_dyn": 208,
          "at_c64_3wg_n128_pp_dyn": 88, "bw_f128_fu_m64_seq_ro_red": 145, "bw_c128_fu_m64_seq_ro_red": 145, "bw_f64_fu_m128_seq_ro_red": 130,
          "bw_f128_fu_m80_seq_red": 165, "bw_f128_2k_m64_seq bwd_kv": 129, "bw_f128_2k_m64_seq bwd_q": 224}
KERNELS = [  # title, settings of tilec build, the file in the folder, and which of its kernels if it has several that multiply
    ("product 128x256x64", PERSISTENT + ["schedule=one_tile"], "ms2_128x256_s4_tma.ptx"),
    ("product 128x256x64, persistent", PERSISTENT, "mp2_128x256_s4_e64.ptx"),
    ("product 64x128x64", ["op:matmul", "M=1024", "N=1024", "K=1024", "columns=1", "BM=64", "BN=128", "warps=4", "schedule=one_tile"],
     "ws_64x128_s8_e64.ptx"),
    ("product 128x256x64, persistent, producer warp", PERSISTENT + ["schedule=persistent_warp_specialized"], "ps_128x256_s4_e64.ptx"),
    ("product 128x128x64, ping-pong", PERSISTENT + ["BM=128", "BN=128", "warps=4", "schedule=ping_pong"],
     "pp_128x128_s6.ptx"),
    ("product 128x256x64, persistent, clusters of two", PERSISTENT + ["schedule=persistent_warp_specialized_multicast"],
     "cl21_128x256_s4_p.ptx"),
    ("product of 32 rows, 64x32x128", ["op:matmul", "M=32", "N=8192", "K=8192", "columns=1"], "sk_w64p2_n32.ptx"),
    ("product by 4 vectors, 16x8x1024", ["op:matmul", "M=4", "N=4096", "K=4096", "columns=1", "dtype=bf16"], "nk_w8u4pf.ptx"),
    ("product of e4m3 128x256x128, fast accumulation", FLOAT8 + ["schedule=persistent", "fast=1", "BN=256"], "f8_128x256.ptx"),
    ("product of e4m3 128x128x128, 256 of K a step", FLOAT8 + ["schedule=persistent_warp_specialized", "BN=128", "BK=256"], "f8p2_128x128_s6_r.ptx"),
    ("attention of heads of 128", ["op:attention", "D=128"], "at_f128_ovl_pp.ptx"),
    ("causal attention of heads of 128", ["op:attention", "D=128", "causal=1"], "at_c128_ovl_pp_dyn.ptx"),
    ("attention of heads of 128, 16384 keys", ["op:attention", "D=128", "B=1", "Lq=16384"], "at_f128_n176_pp.ptx"),
    ("causal attention of heads of 128, 16384 keys", ["op:attention", "D=128", "B=1", "Lq=16384", "causal=1"],
     "at_c128_n176_pp_dyn.ptx"),
    ("causal attention of heads of 64", ["op:attention", "D=64", "Lq=4096", "causal=1"], "at_c64_3wg_n128_pp_dyn.ptx"),
    ("gradient of attention by k and v, heads of 128", GRADIENT + ["D=128"], "bw_f128_2k_m64_seq.ptx", "bwd_kv"),
    ("gradient of attention by q, heads of 128", GRADIENT + ["D=128", "of=dq"], "bw_f128_2k_m64_seq.ptx", "bwd_q"),
    ("gradient of attention, heads of 128", ONE_KERNEL + ["D=128"], "bw_f128_fu_m64_seq_ro_red.ptx"),
    ("gradient of causal attention, heads of 128", ONE_KERNEL + ["D=128", "causal=1"], "bw_c128_fu_m64_seq_ro_red.ptx"),
    ("gradient of attention, heads of 64", ONE_KERNEL + ["D=64"], "bw_f64_fu_m128_seq_ro_red.ptx"),
    ("gradient of attention by 80 queries without roles", BY_80_QUERIES, "bw_f128_fu_m80_seq_red.ptx", "bwd_kv"),
    ("softmax of rows of 4096 in bf16", ["op:softmax", "N=4096", "dtype=bf16"], "sm_w8r2.ptx"),
]
PRODUCT = "MMA."  # HGMMA of 16-bit operands, QGMMA of 8-bit floats, HMMA of warps by themselves; HFMA2.MMA multiplies no tiles
EVENTS = [("LDG.E", "load"), ("SYNCS.PHASECHK", "wait"), ("WARPGROUP.ARRIVE", "fence"), (PRODUCT, "product"), ("WARPGROUP.DEPBAR", "depbar"),
          ("BAR.SYNC", "barrier"), ("BAR.ARV", "arrive at barrier"), ("SYNCS.ARRIVE", "arrive"), ("UTMALDG", "copy")]


def events(loop):
    """"wait | fence | product x4 | ...": what an iteration does, in order."""
    order = []
    for op in loop:
        for opcode, name in EVENTS:
            if opcode in op:
                if name == "depbar":
                    name = "products but " + re.search(r"gsb0, 0x(\d+)", op).group(1)
                if order and order[-1][0] == name:
                    order[-1][1] += 1
                else:
                    order.append([name, 1])
    return " | ".join(name if count == 1 else f"{name} x{count}" for name, count in order)


def measure(ptx, folder, kernel=""):
    cubin = os.path.join(folder, "kernel.cubin")
    row = sass.report(ptx, cubin, "sm_90a", kernel)
    code, _ = sass.instructions(cubin, kernel)
    if not any(PRODUCT in op for op in code):
        return whole(row, code)
    loop, skipped = sass.main_loop(cubin, PRODUCT, ["UTMALDG"], kernel)
    shapes = sorted({match.group(0) for op in loop if (match := re.search(r"\w+MMA\.\d+(x\d+x\d+)?", op))})
    row.update({"iteration": len(loop), "skipped": skipped, "products": sum(PRODUCT in op for op in loop),
                "shapes": " ".join(shapes), "order": events(loop)})
    return row


def whole(row, code):
    """The same of a kernel without products: all of its instructions."""
    return row | {"instructions": len(code), "loads": sum("LDG" in op for op in code), "stores": sum("STG" in op for op in code),
                  "barriers": sum("BAR.SYNC" in op for op in code)}


def ours(tilec, words, folder):
    path, facts = os.path.join(folder, "ours.ptx"), os.path.join(folder, "ours.json")
    for command in (["build", "--emit", "ptx", "-o", path], ["explain", "--json", facts]):
        subprocess.run([tilec, command[0], *words, "--target", "sm_90a", *command[1:]], check=True, capture_output=True)
    with open(facts) as file:
        shared = json.load(file)["resources"]["shared_bytes"]
    return measure(path, folder) | {"shared memory, KiB": shared // 1024}


def by_hand(path, folder, kernel=""):
    name = " ".join([os.path.basename(path).removesuffix(".ptx")] + [kernel] * bool(kernel))
    return measure(path, folder, kernel) | {"shared memory, KiB": SHARED.get(name, SHARED.get(name.split()[0], "-"))}


def held(folder, registers):
    """What the assembler makes of our kernel if a thread may have so many registers."""
    with open(os.path.join(folder, "ours.ptx")) as file:
        text = re.sub(r"^\.minnctapersm.*\n", "", file.read(), flags=re.MULTILINE)
    path = os.path.join(folder, "held.ptx")
    with open(path, "w") as file:
        file.write(re.sub(r"^(\.reqntid.*\n)", rf"\1.maxnreg {registers}\n", text, flags=re.MULTILINE))
    row = sass.report(path, os.path.join(folder, "held.cubin"), "sm_90a")
    return f"{row['registers']}, {row['spilled bytes']}"


def show(title, own, other):
    print(f"\n| {title} | tilec | by hand | ratio |\n|---|---|---|---|")
    for name, value in own.items():
        if name == "order":
            continue
        beside = other.get(name, "-") if other else "-"
        ratio = f"{value / beside:.2f}" if other and isinstance(value, int) and isinstance(beside, int) and beside else "-"
        print(f"| {name} | {value} | {beside} | {ratio} |")
    if "order" in own:
        print(f"\ntilec: {own['order']}\n" + (f"by hand: {other['order']}\n" if other else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilec", required=True)
    parser.add_argument("--reference", help="a folder of PTX")
    parser.add_argument("--only", default="", help="kernels with this in their title")
    arguments = parser.parse_args()
    sass.environment(os.path.join("build", "bench-env"))
    for title, words, file, *kernel in KERNELS:
        if arguments.only not in title:
            continue
        path = os.path.join(arguments.reference or "", file)
        with tempfile.TemporaryDirectory() as folder:
            own, other = ours(arguments.tilec, words, folder), by_hand(path, folder, *kernel) if os.path.exists(path) else None
            if other and own["registers"] > other["registers"]:
                own["held to those by hand"] = held(folder, other["registers"])
            show(title, own, other)


if __name__ == "__main__":
    main()
