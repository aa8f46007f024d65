"""What each mechanism of the time model is worth: numbers of the calibration are overridden so that it is gone, the clock is
fitted again on the training variants, so that it may hide what it can, and the held-out points are compared."""
import itertools
import math

import statistic
from families import kFamilies, trains
from jobs import jobs_of

kFreeWaits = ("mbarrier.try=1", "mbarrier.wake=1", "barrier.base=0", "barrier.warp=0", "tensor.wait=1", "tensor.fence=1",
              "tensor.start=0", "tensor.tail=0", "tensor.tail_registers=0")
kBesideTensor = ("beside_tensor.fma_issue", "beside_tensor.alu", "beside_tensor.mufu", "beside_tensor.mufu_issue")


def beside_tensor(*values):
    return tuple(f"{name}={value}" for name, value in zip(kBesideTensor, values))


kAblations = {
    "gemm": {
        "nothing": (),
        "lines shared inside a GPC (all distinct)": ("l2.sharing=0",),
        "partly written sectors": ("store.partial_sector=1",),
        "any L2 limit beyond the SM's port": ("l2.gpc_gbs=1e9",),
        "DRAM bandwidth": ("dram.gbs=1e9",),
        "hand-over between blocks": ("block.handover=0", "block.handover_shared=0", "store.exit_ns=0", "block.launch_ns=0"),
        "tensor queue (1 instead of 8)": ("tensor.queue=1",),
        "latencies of mbarrier, barrier, wait": kFreeWaits,
        "latency of cold lines": ("tma.dram_ns=155", "load.dram_ns=137", "bulk.dram_ns=155"),
        "TMA issue": ("tma.occupancy=1", "tma.issue=1"),
    },
    "attention": {
        "nothing": (),
        "pipes beside the tensor cores not slowed": beside_tensor(1, 2, 0, 1),
        "slowed as the microbenchmark says": beside_tensor(2.2, 4.1, 2.4, 4),
        "latencies of mbarrier, barrier, wait": kFreeWaits,
        "tensor queue greedy by warp": ("tensor.greedy=0",),
    },
    "rows": {
        "nothing": (),
        "limit of blocks by named barriers": ("device.barriers=1e9",),
        "DRAM bursts (each SM 1/132)": ("dram.burst=1", "store.burst=1"),
        "store drain at exit, block rate": ("store.exit_ns=0", "block.launch_ns=0"),
        "writes absorbed by L2": ("l2.absorbed_mb=0",),
    },
}
# The points on which it is done: enough to tell, few enough to take minutes.
kShapes = {
    "gemm": {"4096x4096x4096", "8192x8192x1024", "1024x1024x1024", "16384x1024x1024", "128x8192x8192"},
    "attention": {"4x16x4096x128_full", "4x16x4096x64_full"},
}
kRuns = {"gemm": {"A", "C", "D", "E"}}
# load, heat (GHz), heat_us and launch.us that the clock may have.
kLoads = [step / 40 for step in range(26)]
kHeats = [step / 20 for step in range(12)]
kHeatTimes = (100, 400, 1600)
kLaunches = (4, 5, 6)


def clock(tensor, us, load, heat, heat_us):
    """The model's own rule, for the fit."""
    return max(1.2, min(1.98, 1.98 - tensor * (load + heat * us / (us + heat_us))))


def time(answer, fitted, fixed):
    """Microseconds of an answer's cycles by another clock."""
    *numbers, launch = fitted
    ghz = fixed or clock(answer["busy"]["tensor"], answer["cycles"] / answer["clock_ghz"] / 1e3, *numbers)
    return answer["cycles"] / ghz / 1e3 + launch


def choices(family):
    """The clocks to try; where it is fixed, what a launch takes alone."""
    if family.clock_ghz:
        return [(0, 0, 1, step / 10) for step in range(10, 80, 2)]
    return list(itertools.product(kLoads, kHeats, kHeatTimes, kLaunches))


def fitted_clock(family, points, answers):
    """What makes the mean error of training points least."""
    known = [(point, answers[job["id"]]) for point in points for job in family.jobs(point, "")[:1] if job["id"] in answers]
    return min(choices(family), key=lambda fitted: sum(abs(math.log(time(answer, fitted, family.clock_ghz) / point.us))
                                                       for point, answer in known))


def at(point, us):
    return statistic.Prediction(point, us, us, None, None)


def chosen_points(family):
    shapes, runs = kShapes.get(family.name), kRuns.get(family.name)
    return [point for point in family.points() if (not shapes or point.shape in shapes) and (not runs or point.run in runs)]


def run(arguments, engine, require_ptx):
    """Prints a table of each family that has ablations."""
    for name in arguments.family or kAblations:
        if name not in kAblations:
            print(f"{name}: has no ablations")
            continue
        family = kFamilies[name]
        points = chosen_points(family)
        jobs = list(jobs_of(family, points, arguments.ptx).values())
        require_ptx(jobs)
        print(f"taken out\n{statistic.kHead}")
        for title, overrides in kAblations[name].items():
            answers = engine(arguments.engine, jobs, [*arguments.set, *overrides])
            fitted = fitted_clock(family, [point for point in points if trains(point.variant)], answers)
            held_out = [at(point, time(answers[job["id"]], fitted, family.clock_ghz)) for point in points
                        for job in family.jobs(point, "")[:1] if job["id"] in answers and not trains(point.variant)]
            print(f"{title} (clock {fitted})\n{statistic.line(family, statistic.summary(family, held_out))}", flush=True)
    return 0
