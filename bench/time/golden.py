#!/usr/bin/env python3
"""Writes tests/time from measured kernels: golden/*.ptx, golden.jsonl (their launches, for `tilec time --jobs`) and golden.tsv
(their measured times). Needs nvcc; nobody else does."""
import json
import shutil
import sys

from families import Point, kFamilies
from make_ptx import kOut, make, tool
from validate import kGolden
from variants import variants

# Kernels whose structure differs: producers or none, persistent or not, ping-pong, clusters, promotion, split and plain loads.
kKernels = ("ms2_128x256_s4_tma", "mp2_128x256_s4_e64", "ws_64x128_s8_e64", "ps_128x256_s4_e64", "pp_128x128_s6",
            "cl21_128x256_s4_p", "f8_128x256", "f8p2_128x128_s6_r", "sm_w8r2", "nk_w8u4pf", "sk_w64p2_n32", "at_f128_ovl_pp",
            "at_c128_ovl_pp_dyn", "at_c64_3wg_n128_pp_dyn", "bw_f128_fu_m64_seq_ro_red", "bw_f128_fu_m80_seq_red",
            "bw_c128_fu_m64_seq_ro_red",
            "bw_f64_fu_m128_seq_ro_red", "bw_f128_2k_m64_seq")
kShapes = ("4096x4096x4096", "1024x1024x1024", "128x8192x8192", "8192x4096", "4x4096x4096", "32x4096x4096",
           "4x16x4096x128_full", "4x16x4096x128_causal", "4x16x4096x64_causal", "4x16x4096x64_full")

# One of the two kernels of a call: the time of neither alone was measured.
kTwoKernels = Point("A", "bw_f128_2k_m64_seq", "4x16x4096x128_full", "", "nan", "nan")


def points_of(name, family):
    """The points of a kernel, each launch once: those of kShapes, or else two of any."""
    found = {}
    for point in family.points():
        if point.variant == name:
            found.setdefault((point.shape, point.launch), point)
    chosen = [point for point in found.values() if point.shape in kShapes]
    return chosen or list(found.values())[:2]


def main():
    if not tool("nvcc"):
        print("SKIP: nvcc is neither on PATH nor in /usr/local/cuda/bin")
        return 0
    known = variants()
    out = kOut.parent / "golden"
    if not make([known[name] for name in kKernels], out, jobs=2, size=1):  # as they were compiled when they were measured
        return 1
    kGolden.mkdir(parents=True, exist_ok=True)
    jobs = []
    times = ["# Measured microseconds of the launches of golden.jsonl, and what of them is other kernels of the call.",
             "# id\tmeasured_us\tbeside_us"]
    for name in kKernels:
        shutil.copyfile(out / f"{name}.ptx", kGolden / f"{name}.ptx")
        family = kFamilies[known[name].family]
        for point in points_of(name, family):
            job = family.jobs(point, "golden")[0]
            jobs.append(json.dumps(job))
            times.append(f"{job['id']}\t{point.us:g}\t{family.beside_us(point)}")
    jobs.append(json.dumps(kFamilies["backward"].jobs(kTwoKernels, "golden")[0]))
    (kGolden.parent / "golden.jsonl").write_text("\n".join(jobs) + "\n")
    (kGolden.parent / "golden.tsv").write_text("\n".join(times) + "\n")
    print(f"{len(kKernels)} kernels, {len(jobs)} launches")
    return 0


if __name__ == "__main__":
    sys.exit(main())
