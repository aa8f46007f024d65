"""The calls that are timed. A row is one op on one shape, told in a way that our server, a library and a plain loop all
understand."""
import dataclasses
import itertools
import math
import typing

BYTES = {"f16": 2, "bf16": 2, "f32": 4, "e4m3": 1}
# The largest relative error of rounding to a dtype.
ROUNDING = {"f16": 2**-11, "bf16": 2**-8, "f32": 2**-24}


@dataclasses.dataclass(frozen=True)
class Operand:
    """A tensor of a row: its extents, in which order the last two of them lie in memory, and the memory of which it takes
    the first elements. Rows name the same memory where the same data serve."""
    dtype: str
    extents: tuple
    memory: str
    room: int  # elements of the memory
    order: str = "row"
    seed: typing.Optional[int] = None  # of N(0, 1) data; None: an output

    @property
    def count(self):
        return math.prod(self.extents)


@dataclasses.dataclass(frozen=True)
class Row:
    part: str
    group: str  # rows whose ratios are averaged
    shape: str
    op: str
    operands: dict
    outputs: tuple  # of the operands, which are compared
    flops: float = 0
    bytes: float = 0
    causal: bool = False
    deterministic: bool = True  # of gradients: the same bits each time
    roundings: int = 1  # to the outputs' dtype, one after another, in which two right results may differ
    before: tuple = ()  # a call (op, names of operands) that our call needs the results of
    yardsticks: tuple = ()  # more such calls of ours, timed for comparison
    may_be_refused: bool = False  # an op that is not there yet: skipped, not an error

    @property
    def name(self):
        return f"{self.part} {self.shape}"

    @property
    def bound(self):
        """Of the relative norm of the difference of two right results."""
        return self.roundings * ROUNDING[self.operands[self.outputs[0]].dtype]


def tensor(role, dtype, extents, seed=None, order="row", room=0):
    room = max(room, math.prod(extents))
    return Operand(dtype, tuple(extents), f"{role}.{dtype}.{room}", room, order, seed)


# Of a product: its result, and the sum of parts of K, which cuBLAS may keep in bf16 in between.
PRODUCT_ROUNDINGS = 2


def product(part, group, m, n, k, orders=("row", "row"), dtype="bf16", **more):
    operands = {"a": tensor("a", dtype, (m, k), 1, orders[0]), "b": tensor("b", dtype, (k, n), 2, orders[1]),
                "c": tensor("c", "bf16", (m, n))}
    shape = f"{m}x{n}x{k} a {orders[0]}, b {orders[1]}"
    return Row(part, group, shape, "matmul", operands, ("c",), flops=2 * m * n * k,
               bytes=sum(BYTES[each.dtype] * each.count for each in operands.values()), roundings=PRODUCT_ROUNDINGS, **more)


def gemm(shapes):
    for shape in shapes:
        yield product("gemm", "both row-major", *shape)


def gemm_layouts(shapes):
    for shape in shapes:
        for orders in (("row", "column"), ("column", "row"), ("column", "column")):
            yield product("gemm-layouts", f"a {orders[0]}, b {orders[1]}", *shape, orders)


def fp8(shapes):
    """Products of 8-bit floats, which tensor cores of a Hopper take with a row-major and b column-major only."""
    for shape in shapes:
        yield product("fp8", "e4m3", *shape, ("row", "column"), dtype="e4m3", may_be_refused=True)


def skinny(heights, weights):
    """Few rows by a layer's weights: the time of reading these."""
    most = max(heights)
    for n, k in weights:
        for m in heights:
            operands = {"x": tensor("x", "bf16", (m, k), 1, room=most * k), "weight": tensor("weight", "bf16", (n, k), 2),
                        "y": tensor("y", "bf16", (m, n), room=most * n)}
            yield Row("skinny", f"weights {n}x{k}", f"{m}x{n}x{k}", "linear", operands, ("y",), flops=2 * m * n * k,
                      bytes=sum(2 * each.count for each in operands.values()), roundings=PRODUCT_ROUNDINGS)


def attention_operands(sizes):
    operands = {name: tensor(name, "bf16", sizes, seed) for seed, name in enumerate(("q", "k", "v"), 1)}
    return {**operands, "out": tensor("out", "bf16", sizes)}


def attention_flops(sizes, causal, products):
    batch, heads, length, width = sizes
    pairs = length * (length + 1) / 2 if causal else length * length
    return products * 2 * batch * heads * pairs * width


def attention(causal, shapes):
    part = "attention-causal" if causal else "attention"
    for sizes in shapes:
        yield Row(part, f"d {sizes[3]}", "B{} H{} S{} d{}".format(*sizes), "attention", attention_operands(sizes), ("out",),
                  flops=attention_flops(sizes, causal, 2), causal=causal, roundings=2)


def backward(causal, shapes):
    """A gradient by five products, as its flops are counted whoever computes it; ours by seven where it is deterministic."""
    part = "backward-causal" if causal else "backward"
    for sizes, deterministic in itertools.product(shapes, (False, True)):
        operands = attention_operands(sizes)
        operands["lse"] = tensor("lse", "f32", sizes[:3])
        operands["dout"] = tensor("dout", "bf16", sizes, 4)
        operands.update({name: tensor(name, "bf16", sizes) for name in ("dq", "dk", "dv")})
        kind = " deterministic" if deterministic else ""
        yield Row(part, f"d {sizes[3]}{kind}", "B{} H{} S{} d{}{}".format(*sizes, kind), "attentionBackward", operands,
                  ("dq", "dk", "dv"), flops=attention_flops(sizes, causal, 5), causal=causal, deterministic=deterministic, roundings=4,
                  before=("attention", ("q", "k", "v", "out", "lse")))


def rows(count, width):
    """Ops bound by memory, beside a copy of the same tensor."""
    base = {"x": tensor("x", "bf16", (count, width), 1), "y": tensor("y", "bf16", (count, width))}
    vectors = {"weight": tensor("weight", "bf16", (width,), 2), "bias": tensor("bias", "bf16", (width,), 3)}
    for op, operands in (("softmax", base), ("layernorm", {**base, **vectors})):
        yield Row("rows", op, f"{op} {count}x{width}", op, operands, ("y",), bytes=2 * 2 * count * width, roundings=2,
                  yardsticks=(("copy", ("x", "y")),))


def parts(size):
    """All rows by part, in the order in which they are timed; `size` is full, or small for the virtual GPU."""
    if size == "small":
        products, eights = [(64, 96, 64)], [(64, 64, 64)]
        few = [(1, 16), [(64, 128)]]
        heads, row = [(1, 2, 32, 64)], (16, 256)
    else:
        products = [(2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (4096, 11008, 4096), (8192, 8192, 1024)]
        eights = [(4096, 4096, 4096), (8192, 8192, 8192)]
        few = [(1, 2, 4, 8, 16, 32, 64, 128, 256),
               [(4096, 4096), (8192, 8192), (4096, 14336), (14336, 4096), (28672, 8192)]]
        heads = [(b, 16, s, d) for d in (64, 128) for b, s in ((4, 4096), (1, 16384))]
        row = (32768, 4096)
    return {"gemm": list(gemm(products)), "gemm-layouts": list(gemm_layouts(products)), "skinny": list(skinny(*few)),
            "fp8": list(fp8(eights)), "attention": list(attention(False, heads)),
            "attention-causal": list(attention(True, heads)), "backward": list(backward(False, heads)),
            "backward-causal": list(backward(True, heads)), "rows": list(rows(*row))}
