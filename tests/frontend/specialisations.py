#!/usr/bin/env python3
"""Tile sizes are run-time values of the host program: forty specialisations of a kernel in one file
must cost its compiler little more than one. Bounded in bytes of object code, which do not depend on
the machine; the seconds are printed.

  specialisations.py INCLUDE COMPILER..."""
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = """
#include <tile/tile.h>
using namespace tile;
static auto matmul = kernel("matmul", [](In<f16, 2> A, In<f16, 2> B, Out<f16, 2> C, Const BM, Const BN, Const BK) {
  auto [m, n] = grid2d(C, {BM, BN}).swizzled(8);
  auto acc = var(zeros(f32, {BM, BN}));
  for (auto k : range(cdiv(A.dim(1), BK)))
    acc = dot(A.tile({BM, BK})(m, k), B.tile({BK, BN})(k, n), acc);
  C.tile({BM, BN})(m, n) = cast(f16, acc);
});
void run(const Stream &stream, const TensorOf<half> &a, const TensorOf<half> &b, const TensorOf<half> &c) {
%s}
"""
# A templated tile library takes fifteen times that.
MOST_BYTES_A_CALL = 1000


def measure(include, compiler, count):
    calls = "".join(f"  matmul.consts({16 * (1 + i % 8)}, {16 * (1 + i // 8)}, 32)(stream, a, b, c);\n"
                    for i in range(count))
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "user.o"
        start = time.monotonic()
        subprocess.run([compiler, "-std=c++20", "-O2", f"-I{include}", "-c", "-o", target, "-x", "c++", "-"],
                       input=SOURCE % calls, text=True, check=True)
        return target.stat().st_size, time.monotonic() - start


def main(include, compilers):
    status = 0
    for compiler in compilers:
        (one, first), (forty, all_) = measure(include, compiler, 1), measure(include, compiler, 40)
        each = (forty - one) / 39
        print(f"{compiler}: one specialisation {one} bytes in {first:.2f} s, forty {forty} bytes in {all_:.2f} s, "
              f"{each:.0f} bytes a call")
        status |= each > MOST_BYTES_A_CALL
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
