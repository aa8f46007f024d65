"""The peer's kernels, with the tiles of ours: vector add 1024, softmax of a row of 1024, layernorm of
a row of 4096, matmul 128x128x64."""
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
def layernorm(x, weight, bias, y, mean, rstd, columns, stride, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    values = tl.load(x + row * stride + offsets, mask, 0.0).to(tl.float32)
    center = tl.sum(values, 0) / columns
    centered = tl.where(mask, values - center, 0.0)
    scale = tl.rsqrt(tl.sum(centered * centered, 0) / columns + epsilon)
    tl.store(mean + row, center)
    tl.store(rstd + row, scale)
    w, b = tl.load(weight + offsets, mask, 0.0), tl.load(bias + offsets, mask, 0.0)
    scaled = centered * scale * w.to(tl.float32) + b.to(tl.float32)
    tl.store(y + row * stride + offsets, scaled.to(tl.float16), mask)


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
    "layernorm": (layernorm, {"x": "*fp16", "weight": "*fp16", "bias": "*fp16", "y": "*fp16", "mean": "*fp32",
                              "rstd": "*fp32", "columns": "i32", "stride": "i32", "epsilon": "fp32",
                              "BLOCK": "constexpr"},
                  {"BLOCK": 4096}, ["x", "weight", "bias", "y", "columns", "stride"]),
    "matmul": (matmul, {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32", "sa": "i32",
                        "sb": "i32", "sc": "i32", "BM": "constexpr", "BN": "constexpr", "BK": "constexpr"},
               {"BM": 128, "BN": 128, "BK": 64}, ["a", "b", "c", "M", "N", "K", "sa", "sb", "sc"]),
}
