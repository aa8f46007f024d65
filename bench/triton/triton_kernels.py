"""The peer's kernels, with the tiles of ours: vector add 1024, softmax of a row of 1024, matmul 128x128x64."""
import triton
import triton.language as tl


@triton.jit
def vector_add(a, b, c, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(c + offsets, tl.load(a + offsets, mask) + tl.load(b + offsets, mask), mask)


@triton.jit
def softmax(x, y, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    values = tl.load(x + row * stride + offsets, mask, -float("inf"))
    e = tl.exp(values - tl.max(values, 0))
    tl.store(y + row * stride + offsets, e / tl.sum(e, 0), mask)


@triton.jit
def matmul(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0), tl.program_id(1)
    rows, columns, inner = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN), tl.arange(0, BK)
    pa = a + rows[:, None] * sa + inner[None, :]
    pb = b + inner[:, None] * sb + columns[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK * sb
    tl.store(c + rows[:, None] * sc + columns[None, :], acc.to(tl.float16))


KERNELS = {
    "vector_add": (vector_add, {"a": "*fp32", "b": "*fp32", "c": "*fp32", "n": "i32", "BLOCK": "constexpr"},
                   {"BLOCK": 1024}, ["a", "b", "c", "n"]),
    "softmax": (softmax, {"x": "*fp32", "y": "*fp32", "columns": "i32", "stride": "i32", "BLOCK": "constexpr"},
                {"BLOCK": 1024}, ["x", "y", "columns", "stride"]),
    "matmul": (matmul, {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32", "sa": "i32",
                        "sb": "i32", "sc": "i32", "BM": "constexpr", "BN": "constexpr", "BK": "constexpr"},
               {"BM": 128, "BN": 128, "BK": 64}, ["a", "b", "c", "M", "N", "K", "sa", "sb", "sc"]),
}
