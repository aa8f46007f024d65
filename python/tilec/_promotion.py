"""The dtype in which operators compute what has two: PyTorch's rules, and NumPy's for wide unsigned integers.

Of two floats the wider, f32 for f16 with bf16; of an integer and a float the float; of two integers the smallest that has both.
"""
from __future__ import annotations

from .dtypes import DType

_SIGNED = [DType.i8, DType.i16, DType.i32, DType.i64]
_UNSIGNED = [DType.u8, DType.u16, DType.u32, DType.u64]
_FLOATS = [DType.e4m3, DType.e5m2, DType.f16, DType.bf16, DType.f32, DType.f64]


def promoted(a: DType, b: DType) -> DType:
    """The dtype of a result of these two. TypeError where no dtype has both."""
    if a == b:
        return a
    if a.is_float and b.is_float:
        low, high = sorted((a, b), key=_FLOATS.index)
        return high if high.itemsize > low.itemsize else DType.f32
    if a.is_float or b.is_float:
        return a if a.is_float else b
    if DType.i1 in (a, b):
        return a if b == DType.i1 else b
    return _integers(a, b)


def _integers(a: DType, b: DType) -> DType:
    if (a in _SIGNED) == (b in _SIGNED):
        return max(a, b, key=lambda dtype: dtype.itemsize)
    signed, unsigned = (a, b) if a in _SIGNED else (b, a)
    for wide in _SIGNED[_SIGNED.index(signed):]:
        if wide.itemsize > unsigned.itemsize:
            return wide
    raise TypeError(f"no integers have those of {a.name} and of {b.name}: convert one by to(...)")


def of_ranks(a: DType, b: DType, a_is_one: bool, b_is_one: bool) -> DType:
    """The same where one of the two may be a tensor of rank 0: beside others of its kind it changes no dtype, as a number does not."""
    if a_is_one != b_is_one and _kind(a) == _kind(b):
        return b if a_is_one else a
    return promoted(a, b)


def _kind(dtype: DType) -> int:
    """Masks, integers, floats."""
    return 2 if dtype.is_float else int(dtype != DType.i1)


def holds(dtype: DType, number: int) -> bool:
    """Whether an integer is one of this dtype."""
    bits = 1 if dtype == DType.i1 else 8 * dtype.itemsize
    return -2**(bits - 1) <= number < 2**(bits - 1) if dtype in _SIGNED else dtype.is_float or 0 <= number < 2**bits


def for_comparison(dtype: DType, number: bool | int | float) -> DType:
    """The dtype in which a tensor is compared with a number: a wider one where its own does not have that."""
    common = with_number(dtype, number)
    is_beyond = isinstance(number, int) and not holds(common, number)
    return DType.i64 if is_beyond and common != DType.u64 and holds(DType.i64, number) else common


def with_number(dtype: DType, number: bool | int | float) -> DType:
    """The dtype of a result of a tensor and a number of Python, which takes the tensor's unless it is of a higher kind."""
    if isinstance(number, bool) or dtype.is_float:
        return dtype
    if isinstance(number, float):
        return DType.f32
    return DType.i64 if dtype == DType.i1 else dtype
