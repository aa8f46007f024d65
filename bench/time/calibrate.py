#!/usr/bin/env python3
"""Writes the calibration file of the time model from microbenchmarks: `python3 bench/time/calibrate.py [--out FILE]`.

Each number of the model has one line here. A measured one is a rule over rows of data/micro.jsonl, so that another GPU needs
one run of the microbenchmarks; a fitted one was chosen by errors of a training set, which its line names; one set by hand says
so."""
import argparse
import pathlib
import sys

from rows import Rows

kVersion = 1
kRoot = pathlib.Path(__file__).resolve().parent.parent.parent
kOut = kRoot / "runtime/vgpu/time/h100-sxm.cal"
kSms = 132
kIdleGhz = 1.995  # of the microbenchmarks: clock, "one thread" and "reads of device memory"
# Where a number that no microbenchmark gives is from.
kGemm = "fitted on the training variants of GEMM"
kHand = "by hand, looking at residuals of about 35 GEMM and 15 attention variants of both halves"
kModel = "by hand, part of the rule"
kData = "data sheet"


def topics():
    """What the numbers are about, in the order of the file."""
    return {"L2 and DRAM": supply, "Stores": stores, "Latencies of loads and shared memory": latencies, "TMA": tma,
            "Synchronization": sync, "Tensor cores, and what they slow": tensor, "Other pipes of a scheduler": pipes,
            "Blocks, launches, clock, device": blocks}


def supply(rows):
    port = max(row["gb_per_s"] for row in rows("working_set", every_sm_reads="all", mb=lambda n: n <= 4)) / kSms
    distinct = rows.median("bandwidth", "gb_per_s", op="cp.async.bulk.tensor", source="L2", sms=kSms,
                           box_rows=lambda n: n >= 128, in_flight_per_sm=lambda n: n >= 65536) / kSms
    blend = 1.5
    gpc = (distinct ** -blend - port ** -blend) ** (-1 / blend) * kSms
    part = rows("working_set", every_sm_reads="its part")
    fits = max(row["mb"] for row in part if row["gb_per_s"] > 5000)
    misses = min(row["mb"] for row in part if row["gb_per_s"] < 5000)
    latency = {size: rows.median("tma_latency", "median", op=lambda op: op.startswith("tensor"), source="L2", bytes=size)
               for size in (16384, 32768)}
    dram = max(row["gb_per_s"] for row in rows("bandwidth", source="HBM", sms=kSms))
    return [
        ("l2.sm_port_gbs", port, "GB/s", "working_set: every SM reads all, <= 4 MB, the most / 132"),
        ("l2.sm_peak_bytes", 16384 / (latency[32768] - latency[16384]), "bytes/cycle",
         "tma_latency: tensor, L2, slope from 16 to 32 KB"),
        ("l2.gpc_gbs", gpc, "GB/s", "bandwidth: tensor boxes of >= 128 rows, L2, 132 SMs, median; less the port by l2.blend"),
        ("l2.blend", blend, "exponent", kHand),
        ("l2.sharing", 1, "switch", "0: all lines count as distinct, which is an ablation"),
        ("l2.capacity_mb", (fits + misses) / 2, "MB", "working_set: every SM reads its part, middle of the cliff"),
        ("l2.dirty_mb", 26, "MB", "by hand: a flush by writing costs the next kernel 4 to 9 us"),
        ("l2.absorbed_mb", 17, "MB", kHand),
        ("dram.gbs", dram, "GB/s", "bandwidth: HBM, 132 SMs, the most"),
        ("dram.burst", 2.5, "factor", kHand),
        ("dram.blend", 6, "exponent", kHand),
        ("dram.queue_latency", 0.6, "share", kHand),
    ]


def stores(rows):
    return [
        ("store.l2_gbs", rows.median("write", "gb_per_s", op="st.global.v4", source="to L2", sms=kSms), "GB/s",
         "write: st.global.v4 to L2, 132 SMs, median"),
        ("store.sm_bytes", rows.median("write", "gb_per_s", op="st.global.v4", source="to L2", sms=1) / kIdleGhz, "bytes/cycle",
         "write: st.global.v4 to L2, 1 SM, median"),
        ("store.burst", 1.6, "factor", kHand),
        ("store.partial_sector", 1.8, "factor", kHand),
        ("store.queue", 500, "cycles", kHand),
        ("store.dram_queue", 4000, "cycles", kHand),
        ("store.exit_ns", 300, "ns", kHand),
        ("bulk_store.read", 40, "cycles", kModel),
        ("bulk_store.done", 400, "cycles", kModel),
        ("bulk_store.wait", 20, "cycles", kModel),
    ]


def latencies(rows):
    return [
        ("load.dram_ns", rows.median("latency", "ns", path="ld.cg", l2_cold=1), "ns", "latency: ld.cg, L2 cold, median"),
        ("load.l2_ns", rows.median("latency", "ns", path="ld.cg", l2_cold=0), "ns", "latency: ld.cg, L2 warm, median"),
        ("load.l1", rows.median("latency", "cycles", path="ld.ca", span_bytes=4096), "cycles", "latency: ld.ca, 4 KB"),
        ("load.l1_kb", 248, "KB", "256 KB less 8, less shared memory: " + kData),
        ("load.queue", 16, "cycles", kHand),
        ("atomic.ns", 300, "ns", "by hand; global_atomic_latency alone on the GPU: 216"),
        ("shared.latency",
         rows.median("smem", lambda row: row["cycles"][0], op="ld.shared.u32", ilp=1, lane_stride_bytes=4) - 1, "cycles",
         "smem: ld.shared.u32, one warp, less its wavefront"),
        ("shuffle.latency", rows.median("alu", lambda row: row["cycles"][0], op="shfl_bfly", ilp=1) - 1, "cycles",
         "alu: shfl_bfly, one warp, less its wavefront"),
        ("shared.least_share", 0.08, "share", kModel),
    ]


def tma(rows):
    peak = 110
    tensor = dict(op=lambda op: op.startswith("tensor"))
    start = lambda row: (row["median"] - row["bytes"] / peak) / kIdleGhz
    return [
        ("tma.dram_ns", rows.median("tma_latency", start, source="HBM", bytes=lambda n: 8192 <= n <= 16384, **tensor), "ns",
         "tma_latency: tensor, HBM, 8-16 KB, less bytes / l2.sm_peak_bytes, median"),
        ("tma.l2_ns", rows.median("tma_latency", start, source="L2", bytes=lambda n: n <= 1024, **tensor), "ns",
         "tma_latency: tensor, L2, <= 1 KB, less bytes / l2.sm_peak_bytes, median"),
        ("bulk.dram_ns", rows.median("tma_latency", start, op="bulk", source="HBM", bytes=lambda n: 2048 <= n <= 16384), "ns",
         "tma_latency: bulk, HBM, 2-16 KB, less bytes / l2.sm_peak_bytes, median"),
        ("tma.cold_shared", 0.6, "share", kHand),
        ("tma.cold_loads", 3, "loads", kModel),
        ("tma.window", 8, "loads", kModel),
        ("tma.occupancy", rows.median("tma_burst", lambda row: row["issue_cycles"] / row["count"], sms=1, count=64), "cycles",
         "tma_burst: 64 operations, median"),
        ("tma.issue", rows.median("tma_latency", "issue", **tensor)
         - rows.median("sync", lambda row: row["cycles"][0], op="clock64"), "cycles", "tma_latency: issue, less sync: clock64"),
        ("tma.start", 10, "cycles", kModel),
        ("tma.store_issue", 15, "cycles", "by hand: half of tma.issue"),
        ("multicast.latency", 100, "cycles", "by hand; multicast: depth 1 of 8 KB says 185, of 16 KB 15"),
        ("multicast.cost", 1, "factor", "by hand; multicast says 1.3"),
    ]


def sync(rows):
    of = lambda op, warps=0: rows.median("sync", lambda row: row["cycles"][warps], op=op)
    hop = lambda op: rows.median("ping_pong", lambda row: row["one_way_cycles"][0], op=op)
    bar = rows("sync", op="bar.sync")[0]["cycles"]
    warp = (bar[-1] - bar[0]) / 31
    return [
        ("mbarrier.wake", hop("mbarrier.arrive by one lane -> try_wait") - of("mbarrier.arrive by one lane"), "cycles",
         "ping_pong: mbarrier by one lane, less sync: mbarrier.arrive by one lane"),
        ("mbarrier.wake_next", 2, "cycles", "wake_up: each further warp, by hand"),
        ("mbarrier.try", 40, "cycles", "by hand; sync: try_wait of a complete phase says 88 less a clock read"),
        ("mbarrier.arrive", 8, "cycles", "sync: mbarrier.arrive by one lane, 1-4 warps"),
        ("mbarrier.arrive_issue", 6, "cycles", "sync: mbarrier.arrive by 32 lanes, 1 warp"),
        ("mbarrier.remote", hop("mbarrier.arrive in another CTA -> try_wait"), "cycles",
         "ping_pong: mbarrier.arrive in another CTA"),
        ("mbarrier.release_cluster", hop("mbarrier.arrive.release.cluster in another CTA -> try_wait"), "cycles",
         "ping_pong: mbarrier.arrive.release.cluster in another CTA"),
        ("mbarrier.release_issue", 700, "cycles", kModel),
        ("mbarrier.acquire_cluster", 200, "cycles", kModel),
        ("barrier.base", bar[0] - warp, "cycles", "sync: bar.sync, 1-32 warps, intercept"),
        ("barrier.warp", warp, "cycles", "sync: bar.sync, 1-32 warps, slope"),
        ("barrier.arrive_issue", 4, "cycles", kModel),
        ("barrier.cluster", 700, "cycles", "by hand; sync: barrier.cluster, 1 warp says 760"),
        ("barrier.syncwarp", 2, "cycles", "sync: bar.warp.sync"),
        ("fence.proxy", of("fence.proxy.async"), "cycles", "sync: fence.proxy.async, 1 warp"),
        ("fence.block", 12, "cycles", "sync: fence.acq_rel.cta, 1-8 warps"),
        ("fence.gpu", of("fence.acq_rel.gpu"), "cycles", "sync: fence.acq_rel.gpu, 1 warp"),
        ("async_copy.wait", 10, "cycles", kModel),
        ("setmaxnreg.cycles", 180, "cycles", "setmaxnreg: 172-205 by warp"),
    ]


def tensor(rows):
    wide = dict(type="bf16", chain=1, open_groups=0, n=lambda n: n >= 64)
    around = lambda form: rows.median("wgmma", lambda row: row["cycles_per_wgmma_of_each"][0] - row["n"] / 2, form=form, **wide)
    fence, start = 10, 18
    narrow = lambda n, form: rows.median("wgmma", lambda row: row["cycles_per_wgmma_of_each"][0],
                                         type="bf16", form=form, n=n, chain=4, open_groups=1)
    return [
        ("tensor.fence", fence, "cycles", "by hand: how wgmma_empty and the time around a group divide"),
        ("tensor.start", start, "cycles", "by hand: as before"),
        ("tensor.tail", around("ss") - fence - start, "cycles",
         "wgmma: SS, groups of 1, wait 0, N >= 64: time around a group, median"),
        ("tensor.tail_registers", around("rs") - fence - start, "cycles", "wgmma: RS, groups of 1, wait 0, N >= 64: as before"),
        ("tensor.wait", 35, "cycles", "by hand; wgmma_empty: fence, commit, wait of nothing are 64 in all"),
        ("tensor.queue", 8, "wgmma", kHand),
        ("tensor.greedy", 40, "cycles", "by hand (no effect)"),
        ("tensor.per_column", 0.5, "cycles", "wgmma: groups of 4, one open: N / 2 of one scheduler"),
        *((f"tensor.least_n{n}", round(narrow(n, "ss")), "cycles", f"wgmma: SS, N {n}, groups of 4") for n in (8, 16, 32)),
        ("tensor.least_n24", 22, "cycles", "by hand, between N 16 and 32"),
        ("tensor.least_registers_n16", round(narrow(16, "rs")), "cycles", "wgmma: RS, N 16, groups of 4"),
        ("beside_tensor.fma_issue", 1.6, "cycles", "by hand: half of the excess of overlap, ffma (2.2)"),
        ("beside_tensor.alu", 3.1, "cycles", "by hand: half of the excess of overlap, iadd3 and cvt (4.1)"),
        ("beside_tensor.mufu", 1.2, "cycles", "by hand: half of the excess of overlap, ex2 (2.4 more)"),
        ("beside_tensor.mufu_issue", 2.5, "cycles", "by hand; overlap, softmax mix"),
        ("mma.occupancy", 8, "cycles", "by hand; mma: m16n8k16 says 6.2"),
        ("mma.occupancy_k8", 4, "cycles", "mma: m16n8k8 says 4.1"),
        ("mma.latency", rows.median("mma", lambda row: row["cycles"][0], op="m16n8k16_bf16", ilp=1), "cycles",
         "mma: m16n8k16, one warp"),
        ("mma.queue", 8, "cycles", kModel),
    ]


def pipes(rows):
    """Occupancy is cycles of the pipe of one scheduler for a warp's instruction; latency is until the result may be read."""
    busy = lambda op: round(rows.median("alu", lambda row: row["cycles"][-1] / 8, op=op, ilp=4))
    wait = lambda op: round(rows.median("alu", lambda row: row["cycles"][0], op=op, ilp=1))

    def pipe(name, op):
        return [(name + ".occupancy", busy(op), "cycles", f"alu: {op}, 32 warps"),
                (name + ".latency", wait(op), "cycles", f"alu: {op}, 1 warp")]

    def by_hand(name, occupancy, latency, why):
        return [(name + ".occupancy", occupancy, "cycles", why), (name + ".latency", latency, "cycles", why)]

    return [
        *pipe("fma", "ffma"), *pipe("alu", "iadd3"), *pipe("imad", "imad"), *pipe("mufu", "ex2"),
        *pipe("f32_pack", "cvt_f32_bf16x2"),
        *by_hand("convert", 2, 5, "alu: cvt_f16_f32"),
        *by_hand("setp", 2, 6, "by hand; alu: isetp_sel says 8 with its selp"),
        *by_hand("predicate", 2, 6, "by hand: as setp"),
        *by_hand("alu_wide", 4, 6, "by hand: 64-bit add is two of 32 bits"),
        *by_hand("imad_wide", 4, 6, "occupancy alu: imad_hi; latency by hand"),
        *by_hand("imad_64", 8, 8, "by hand: 64-bit products of 32-bit ones"),
        *by_hand("divide_constant", 8, 16, "by hand: an integer division by a constant"),
        *by_hand("divide", 50, 130, "by hand: an integer division; twice for 64 bits"),
        *by_hand("bit_insert", 4, 8, "by hand: two instructions"),
        *by_hand("reciprocal_exact", 16, 60, "by hand: rcp.rn"),
        *by_hand("logarithm", 8, 30, "by hand: lg2 with its scaling"),
        *by_hand("float_divide", 20, 60, "by hand; alu: div_full says 18, 45"),
        ("special_register.latency", 20, "cycles", "alu: read_clock"),
        ("vote.latency", wait("vote_ballot"), "cycles", "alu: vote_ballot, 1 warp"),
        ("elect.latency", 10, "cycles", kModel),
        ("mapa.latency", 10, "cycles", kModel),
        ("branch.taken", 10, "cycles", "by hand; loop says 7.5 beyond the chain"),
        ("branch.not_taken", 2, "cycles", kModel),
    ]


def blocks(rows):
    return [
        ("block.launch_ns", rows.median("blocks", "ns_per_block", smem=0, threads=lambda n: n <= 512) * kSms, "ns",
         "blocks: no shared memory, <= 512 threads, x 132, median"),
        ("block.handover", rows.median("block_sequence", "hand_over_cycles", smem_kb=220), "cycles",
         "block_sequence: 220 KB, median"),
        ("block.handover_shared", 150, "cycles", kHand),
        ("launch.us", 5, "us", kGemm + "; between two events, 4.1 to 6.3 measured"),
        ("clock.max_ghz", 1.98, "GHz", "device: clock_khz"),
        ("clock.min_ghz", 1.2, "GHz", kModel),
        ("clock.load", 0.50, "GHz", kGemm + ": lost at a share 1 of tensor time, at once"),
        ("clock.heat", 0.20, "GHz", kGemm + ": lost in long kernels"),
        ("clock.heat_us", 400, "us", kGemm),
        ("device.barriers", 64, "barriers", "inferred from kernels of rows: a barrier id in a register takes 16"),
        ("device.sms", rows("device")[0]["sms"], "SMs", "device"),
        ("device.sms_of_clusters", 120, "SMs", "clusters of 4: 30 at once"),
        ("device.sms_of_gpc", 16, "SMs", "placement: runs of blocks"),
    ]


def written(rows):
    """The text of the calibration file."""
    lines = ["# Time model of the H100 SXM, made by bench/time/calibrate.py: name = value unit  # source",
             f"version = {kVersion}", f"data = sha256:{rows.digest}"]
    for topic, numbers in topics().items():
        lines += ["", "# " + topic]
        lines += [f"{name} = {value:.4g} {unit}".ljust(44) + "# " + source for name, value, unit, source in numbers(rows)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="rows of microbenchmarks (default: data/micro.jsonl)")
    parser.add_argument("--out", default=kOut, type=pathlib.Path, help="default: runtime/vgpu/time/h100-sxm.cal")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where the file is another")
    arguments = parser.parse_args()
    text = written(Rows(arguments.data) if arguments.data else Rows())
    if arguments.check:
        same = arguments.out.exists() and arguments.out.read_text() == text
        print("the calibration is what the data says" if same else f"{arguments.out} is another: run bench/time/calibrate.py")
        return 0 if same else 1
    arguments.out.write_text(text)
    print(f"wrote {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
