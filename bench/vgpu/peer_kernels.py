"""The peer's kernels on which the virtual GPU is timed, and the launches of each: real algorithms in the usual tiles.

Vector add, softmax and matmul are those of bench/triton; attention is the forward pass with an online softmax."""
import pathlib
import sys
from dataclasses import dataclass

import triton
import triton.language as tl

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "triton"))
import triton_kernels  # noqa: E402


@triton.jit
def attention(q, k, v, o, scale, length, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows, columns, depth = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    head = tl.program_id(1) * length * D
    query = tl.load(q + head + rows[:, None] * D + depth[None, :])
    pk = k + head + columns[None, :] * D + depth[:, None]
    pv = v + head + columns[:, None] * D + depth[None, :]
    most, total = tl.full((BM,), -float("inf"), tl.float32), tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for _ in range(0, length, BN):
        scores = tl.dot(query, tl.load(pk)) * scale
        new_most = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp2(scores - new_most[:, None])
        shrink = tl.exp2(most - new_most)
        total = total * shrink + tl.sum(weights, 1)
        acc = tl.dot(weights.to(tl.float16), tl.load(pv), acc * shrink[:, None])
        most = new_most
        pk += BN * D
        pv += BN * D
    tl.store(o + head + rows[:, None] * D + depth[None, :], (acc / total[:, None]).to(tl.float16))


ATTENTION = (attention, {"q": "*fp16", "k": "*fp16", "v": "*fp16", "o": "*fp16", "scale": "fp32", "length": "i32",
                         "BM": "constexpr", "BN": "constexpr", "D": "constexpr"},
             {"BM": 128, "BN": 64, "D": 128}, ["q", "k", "v", "o", "length"])


@triton.jit
def matmul_tma(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The matmul of bench/triton through tensor descriptors that the kernel makes: bulk tensor copies on sm_90."""
    tiles_a = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    tiles_b = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    tiles_c = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(tiles_a.load([row, k]), tiles_b.load([k, column]), acc)
    tiles_c.store([row, column], acc.to(tl.float16))


MATMUL_TMA = (matmul_tma, {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32",
                           "BM": "constexpr", "BN": "constexpr", "BK": "constexpr"},
              {"BM": 128, "BN": 128, "BK": 64}, ["a", "b", "c", "M", "N", "K"])


@dataclass
class Launch:
    """A kernel on inputs of a size. `arguments` holds numbers and (dtype, shape) of arrays; the last array is the result."""
    kernel: tuple
    grid: tuple
    arguments: list
    warps: int = 4
    stages: int = 3
    archs: tuple = (80, 90)

    def result(self):
        return max(i for i, argument in enumerate(self.arguments) if isinstance(argument, tuple))


def matmul(n):
    square = ("float16", (n, n))
    return Launch(triton_kernels.KERNELS["matmul"], (n // 128, n // 128), [square] * 3 + [n] * 6)


def matmul_through_descriptors(n):
    square = ("float16", (n, n))
    return Launch(MATMUL_TMA, (n // 128, n // 128), [square] * 3 + [n] * 3, archs=(90,))


LAUNCHES = {
    "vector_add_1m": Launch(triton_kernels.KERNELS["vector_add"], (1024,), [("float32", (1 << 20,))] * 3 + [1 << 20]),
    "softmax_1024": Launch(triton_kernels.KERNELS["softmax"], (1024,), [("float32", (1024, 1024))] * 2 + [1024, 1024]),
    "matmul_512": matmul(512),
    "matmul_1024": matmul(1024),
    "matmul_tma_1024": matmul_through_descriptors(1024),
    "attention_1x2x1024x128": Launch(ATTENTION, (8, 2), [("float16", (2, 1024, 128))] * 4 +
                                     [1.4426950408889634 / 128**0.5, 1024], warps=8),
}
