"""The peer's kernels, with the tiles of ours: vector add 1024, softmax of a row of 1024, layernorm of
a row of 4096, matmul 128x128x64, causal attention of heads of 128 by tiles of 128x32."""
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
def matmul(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, COLUMNS: tl.constexpr = False):
    """b lies by rows, or by columns as 8-bit factors do."""
    m, n = tl.program_id(0), tl.program_id(1)
    rows, columns, inner = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN), tl.arange(0, BK)
    pa = a + rows[:, None] * sa + inner[None, :]
    if COLUMNS:
        pb = b + inner[:, None] + columns[None, :] * sb
    else:
        pb = b + inner[:, None] * sb + columns[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK if COLUMNS else BK * sb
    tl.store(c + rows[:, None] * sc + columns[None, :], acc.to(tl.float16))


@triton.jit
def attend(acc, total, largest, queries, pk, pv, sk, sv, first, end, first_query, scale, keys, BN: tl.constexpr,
           BM: tl.constexpr, HIDES: tl.constexpr, CAUSAL: tl.constexpr):
    """Key tiles from `first` to `end`; HIDES where the diagonal or the last key cuts them."""
    columns = tl.arange(0, BN)
    rows = first_query + tl.arange(0, BM)
    for n in range(first, end, BN):
        if HIDES:
            inside = n + columns < keys
            scores = tl.dot(queries, tl.load(pk + n * sk, mask=inside[None, :], other=0.0))
            scores = tl.where(inside[None, :], scores, -float("inf"))
            if CAUSAL:
                scores = tl.where(n + columns[None, :] <= rows[:, None], scores, -float("inf"))
        else:
            scores = tl.dot(queries, tl.load(pk + n * sk))
        now = tl.maximum(largest, tl.max(scores, 1) * scale)
        weights = tl.math.exp2(scores * scale - now[:, None])
        fade = tl.math.exp2(largest - now)
        total = total * fade + tl.sum(weights, 1)
        if HIDES:
            values = tl.load(pv + n * sv, mask=(n + columns < keys)[:, None], other=0.0)
        else:
            values = tl.load(pv + n * sv)
        acc = tl.dot(weights.to(tl.float16), values, acc * fade[:, None])
        largest = now
    return acc, total, largest


@triton.jit
def attention(q, k, v, out, scale, heads, queries, keys, sqb, sqh, sq, skb, skh, sk, svb, svh, sv, sob, soh, so,
              BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    tile, batch, head = tl.program_id(0), tl.program_id(1) // heads, tl.program_id(1) % heads
    rows, columns, width = tile * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    exists = (rows < queries)[:, None]
    pq = q + batch * sqb + head * sqh + rows[:, None] * sq + width[None, :]
    tile_q = tl.load(pq, mask=exists, other=0.0)
    pk = k + batch * skb + head * skh + columns[None, :] * sk + width[:, None]
    pv = v + batch * svb + head * svh + columns[:, None] * sv + width[None, :]
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = keys
    whole = keys // BN * BN
    if CAUSAL:
        end = tl.minimum(keys, (tile + 1) * BM)
        whole = tl.minimum(whole, tile * BM // BN * BN)
    acc, total, largest = attend(acc, total, largest, tile_q, pk, pv, sk, sv, 0, whole, tile * BM, scale, keys, BN, BM,
                                 False, CAUSAL)
    acc, total, largest = attend(acc, total, largest, tile_q, pk, pv, sk, sv, whole, end, tile * BM, scale, keys, BN, BM,
                                 True, CAUSAL)
    po = out + batch * sob + head * soh + rows[:, None] * so + width[None, :]
    tl.store(po, (acc / total[:, None]).to(tl.float16), mask=exists)


STRIDES = {name: "i32" for name in ("sqb", "sqh", "sq", "skb", "skh", "sk", "svb", "svh", "sv", "sob", "soh", "so")}
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
    "attention": (attention, {"q": "*fp16", "k": "*fp16", "v": "*fp16", "out": "*fp16", "scale": "fp32", "heads": "i32",
                              "queries": "i32", "keys": "i32", **STRIDES, "BM": "constexpr", "BN": "constexpr",
                              "D": "constexpr", "CAUSAL": "constexpr"},
                  {"BM": 128, "BN": 32, "D": 128, "CAUSAL": True},
                  ["q", "k", "v", "out", "heads", "queries", "keys", *STRIDES]),
}
# How they are compiled where it is not by 4 warps and 3 stages.
OPTIONS = {"attention": {"num_warps": 8, "num_stages": 3}}
VARIANTS = {  # tiles and options on other targets
    "sm_90a": {"matmul": ({"BN": 256}, {"num_warps": 8, "num_stages": 4}),
               "attention": ({"BM": 128, "BN": 128}, {"num_warps": 8, "num_stages": 3})},
}
