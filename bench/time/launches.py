"""How the measured kernels were launched, as by the harness that timed them: grid, shared memory, tensor maps, arguments."""
import functools

from rows import kData, table

kSms = 132


def address(index):
    """Of an array. They are 64 GB apart, so that no two share a line."""
    return index << 36


def ceil(dividend, divisor):
    return -(-dividend // divisor)


def tensor(index, dims, strides, box, element_bytes=2):
    """A tensor map with a swizzle of 128 bytes. Innermost dimension first; strides in bytes, of all but the innermost."""
    return {"tensor": {"address": address(index), "dims": dims, "strides": strides, "box": box,
                       "element_bytes": element_bytes, "swizzle": 128}}


def matrix(index, inner, outer, box_inner, box_outer, element_bytes=2):
    return tensor(index, [inner, outer], [inner * element_bytes], [box_inner, box_outer], element_bytes)


def panels(index, inner, outer, box_outer, box_panels):
    """A row-major matrix as panels of 64 columns, so that one box holds several panels of 128-byte rows."""
    return tensor(index, [64, outer, inner // 64], [inner * 2, 128], [64, box_outer, box_panels])


def heads(index, count, length, head, rows):
    """[heads, length, head] as panels of 64 of the head."""
    return tensor(index, [64, length, head // 64, count], [head * 2, 128, length * head * 2], [64, rows, head // 64, 1])


def pointer(index):
    return {"pointer": address(index)}


def i32(*values):
    return [{"i32": value} for value in values]


def f32(value):
    return {"f32": value}


def sizes(shape):
    return [int(size) for size in shape.split("_")[0].split("x")]


def launch_of(text):
    """The `launch` column: "group=8 grid=132"."""
    return {key: int(value) for key, value in (item.split("=") for item in text.split())}


# Each returns (kernel, grid, block, dynamic shared memory, cluster, arguments).


def gemm(variant, shape, launch):
    m, n, k = sizes(shape)
    across, down = variant.ClusterM, variant.ClusterN
    cluster = across * down
    tiles = ceil(m, variant.TileM * across) * ceil(n, variant.TileN * down) * cluster
    most = launch.get("grid", kSms)
    grid = min(tiles, most // cluster * cluster) if variant.Persistent else tiles
    b = (panels(2, n, k, variant.TileK, variant.TileN // 64 // across) if variant.NMajorB
         else matrix(2, k, n, 64, variant.TileN // across))
    arguments = [matrix(1, k, m, 64, variant.TileM // down), b, panels(3, n, m, 64, max(1, variant.StoreColumns // 64)),
                 pointer(3), *i32(m, n, k, launch.get("group", 8))]
    return variant.kernel, grid, variant.threads, ring(variant, variant.Consumers), cluster, arguments


def ring(variant, consumers):
    """Shared memory of a GEMM: stages of A and B, buffers of the epilogue, mbarriers."""
    stages = variant.Stages * (variant.TileM + variant.TileN) * variant.TileK * 2
    buffered = variant.Epilogue == 1 and not variant.StoreInRing
    buffers = consumers * variant.StoreBuffers * 64 * variant.StoreColumns * 2 if buffered else 0
    return stages + buffers + 16 * variant.Stages + 64


def fp8(variant, shape, launch):
    m, n, k = sizes(shape)
    cluster = variant.ClusterM
    tiles = ceil(m, variant.TileM * cluster) * ceil(n, variant.TileN) * cluster
    most = launch.get("grid", kSms)
    grid = tiles if tiles < most else most // cluster * cluster
    arguments = [matrix(1, k, m, 128, variant.TileM, 1), matrix(2, k, n, 128, variant.TileN // cluster, 1),
                 panels(3, n, m, 64, variant.StoreColumns // 64), pointer(4), pointer(5), *i32(m, n, k, launch.get("group", 8))]
    return variant.kernel, grid, variant.threads, ring(variant, variant.Consumers), cluster, arguments


def heads_together(length, causal):
    """So many heads whose rows of tiles follow one another."""
    if not causal:
        return 1
    return 16 if length <= 4096 else 4


def attention(variant, shape, launch):
    batch, count, length, head = sizes(shape)
    both, rows = batch * count, 64 * variant.Consumers
    tiles = ceil(length, rows) * both
    grid = min(tiles, kSms) if variant.Schedule else tiles
    shared = (rows * head + 2 * variant.Stages * variant.TileN * head) * 2 + 8 * (6 + 4 * variant.Stages) + 16
    maps = [heads(1, both, length, head, 64), heads(2, both, length, head, variant.TileN),
            heads(3, both, length, head, variant.TileN), heads(4, both, length, head, 64)]
    arguments = [*maps, pointer(5), pointer(6), *i32(both, length, heads_together(length, variant.Causal)), f32(head ** -0.5)]
    return variant.kernel, grid, variant.threads, shared, 1, arguments


def backward(variant, shape, launch):
    """The kernel of dK, dV and, where it is fused, dQ; delta before it and the conversion after it are side_kernels."""
    batch, count, length, head = sizes(shape)
    both, queries = batch * count, variant.Queries
    maps = [heads(index, both, length, head, rows) for index, rows in zip(range(1, 7), (queries, queries, 64, 64, 64, 64))]
    arguments = [*maps, pointer(7), pointer(8), pointer(9),
                 *i32(both, length, heads_together(length, variant.Causal)), f32(head ** -0.5)]
    return "bwd_kv", ceil(length, 128) * both, variant.threads, backward_shared(variant), 1, arguments


def delta(variant, shape):
    """The kernel before it: delta, LSE in the log2 domain, and f32 dQ cleared. A thread for 8 elements of the head."""
    batch, count, length, head = sizes(shape)
    both, blocks = batch * count, ceil(length, variant.Queries)
    threads = both * blocks * variant.Queries * (head // 8)
    arrays = [pointer(index) for index in (12, 2, 10, 7, 8, 9)]
    return "bwd_pre", ceil(threads, 256), 256, 0, 1, [*arrays, *i32(both, length, blocks)]


def conversion(variant, shape):
    """The kernel after it: f32 dQ to bf16."""
    batch, count, length, head = sizes(shape)
    both, blocks = batch * count, ceil(length, variant.Queries)
    arguments = [heads(11, both, length, head, variant.Queries), pointer(9), *i32(blocks), f32(head ** -0.5)]
    return "bwd_post", blocks * both, 256, variant.Queries * head * 2, 1, arguments


def backward_shared(variant):
    head, queries = variant.HeadDim, variant.Queries
    statistics = (queries // 4 + (4 if queries % 128 == 0 else 0)) * 16  # padded against bank conflicts
    operands = 4 * 64 * head * 2 + (variant.StagesQ + variant.StagesDO) * (queries * head * 2 + statistics)
    scores = (1 + variant.Overlap) * queries * 256 if variant.DQ else 0
    reduced = queries * head * 4 if variant.DQ == 1 else 0
    return operands + scores + reduced + 8 * (2 + 2 * variant.StagesQ + 2 * variant.StagesDO + 4)


def rows(variant, shape, launch):
    elements = sizes(shape)[0] * sizes(shape)[1]
    if variant.kernel == "add_k":
        count = sizes(shape)[0]
        full, shared = ceil(elements, variant.Threads * variant.Accesses * 8), 0
    else:
        count = elements // variant.RowLength
        full = ceil(count, variant.RowsPerBlock)
        bulk = variant.kernel == "rows_bulk"
        shared = variant.Stages * variant.RowLength * 2 + 16 * variant.Stages if bulk else 0
    grid = kSms * variant.BlocksPerSm if variant.Persistent else full
    arguments = [pointer(1), pointer(2), pointer(3), pointer(4), *i32(count)]
    return variant.kernel, grid, variant.threads, shared, 1, arguments


def skinny(variant, shape, launch):
    m, n, k = sizes(shape)
    parts = launch.get("parts", 1)
    if variant.kernel.startswith("gemv"):
        return plain_loads(variant, m, n, k, parts)
    depth = 64 * variant.Panels
    stage = (variant.WeightRows + variant.Columns) * depth * 2
    staged = ceil(min(variant.Columns, 64) * (variant.WeightRows * 2 + 16), 128) * 128
    shared = variant.Stages * stage + staged + 8 * variant.Stages + 64
    tiles = ceil(m, variant.Columns) * ceil(n, variant.WeightRows)
    weights = (panels(2, n, k, depth, variant.WeightRows // 64) if variant.NMajorW else matrix(2, k, n, 64, variant.WeightRows))
    maps = [matrix(1, k, m, 64, variant.Columns), weights]
    if variant.Clustered:
        return "skinny_cl", tiles * parts, variant.threads, shared, parts, [*maps, pointer(3), *i32(m, n, k, 0)]
    grid = tiles * -parts if parts < 0 else parts
    return "skinny_sk", grid, variant.threads, shared, 1, [*maps, pointer(3), pointer(7), pointer(8), *i32(m, n, k, 0)]


def plain_loads(variant, m, n, k, cluster):
    arguments = [pointer(1), pointer(2), pointer(3), *i32(m, n, k)]
    if variant.NMajorW:
        return "gemv_kn", ceil(n, 64) * cluster, variant.threads, 0, cluster, arguments
    rows_of_block = variant.WarpsN * variant.RowGroups * (1 if variant.Fma else 16)
    return variant.kernel, ceil(n, rows_of_block), variant.threads, 0, 1, arguments


kLaunches = {"gemm": gemm, "fp8": fp8, "attention": attention, "backward": backward, "rows": rows, "skinny": skinny}


@functools.cache
def registers():
    """(variant, kernel) -> registers, bytes spilled, barriers, as ptxas says."""
    return {(row["variant"], row["kernel"]): {key: int(row[key]) for key in ("registers", "spilled", "barriers")}
            for row in table(kData / "registers.tsv")}


def job(variant, shape, launch, ptx, **options):
    """The line of a measured launch for `tilec time --jobs`. `ptx` is the folder of the PTX files."""
    name = f"{variant.name}@{shape}" + ("@" + launch.replace(" ", "@") if launch else "")
    return line(name, variant, kLaunches[variant.family](variant, shape, launch_of(launch)), ptx, options)


def side_jobs(variant, shape, ptx):
    """Lines of the other kernels that a call of attention backward launches. The first of them meets the emptied L2."""
    return [line(f"{variant.name}@{shape}@{kernel[0]}", variant, kernel, ptx, {"cold": cold})
            for kernel, cold in ((delta(variant, shape), "dirty"), (conversion(variant, shape), "clean"))]


def line(name, variant, kernel_and_launch, ptx, options):
    kernel, grid, block, shared, cluster, arguments = kernel_and_launch
    used = registers()[variant.name, kernel]
    return {"id": name, "ptx": f"{ptx}/{variant.name}.ptx", "kernel": f"{kernel}I{len(variant.name)}{variant.name}E",
            "grid": [grid, 1, 1], "block": [block, 1, 1], "dynamic_shared": shared, "cluster": [cluster, 1, 1],
            "arguments": arguments, "registers": used["registers"], "barriers": used["barriers"], **options}
