"""The families of measured kernels: which points have jobs, what the harness did, and how well the model has to do."""
import dataclasses
import functools
import hashlib

from launches import job, registers, side_jobs, sizes
from rows import kData, table
from variants import variants


@dataclasses.dataclass
class Bars:
    """The most, or least, that is allowed of held-out points; shares of 1. None: not asked."""
    median: float
    p90: float
    pairs: float | None = None
    first: float | None = None
    best3: float | None = None


@dataclasses.dataclass
class Point:
    """A measured time: a line of data/FAMILY.tsv."""
    run: str
    variant: str
    shape: str
    launch: str
    us: float
    rate: float

    def __post_init__(self):
        self.us, self.rate = float(self.us), float(self.rate)


@dataclasses.dataclass
class Family:
    """Points of data/NAME.tsv and what is said of them."""
    name: str
    bars: Bars | None  # None: validated only if asked for
    cold: str  # how L2 was emptied: "dirty" by writing, "clean" by reading
    clock_ghz: float | None = None  # fixed, where the model's own clock is not asked
    measured: object = lambda variant, point: True  # has a job
    left_out: str = ""  # what measured() says no to
    group: object = lambda point: (point.run, point.shape)  # who is compared with whom
    launches: object = lambda point: [point.launch]  # the measured time is the best of these
    beside_us: object = lambda point: 0  # of the measured time, but not of the kernel
    fitted: bool = True  # numbers were fitted to the training variants; if not, all points are held out

    def points(self, part="all"):
        """Those that have jobs: "train", "held-out" or "all"."""
        found = [Point(**row) for row in table(kData / f"{self.name}.tsv") if row["variant"] in all_variants()]
        return [point for point in found if self.measured(all_variants()[point.variant], point)
                and (part == "all" or (part == "train") == (self.fitted and trains(point.variant)))]

    def jobs(self, point, ptx):
        """The jobs of a point. Points of several runs share theirs."""
        clock = {"clock_ghz": self.clock_ghz} if self.clock_ghz else {}
        variant = all_variants()[point.variant]
        return [job(variant, point.shape, launch, ptx, cold=self.cold, **clock) for launch in self.launches(point)]

    def side_jobs(self, point, ptx):
        """The other kernels of a call, which are timed with it."""
        return side_jobs(all_variants()[point.variant], point.shape, ptx) if self.name == "backward" else []


all_variants = functools.cache(variants)


def trains(variant):
    """A third of the variants, whatever their shapes, is what numbers may be fitted to."""
    return int(hashlib.md5(variant.encode()).hexdigest(), 16) % 3 == 0


def spills(variant):
    return registers()[variant.name, variant.kernel]["spilled"] > 0


def rows_alike(point):
    """Kernels of one operation and row length."""
    return point.shape, point.variant[:2], all_variants()[point.variant].RowLength


def attends(variant, point):
    return variant.kernel != "attn_nr" and not variant.LazyRescale and variant.ProducerWarps == 4


def goes_back(variant, point):
    return variant.DQ and not variant.Rotate and not spills(variant) and sizes(point.shape)[0] > 1


def is_skinny(variant, point):
    return variant.kernel not in ("skinny_cl", "gemv_kn")


def fp8_grids(point):
    m, n, _ = sizes(point.shape)
    return ["", "grid=128"] if m * n >= 4096 ** 2 else [""]


def side_kernels(point):
    """Delta and conversion kernels of attention backward: as measured at heads of 128, assumed at 64."""
    return 170 if sizes(point.shape)[3] == 128 else 95


def same_kernel(point):
    """Launches of one kernel that differ in raster or grid."""
    return point.run, point.variant, point.shape


kFamilies = {family.name: family for family in (
    Family("gemm", Bars(median=0.05, p90=0.15, pairs=0.92, best3=0.01), "dirty"),
    Family("rows", Bars(median=0.04, p90=0.10, first=0.03), "clean", clock_ghz=1.93, group=rows_alike,
           beside_us=lambda point: 1),  # more than launch.us; fitted on training variants
    Family("attention", Bars(median=0.07, p90=0.15, pairs=0.78, best3=0.015), "dirty", measured=attends,
           left_out="lazy rescale, whose control depends on data; mbarriers without roles; one-warp producers, which spill"),
    Family("fp8", Bars(median=0.06, p90=0.18, pairs=0.88, best3=0.01), "clean", launches=fp8_grids, fitted=False,
           measured=lambda variant, point: not spills(variant), left_out="kernels that spill"),
    # L2 was emptied by writing, but the kernel of delta, which runs first, has met that.
    Family("backward", Bars(median=0.12, p90=0.20, pairs=0.95, best3=0.01), "clean", measured=goes_back, fitted=False,
           group=lambda point: (point.shape, point.variant[:5]), beside_us=side_kernels,
           left_out="dQ by a kernel of its own; kernels that spill; rotated starts; S 16384"),
    Family("skinny", Bars(median=0.08, p90=0.16), "clean", clock_ghz=1.9, fitted=False, measured=is_skinny,
           group=lambda point: point.shape,
           left_out="sums through distributed shared memory"),
    Family("raster", None, "dirty", group=same_kernel),
    Family("clusters", None, "dirty", group=same_kernel),
)}
