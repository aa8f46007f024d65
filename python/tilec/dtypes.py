"""Element types of tensors, and what others call them."""
from __future__ import annotations

import enum
import sys
from typing import Any

from . import _abi
from ._suggest import did_you_mean


class DType(enum.Enum):
    """The element type of a tensor: tilec.f32, tilec.bf16, ..."""

    i1 = 1
    i8 = 2
    i16 = 3
    i32 = 4
    i64 = 5
    u8 = 6
    u16 = 7
    u32 = 8
    u64 = 9
    f16 = 10
    bf16 = 11
    f32 = 12
    f64 = 13
    e4m3 = 14
    e5m2 = 15

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return _abi.library.tile_dtype_size(self.value)

    @property
    def is_float(self) -> bool:
        return self.value >= DType.f16.value

    def __repr__(self) -> str:
        return f"tilec.{self.name}"

    __str__ = __repr__


# In the words of NumPy and PyTorch.
_LONG_NAMES = {
    "bool": DType.i1, "int8": DType.i8, "int16": DType.i16, "int32": DType.i32, "int64": DType.i64, "uint8": DType.u8,
    "uint16": DType.u16, "uint32": DType.u32, "uint64": DType.u64, "float16": DType.f16, "bfloat16": DType.bf16,
    "float32": DType.f32, "float64": DType.f64, "float8_e4m3fn": DType.e4m3, "float8_e5m2": DType.e5m2}
_OF_PYTHON = {bool: DType.i1, int: DType.i64, float: DType.f64}  # as NumPy and PyTorch have it


def _named(name: str) -> DType | None:
    return DType.__members__.get(name) or _LONG_NAMES.get(name.removeprefix("torch."))


def find_dtype(value: Any) -> DType | None:
    """The DType that is meant, or None: a DType, its name, or what NumPy, PyTorch or Python have for it."""
    if isinstance(value, DType):
        return value
    if isinstance(value, str):
        return _named(value)
    if isinstance(value, type) and value in _OF_PYTHON:
        return _OF_PYTHON[value]
    package = (value if isinstance(value, type) else type(value)).__module__.partition(".")[0]
    if package == "torch":
        return _named(str(value))
    if package in ("numpy", "ml_dtypes") and "numpy" in sys.modules:
        return _of_numpy(value)
    return None


def _of_numpy(value: Any) -> DType | None:
    import numpy
    if isinstance(value, (numpy.ndarray, numpy.generic)):  # arrays and numbers are no types
        return None
    try:
        dtype = numpy.dtype(value)
    except TypeError:
        return None
    return _OF_KIND.get(f"{dtype.kind}{dtype.itemsize}") or _LONG_NAMES.get(dtype.name)


def dtype_of(value: Any, name: str = "dtype") -> DType:
    """The DType that is meant. TypeError, which lists them, for what means none."""
    found = find_dtype(value)
    if found is None:
        question = did_you_mean(value, [*DType.__members__, *_LONG_NAMES]) if isinstance(value, str) else ""
        raise TypeError(f"{name}={value!r} is no dtype{': ' + question if question else ''}; there are "
                        f"{', '.join(DType.__members__)}, and what NumPy and torch call them")
    return found


# --- NumPy's ---

_OF_KIND = {"b1": DType.i1, "i1": DType.i8, "i2": DType.i16, "i4": DType.i32, "i8": DType.i64, "u1": DType.u8,
            "u2": DType.u16, "u4": DType.u32, "u8": DType.u64, "f2": DType.f16, "f4": DType.f32, "f8": DType.f64}
# What NumPy has only with the package ml_dtypes, and its bits.
_OF_ML_DTYPES = {DType.bf16: "bfloat16", DType.e4m3: "float8_e4m3fn", DType.e5m2: "float8_e5m2"}
_BITS = {DType.bf16: "u2", DType.e4m3: "u1", DType.e5m2: "u1"}


def of_numpy(dtype: Any) -> DType:
    """The DType of a NumPy dtype. TypeError if there is none."""
    known = _of_numpy(dtype)
    if known is None:
        raise TypeError(f"no tensor has elements of NumPy's {dtype}; there are {', '.join(DType.__members__)}")
    return known


def to_numpy(dtype: DType, raw: bool) -> Any:
    """What NumPy calls it; the bits as unsigned integers if `raw`, for types that NumPy alone does not have."""
    import numpy
    if dtype not in _BITS:
        return numpy.dtype(next(name for name, known in _OF_KIND.items() if known == dtype))
    if raw:
        return numpy.dtype(_BITS[dtype])
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(f"NumPy has no {dtype.name}: install ml_dtypes, take the bits by numpy(raw=True), or convert by "
                        "to(tilec.f32)") from None
    return numpy.dtype(getattr(ml_dtypes, _OF_ML_DTYPES[dtype]))


def reinterpreted(array: Any, dtype: Any) -> DType:
    """The DType of an array's elements, which are bits of `dtype` if that is given."""
    if dtype is None:
        return of_numpy(array.dtype)
    dtype = dtype_of(dtype)
    own = f"{array.dtype.kind}{array.dtype.itemsize}"
    if own != _BITS.get(dtype) and of_numpy(array.dtype) != dtype:
        raise TypeError(f"an array of {array.dtype} is no tensor of {dtype.name}: convert it by array.astype")
    return dtype
