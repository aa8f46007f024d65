"""A product in Triton as its users write it: a tile of C a program, tiles of A and B by pointers, programs in groups that
share rows. One choice of tiles, warps and stages for large products on a Hopper; nothing is tuned."""
import triton
import triton.language as tl

TILE = {"BM": 128, "BN": 256, "BK": 64}
GROUP = 8  # rows of tiles whose programs are neighbours


@triton.jit
def tiles(a, b, c, N, K, ra, ca, rb, cb, rc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    per_group = GROUP * (N // BN)
    group, place = tl.program_id(0) // per_group, tl.program_id(0) % per_group
    rows = (group * GROUP + place % GROUP) * BM + tl.arange(0, BM)
    columns = place // GROUP * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    pa = a + rows[:, None] * ra + inner[None, :] * ca
    pb = b + inner[:, None] * rb + columns[None, :] * cb
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K // BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK * ca
        pb += BK * rb
    tl.store(c + rows[:, None] * rc + columns[None, :], acc.to(c.dtype.element_ty))


def product(a, b, c):
    """c = a b for extents that are whole tiles, and whole groups of them."""
    (m, k), n = a.shape, b.shape[1]
    if m % (GROUP * TILE["BM"]) or n % TILE["BN"] or k % TILE["BK"]:
        raise ValueError(f"{m}x{n}x{k} is no whole number of groups of tiles {TILE}")
    tiles[(m // TILE["BM"] * (n // TILE["BN"]),)](a, b, c, n, k, *a.stride(), *b.stride(), c.stride(0), **TILE, GROUP=GROUP,
                                                  num_warps=8, num_stages=3)
    return c
