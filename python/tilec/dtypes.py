"""Element types of tensors, and which of NumPy's they are."""
import enum

from . import _abi


class DType(enum.IntEnum):
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
    def itemsize(self):
        """Bytes of an element."""
        return _abi.library.tile_dtype_size(self)

    def __repr__(self):
        return f"tilec.{self.name}"

    __str__ = __repr__


_OF_KIND = {"b1": DType.i1, "i1": DType.i8, "i2": DType.i16, "i4": DType.i32, "i8": DType.i64, "u1": DType.u8,
            "u2": DType.u16, "u4": DType.u32, "u8": DType.u64, "f2": DType.f16, "f4": DType.f32, "f8": DType.f64}
# What NumPy has only with the package ml_dtypes, and its bits.
_OF_ML_DTYPES = {"bfloat16": DType.bf16, "float8_e4m3fn": DType.e4m3, "float8_e5m2": DType.e5m2}
_BITS = {DType.bf16: "u2", DType.e4m3: "u1", DType.e5m2: "u1"}


def of_numpy(dtype):
    """The DType of a NumPy dtype. TypeError if there is none."""
    known = _OF_KIND.get(f"{dtype.kind}{dtype.itemsize}") or _OF_ML_DTYPES.get(dtype.name)
    if known is None:
        raise TypeError(f"no tensor has elements of NumPy's {dtype}")
    return known


def to_numpy(dtype, raw):
    """What NumPy calls it; the bits as unsigned integers if `raw`, for types that NumPy alone does not have."""
    import numpy
    if dtype not in _BITS:
        return numpy.dtype(next(name for name, known in _OF_KIND.items() if known == dtype))
    if raw:
        return numpy.dtype(_BITS[dtype])
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(f"NumPy has no {dtype.name}: install ml_dtypes, or take the bits by numpy(raw=True)") from None
    return numpy.dtype(getattr(ml_dtypes, next(name for name, known in _OF_ML_DTYPES.items() if known == dtype)))


def reinterpreted(array, dtype):
    """The DType of an array's elements, which are bits of `dtype` if that is given."""
    if dtype is None:
        return of_numpy(array.dtype)
    dtype = DType(dtype)
    own = f"{array.dtype.kind}{array.dtype.itemsize}"
    if own != _BITS.get(dtype) and of_numpy(array.dtype) != dtype:
        raise TypeError(f"an array of {array.dtype} is no tensor of {dtype.name}: convert it by array.astype")
    return dtype
